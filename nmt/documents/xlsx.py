"""Workbooks (ECMA-376, part 1, section 18): the texts of cells, of text boxes and of chart titles.

Formulas, numbers, dates, names and sheet names stay. So does a text that something refers to by its wording:
a string in a formula, a filter, a pivot table's field. A table's column is renamed with its header cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.inline import Item
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.ooxml import FlatRuns, drawn_paragraphs, parts_of, set_language
from nmt.documents.package import Package

_NAMESPACES = (
    "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}",
    "{http://purl.oclc.org/ooxml/spreadsheetml/main}",
)
_STRINGS, _SHEET, _TABLE = "spreadsheetml.sharedStrings", "spreadsheetml.worksheet", "spreadsheetml.table"
_DRAWN = ("officedocument.drawing", "drawingml.chart")
_KINDS = ("spreadsheetml.sheet.main", _STRINGS, _SHEET, _TABLE, "spreadsheetml.pivotCacheDefinition", *_DRAWN)
_FORMULAS = ("f", "formula", "formula1", "formula2", "definedName", "calculatedColumnFormula")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_BRACKETED = re.compile(r"\[[#@]?([^\[\]]+)\]")
_MOST_CHARACTERS = 255
"""Of a table column's name."""
_CONTROL = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True)
class _Workbook:
    """The parts that are read, by name: kind and root."""

    roots: Mapping[str, tuple[str, etree._Element]]

    def of(self, *kinds: str) -> list[etree._Element]:
        """The roots of some kinds."""
        return [root for kind, root in self.roots.values() if kind in kinds]

    def elements(self, name: str) -> Iterator[etree._Element]:
        """All elements of SpreadsheetML called ``name``."""
        for _, root in self.roots.values():
            yield from root.iter(*(f"{namespace}{name}" for namespace in _NAMESPACES))

    def cells(self) -> Iterator[FlatRuns]:
        """The texts of cells: shared ones that a cell shows, then those in cells."""
        shown = {(cell.findtext("{*}v") or "").strip() for cell in self.elements("c") if cell.get("t") == "s"}
        for root in self.of(_STRINGS):
            for number, string in enumerate(root.findall("{*}si")):
                if str(number) in shown:
                    yield FlatRuns(string, _namespace(string))
        for cell in self.elements("c"):
            inline = cell.find("{*}is")
            if cell.get("t") == "inlineStr" and inline is not None:
                yield FlatRuns(inline, _namespace(inline))

    def drawn(self) -> Iterator[FlatRuns]:
        """Paragraphs of text boxes and charts."""
        for root in self.of(*_DRAWN):
            yield from drawn_paragraphs(root)

    def referred_to(self) -> set[str]:
        """What formulas, filters and pivot tables call by its wording, in lower case as Excel compares."""
        found: set[str] = set()
        for name in _FORMULAS:
            for element in self.elements(name):
                formula = element.text or ""
                quoted = [match.replace('""', '"') for match in _QUOTED.findall(formula)]
                found.update(quoted, *(one.split(",") for one in quoted), _BRACKETED.findall(formula))
        for name, attribute in (("filter", "val"), ("customFilter", "val"), ("cacheField", "name")):
            found.update(element.get(attribute, "") for element in self.elements(name))
        return {one.strip().casefold() for one in found}


def read_xlsx(data: bytes, limits: DocumentLimits, languages: Languages) -> ExtractedDocument:
    """A workbook; see ``nmt.documents.read_document``."""
    package = Package(data, limits)
    names = parts_of(package, _KINDS, what="workbook (xlsx)")
    workbook = _Workbook({name: (kind, package.read_xml(name)) for kind, name in names})
    referred_to = workbook.referred_to()
    strings = list(workbook.cells())
    free = [place for place, runs in enumerate(strings) if runs.text.strip().casefold() not in referred_to]
    drawn = list(workbook.drawn())
    parts = [runs.paragraph for runs in [*(strings[place] for place in free), *drawn]]

    def write(restored: Sequence[list[Item]]) -> bytes:
        changed = _Workbook({name: (kind, deepcopy(root)) for name, (kind, root) in workbook.roots.items()})
        cells = list(changed.cells())
        rows = [*(cells[place] for place in free), *changed.drawn()]
        rejected = _rename_columns(changed, rows[: len(free)], restored)
        for place, (runs, part, items) in enumerate(zip(rows, parts, restored, strict=True)):
            is_rejected = place < len(free) and runs.text in rejected
            if items != list(part.items) and not is_rejected:
                runs.write(items)
        for root in changed.of(*_DRAWN):
            set_language(root, languages)
        return package.replace({name: root for name, (_, root) in changed.roots.items()})

    kept = {place for place, runs in enumerate(strings) if has_letters(runs.text)} - set(free)
    notice = f"{len(kept)} texts of cells are left as they are: formulas, filters or pivot tables name them"
    return document(parts, write, suffix="xlsx", notices=[notice] if kept else ())


def _rename_columns(
    workbook: _Workbook, cells: Sequence[FlatRuns], restored: Sequence[list[Item]]
) -> set[str]:
    """Give each column of a table the name that its header cell gets.

    Returns:
        Texts that must stay: their translation is no name, being empty, too long or there already.
    """
    new = {cell.text: cell.text_of(items) for cell, items in zip(cells, restored[: len(cells)], strict=True)}
    tables = [list(table.iter("{*}tableColumn")) for table in workbook.of(_TABLE)]
    rejected: set[str] = set()
    while True:
        names = {text: name for text, name in new.items() if text not in rejected}
        wrong = set().union(*(_no_names(map(_column_name, columns), names) for columns in tables))
        if not wrong:
            break
        rejected |= wrong
    for columns in tables:
        for column in columns:
            for attribute in ("name", "totalsRowLabel"):
                text = _shown(column.get(attribute, ""))
                if names.get(text, text) != text:
                    column.set(attribute, _written(names[text]))
    return rejected


def _no_names(columns: Iterable[str], names: Mapping[str, str]) -> set[str]:
    """The columns of one table that cannot be called what ``names`` has for them."""
    seen: set[str] = set()
    wrong: set[str] = set()
    for column in sorted(columns, key=lambda column: names.get(column, column) != column):
        name = names.get(column, column)
        if name != column and (not name.strip() or len(name) > _MOST_CHARACTERS or name.casefold() in seen):
            wrong.add(column)
        seen.add(name.casefold())
    return wrong


def _column_name(column: etree._Element) -> str:
    return _shown(column.get("name", ""))


def _shown(name: str) -> str:
    """An attribute's text: line ends and the like are written by their codes."""
    return _CONTROL.sub(lambda match: chr(int(match[1], 16)), name)


def _written(text: str) -> str:
    return "".join(f"_x{ord(one):04x}_" if one in "\t\n\r" else one for one in text)


def _namespace(element: etree._Element) -> str:
    return f"{{{etree.QName(element).namespace}}}"
