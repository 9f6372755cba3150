"""OpenDocument texts, spreadsheets and presentations (ODF 1.3): paragraphs and headings, wherever they are.

A paragraph is translated whole: spans and links are containers, fields keep their result, notes, frames and
bookmarks are objects, tabs and line breaks barriers. ``content.xml`` and ``styles.xml`` (headers and footers)
are rewritten; every other member, ``meta.xml`` too, is copied byte by byte. Cells with numbers, dates and
formulas stay, and those whose text a formula or a condition has as a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.inline import Item
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.mixed import MixedContent, Role, add_text
from nmt.documents.package import Package
from nmt.errors import InputError

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_DECLARED = (f"{_PRESENTATION}header-decl", f"{_PRESENTATION}footer-decl")
"""Header and footer of slides: text, and no paragraph."""
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_CHANGES = (f"{TEXT}tracked-changes", f"{_TABLE}tracked-changes")
_KINDS = {"odt": "text", "ods": "spreadsheet", "odp": "presentation"}
_MIME_TYPE = b"application/vnd.oasis.opendocument."
_PARTS = ("content.xml", "styles.xml")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_SPACES = re.compile(r"(  +|^ )")

_PAIRS = ("bookmark", "reference-mark", "change")
_ROLES: dict[object, Role] = {
    **{f"{TEXT}{name}": Role("container") for name in ("span", "a", "meta", "meta-field")},
    **{f"{TEXT}{name}": Role("barrier") for name in ("tab", "line-break")},
    **{f"{TEXT}{name}-start": Role("object", side="right", in_order=True) for name in _PAIRS},
    **{f"{TEXT}{name}-end": Role("object", side="left", in_order=True) for name in _PAIRS},
    f"{TEXT}soft-page-break": Role("dropped"),
    f"{TEXT}note": Role("object", side="left"),
}


def read_opendocument(
    data: bytes, suffix: str, limits: DocumentLimits, languages: Languages
) -> ExtractedDocument:
    """An odt, ods or odp, as ``suffix`` says; see ``nmt.documents.read_document``."""
    package = Package(data, limits)
    kind = _KINDS[suffix]
    if "mimetype" not in package or package.read("mimetype").strip() != _MIME_TYPE + kind.encode():
        raise InputError(f"the document is no OpenDocument {kind} ({suffix}): its mimetype says otherwise")
    if "META-INF/manifest.xml" in package and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise InputError("the document is encrypted; save it without a password")
    roots = {name: package.read_xml(name) for name in _PARTS if name in package}
    parts = [content.paragraph for root in roots.values() for _, content in _paragraphs(root)]
    n_kept = sum(_n_kept(root) for root in roots.values())

    def write(restored: Sequence[list[Item]]) -> bytes:
        changed = {name: deepcopy(root) for name, root in roots.items()}
        paragraphs = [found for root in changed.values() for found in _paragraphs(root)]
        for (element, content), part, items in zip(paragraphs, parts, restored, strict=True):
            if items != list(part.items):
                content.write(element, items, take=lambda child: child, add_text=_add_text)
                _set_value(element)
        for root in changed.values():
            _set_language(root, languages)
        return package.replace(changed)

    notices = [f"{n_kept} texts of cells are left as they are: formulas or conditions name them"]
    return document(parts, write, suffix=suffix, notices=notices if n_kept else ())


def _paragraphs(root: etree._Element) -> Iterator[tuple[etree._Element, MixedContent]]:
    """All paragraphs and headings, those in notes and text boxes after the one they are anchored in."""
    named = _named(root)
    for element in list(root.iter(f"{TEXT}p", f"{TEXT}h", *_DECLARED)):
        parent = element.getparent()
        if parent is not None and parent.tag in _CELLS and (not _is_text(parent) or _is_kept(parent, named)):
            continue
        if next(element.iterancestors(*_CHANGES), None) is None:
            yield element, MixedContent(element, _role, collapse=True)


def _n_kept(root: etree._Element) -> int:
    named = _named(root)
    return sum(_is_kept(cell, named) for cell in root.iter(*_CELLS))


def _is_text(cell: etree._Element) -> bool:
    """Whether a cell holds a text, not a number or what a formula gives."""
    return cell.get(f"{_TABLE}formula") is None and cell.get(f"{_OFFICE}value-type", "string") == "string"


def _is_kept(cell: etree._Element, named: set[str]) -> bool:
    return bool(named) and _is_text(cell) and _shown(cell).strip().casefold() in named


def _shown(cell: etree._Element) -> str:
    """The text of a cell, its paragraphs in lines."""
    return "\n".join("".join(map(str, paragraph.itertext())) for paragraph in cell.iterchildren(f"{TEXT}p"))


def _named(root: etree._Element) -> set[str]:
    """The strings in formulas, conditions and filters, in lower case as they are compared."""
    found: set[str] = set()
    for element in root.iter(etree.Element):
        for attribute in ("formula", "condition"):
            found.update(_QUOTED.findall(element.get(f"{_TABLE}{attribute}", "")))
        if element.tag == f"{_TABLE}filter-condition":
            found.add(element.get(f"{_TABLE}value", ""))
    return {one.replace('""', '"').strip().casefold() for one in found} - {""}


def _set_value(paragraph: etree._Element) -> None:
    """A cell's value, where it is written beside its paragraphs, is what they say."""
    cell = paragraph.getparent()
    if cell is not None and cell.tag in _CELLS and cell.get(f"{_OFFICE}string-value"):
        cell.set(f"{_OFFICE}string-value", _shown(cell))


def _role(element: etree._Element) -> Role:
    tag = element.tag
    if tag in _ROLES:
        return _ROLES[tag]
    if tag == f"{TEXT}s":
        count = element.get(f"{TEXT}c", "1")
        return Role("text", " " * min(int(count) if count.isdecimal() else 1, 1000))
    is_field = isinstance(tag, str) and tag.startswith(TEXT) and not len(element) and element.text
    return Role("container", keep=True) if is_field else Role("object")


def _add_text(parent: etree._Element, text: str) -> None:
    """Append text; white space that ODF would collapse becomes ``text:s``."""
    for piece in filter(None, _SPACES.split(text)):
        before = (parent[-1].tail if len(parent) else parent.text) or ""
        is_alone = bool(before or len(parent)) and not before.endswith(" ")
        n_collapsed = len(piece) - is_alone if _SPACES.fullmatch(piece) else 0
        if n_collapsed < len(piece):
            add_text(parent, piece[n_collapsed:])
        if n_collapsed:
            etree.SubElement(parent, f"{TEXT}s").set(f"{TEXT}c", str(n_collapsed))


def _set_language(root: etree._Element, languages: Languages) -> None:
    """The source's text properties become those of the target, for the right dictionary."""
    for element in root.iter(f"{{{root.nsmap.get('style', '')}}}text-properties"):
        if element.get(f"{_FO}language") == languages.source:
            element.set(f"{_FO}language", languages.target)
            element.set(f"{_FO}country", languages.region)
