"""What pptx and xlsx share (ECMA-376): their parts by content type, and rows of runs at one level.

A paragraph of DrawingML (``a:p``) and a text of SpreadsheetML (``si``, ``is``) are rows of runs ``r``. Each
has a format ``rPr`` and a text ``t``. The commonest format is the paragraph's; each other one is a container.
Line breaks and tabs part texts, fields and formulas are objects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy

from lxml import etree

from nmt.documents.inline import Item, Paragraph, Stack
from nmt.documents.languages import Languages
from nmt.documents.package import Package
from nmt.errors import InputError

DRAWING = (
    "{http://schemas.openxmlformats.org/drawingml/2006/main}",
    "{http://purl.oclc.org/ooxml/drawingml/main}",
)
"""Namespace of DrawingML, transitional and strict."""
_CONTENT_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_BARRIER = re.compile(r"([\t\n\r\v]+|_x[0-9A-Fa-f]{4}_)")
"""White space with a meaning, and a control character as SpreadsheetML writes it."""
_FIRST, _LAST = {"pPr"}, {"endParaRPr"}
_DROPPED = {"rPh", "phoneticPr"}
"""How to read the source's characters; it cannot be of other ones."""
_INVISIBLE = {"lang", "altLang", "dirty", "err", "noProof", "smtClean", "kumimoji", "bmk"}
"""Attributes of a format that nobody sees."""


def parts_of(package: Package, kinds: Collection[str], *, what: str) -> list[tuple[str, str]]:
    """Kind and name of each part whose content type ends in one of ``kinds``, in their order, then by name.

    Args:
        package: the file.
        kinds: ends of content types without "+xml"; one of the first kind must be there.
        what: the document as the error names it.

    Raises:
        InputError: it is no such document.
    """
    found: list[tuple[int, list[object], str, str]] = []
    for override in package.read_xml("[Content_Types].xml").iter(f"{_CONTENT_TYPES}Override"):
        name, content_type = override.get("PartName", "").lstrip("/"), override.get("ContentType", "")
        for order, kind in enumerate(kinds):
            if content_type.endswith(f"{kind}+xml"):
                found.append((order, _by_number(name), kind, name))
    if not found or min(found)[0] > 0:
        raise InputError(f"the document is no {what}: its zip holds no such part")
    return [(kind, name) for _, _, kind, name in sorted(found)]


def _by_number(name: str) -> list[object]:
    """A key that sorts slide10 after slide9."""
    return [int(piece) if piece.isdecimal() else piece for piece in re.split(r"([0-9]+)", name)]


def drawn_paragraphs(root: etree._Element) -> Iterator[FlatRuns]:
    """All paragraphs of DrawingML in a part."""
    for namespace in DRAWING:
        for element in root.iter(f"{namespace}p"):
            yield FlatRuns(element, namespace)


def set_language(root: etree._Element, languages: Languages) -> None:
    """The source's runs of DrawingML become the target's, for the right dictionary."""
    for namespace in DRAWING:
        for name in ("rPr", "endParaRPr", "defRPr"):
            for element in root.iter(f"{namespace}{name}"):
                if element.get("lang", "").partition("-")[0] == languages.source:
                    element.set("lang", f"{languages.target}-{languages.region}")


class FlatRuns:
    """One row of runs.

    Args:
        element: what holds them.
        namespace: theirs, in braces.
    """

    def __init__(self, element: etree._Element, namespace: str) -> None:
        self.items: list[Item] = []
        self.element, self._namespace = element, namespace
        self._objects: list[etree._Element | str] = []
        """Of each object and barrier: its element, or its characters."""
        self._runs: list[etree._Element | None] = []
        """Of each container: a run that has its format."""
        self._formats: dict[bytes, int] = {}
        self._base, self._base_run = self._commonest_format()
        for child in element:
            self._read(child)

    @property
    def paragraph(self) -> Paragraph:
        """The items, to be translated."""
        return Paragraph(tuple(self.items))

    @property
    def text(self) -> str:
        """All characters."""
        return "".join(self._text(child) or "" for child in self.element)

    def text_of(self, items: Sequence[Item]) -> str:
        """All characters of the row that ``items`` make."""
        parts = [item.text if item.kind == "text" else self._objects[item.number] for item in items]
        return "".join(part for part in parts if isinstance(part, str))

    def write(self, items: Sequence[Item]) -> None:
        """Put ``items`` in the place of the paragraph's own."""
        is_bare = all(self._name(child) not in {"r", "br", "fld"} for child in self.element)
        last = [child for child in self.element if self._name(child) in _LAST]
        for child in list(self.element):
            if self._name(child) not in _FIRST:
                self.element.remove(child)
        opened: tuple[etree._Element | None, etree._Element] | None = None
        """The format and the text of the run that is being written."""
        for item in items:
            part = item.text if item.kind == "text" else self._objects[item.number]
            if not isinstance(part, str):
                self.element.append(part)
                opened = None
            elif part:
                run = self._runs[item.stack[-1]] if item.stack else self._base_run
                if opened is None or opened[0] is not run:
                    opened = run, self._new_text(run, is_bare=is_bare)
                opened[1].text = (opened[1].text or "") + part
                self._preserve(opened[1])
        self.element.extend(last)

    # reading

    def _name(self, element: etree._Element) -> str:
        return element.tag.removeprefix(self._namespace) if isinstance(element.tag, str) else ""

    def _text(self, child: etree._Element) -> str | None:
        """The characters of a run or a bare text; None of anything else."""
        name = self._name(child)
        if name == "t":
            return child.text or ""
        if name != "r":
            return None
        return "".join(text.text or "" for text in child if self._name(text) == "t")

    def _read(self, child: etree._Element) -> None:
        name = self._name(child)
        text = self._text(child)
        if text is None:
            if name not in _FIRST | _LAST | _DROPPED:
                self._objects.append(child)
                kind = "barrier" if name == "br" else "object"
                self.items.append(Item(kind, number=len(self._objects) - 1))  # type: ignore[arg-type]
            return
        key = self._format_key(child)
        stack: Stack = () if key == self._base else (self._format_number(key, child),)
        for piece in filter(None, _BARRIER.split(text)):
            if _BARRIER.fullmatch(piece):
                self._objects.append(piece)
                self.items.append(Item("barrier", stack, number=len(self._objects) - 1))
            else:
                self.items.append(Item("text", stack, piece))

    def _commonest_format(self) -> tuple[bytes, etree._Element | None]:
        counts: Counter[bytes] = Counter()
        runs: dict[bytes, etree._Element | None] = {}
        for child in self.element:
            if text := self._text(child):
                key = self._format_key(child)
                counts[key] += len(text)
                runs.setdefault(key, child)
        base = counts.most_common(1)[0][0] if counts else b""
        return base, runs.get(base)

    def _format_key(self, run: etree._Element) -> bytes:
        """What tells one format from another."""
        properties = run.find(f"{self._namespace}rPr")
        if properties is None:
            return b""
        shown = sorted(f"{key}={value}" for key, value in properties.attrib.items() if key not in _INVISIBLE)
        children = [etree.tostring(child, with_tail=False) for child in properties]
        return b"\0".join([*(one.encode() for one in shown), *children])

    def _format_number(self, key: bytes, run: etree._Element) -> int:
        if key not in self._formats:
            self._runs.append(run)
            self._formats[key] = len(self._runs) - 1
        return self._formats[key]

    # writing

    def _new_text(self, like: etree._Element | None, *, is_bare: bool) -> etree._Element:
        """A new text at the end: bare, or in a run with the format of ``like``."""
        parent = self.element
        if not is_bare:
            parent = etree.SubElement(self.element, f"{self._namespace}r")
            properties = None if like is None else like.find(f"{self._namespace}rPr")
            if properties is not None:
                parent.append(deepcopy(properties))
        return etree.SubElement(parent, f"{self._namespace}t")

    def _preserve(self, text: etree._Element) -> None:
        """Say that white space at the edges counts, where the format has an attribute for that."""
        if self._namespace not in DRAWING and text.text != (text.text or "").strip():
            text.set(_SPACE, "preserve")
