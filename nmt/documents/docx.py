"""Word documents (ECMA-376, part 1, section 17): body, tables, headers, footers, notes and text boxes.

A paragraph (``w:p``) is translated whole: its runs (``w:r``) become texts, what a run holds besides becomes
objects, tabs and line breaks barriers. Containers are links, insertions, content controls and fields, and,
innermost, each format (``w:rPr``) that is not the paragraph's commonest. XML is rewritten where text stands;
every other part, core properties too, is copied byte by byte.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from nmt.alignment.projection import Side
from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.inline import Item, Paragraph, Stack
from nmt.documents.languages import Languages
from nmt.documents.limits import DocumentLimits
from nmt.documents.package import Package
from nmt.errors import InputError

TRANSITIONAL = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_CONTENT_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_KINDS = ("document.main", "header", "footer", "footnotes", "endnotes")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"

_CONTAINERS = {"hyperlink", "ins", "moveTo", "smartTag", "customXml", "sdt", "fldSimple", "dir", "bdo"}
_DROPPED = {"proofErr", "lastRenderedPageBreak", "softHyphen"}
"""Marks of the spelling checker, of the last layout, of hyphenation: they belong to the source's words."""
_BARRIERS = {"tab", "br", "cr", "ptab"}
_SIDES: dict[str, Side] = {
    "footnoteReference": "left",
    "endnoteReference": "left",
    "commentReference": "left",
    "bookmarkStart": "right",
    "commentRangeStart": "right",
    "bookmarkEnd": "left",
    "commentRangeEnd": "left",
}
_PAIRS = {"bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "permStart", "permEnd"}
_TRANSLATED_FIELDS = ("HYPERLINK", "REF", "TOC", "QUOTE")
"""Fields whose result is running text; that of others (PAGE, DATE, MERGEFIELD) is copied."""


def read_docx(data: bytes, limits: DocumentLimits, languages: Languages) -> ExtractedDocument:
    """A Word document; see ``nmt.documents.read_document``."""
    package = Package(data, limits)
    names = _parts_with_text(package)
    roots = {name: package.read_xml(name) for name in names}
    parts = [Paragraph(tuple(runs.items)) for name in names for runs in _paragraphs(roots[name])]
    styles = posixpath.join(posixpath.dirname(names[0]), "styles.xml")
    if styles in package:
        roots[styles] = package.read_xml(styles)

    def write(restored: Sequence[list[Item]]) -> bytes:
        changed = {name: deepcopy(root) for name, root in roots.items()}
        paragraphs = [runs for name in names for runs in _paragraphs(changed[name])]
        for runs, part, items in zip(paragraphs, parts, restored, strict=True):
            if items != list(part.items):
                runs.write(items)
        for root in changed.values():
            _set_language(root, languages)
        return package.replace(changed)

    return document(parts, write, suffix="docx")


def _parts_with_text(package: Package) -> list[str]:
    """Names of the members that hold paragraphs: the body first, then headers, footers and notes.

    Raises:
        InputError: it is no Word document.
    """
    found: list[tuple[int, str]] = []
    for override in package.read_xml("[Content_Types].xml").iter(f"{_CONTENT_TYPES}Override"):
        content_type = override.get("ContentType", "")
        for order, kind in enumerate(_KINDS):
            if content_type.endswith(f".{kind}+xml") and "wordprocessingml" in content_type:
                found.append((order, override.get("PartName", "").lstrip("/")))
    if not found:
        raise InputError("the document is no Word document (docx): its zip holds no document part")
    return [name for _, name in sorted(found)]


def _set_language(root: etree._Element, languages: Languages) -> None:
    """The source's runs and styles become the target's, so that the right dictionary checks the spelling."""
    for namespace in (TRANSITIONAL, STRICT):
        for element in root.iter(f"{{{namespace}}}lang"):
            if element.get(f"{{{namespace}}}val", "").partition("-")[0] == languages.source:
                element.set(f"{{{namespace}}}val", f"{languages.target}-{languages.region}")


def _paragraphs(root: etree._Element) -> Iterator[_Runs]:
    """All paragraphs, those of text boxes after the one that their box is anchored in."""
    for namespace in (TRANSITIONAL, STRICT):
        for element in list(root.iter(f"{{{namespace}}}p")):
            yield _Runs(element, namespace)


@dataclass(frozen=True)
class _Atom:
    """A paragraph's smallest part: a child of a run, or an element beside runs."""

    name: str
    element: etree._Element
    run: etree._Element | None = None


@dataclass(frozen=True)
class _Container:
    """An element around runs; or a field, whose code and end stand around its result; or a format."""

    shell: etree._Element | None = None
    before: tuple[_Atom, ...] = ()
    after: tuple[_Atom, ...] = ()
    format: etree._Element | None = None
    """The run whose ``w:rPr`` the texts inside have."""


class _Runs:
    """One paragraph: its items, and how items become runs again."""

    def __init__(self, paragraph: etree._Element, namespace: str) -> None:
        self.items: list[Item] = []
        self._paragraph = paragraph
        self._w = f"{{{namespace}}}"
        self._containers: list[_Container] = []
        self._objects: list[tuple[_Atom, ...]] = []
        self._formats: dict[bytes, int] = {}
        self._base, self._base_run = self._commonest_format()
        self._read(self._atoms(paragraph), (), keep=False)

    def write(self, items: Sequence[Item]) -> None:
        """Put ``items`` in the place of the paragraph's own."""
        for child in list(self._paragraph):
            if child.tag != f"{self._w}pPr":
                self._paragraph.remove(child)
        opened: list[tuple[int, etree._Element]] = []

        def parent() -> etree._Element:
            return opened[-1][1] if opened else self._paragraph

        def close(depth: int) -> None:
            while len(opened) > depth:
                number, _ = opened.pop()
                self._append(parent(), self._containers[number].after)

        for item in items:
            shared = 0
            while shared < min(len(opened), len(item.stack)) and opened[shared][0] == item.stack[shared]:
                shared += 1
            close(shared)
            for number in item.stack[shared:]:
                opened.append((number, self._open(parent(), self._containers[number])))
            if item.kind == "text":
                self._append_text(parent(), item)
            else:
                self._append(parent(), self._objects[item.number])
        close(0)

    # reading

    def _name(self, element: etree._Element) -> str:
        """The tag without WordprocessingML's namespace; that of others whole, "" for a comment."""
        return element.tag.removeprefix(self._w) if isinstance(element.tag, str) else ""

    def _atoms(self, parent: etree._Element) -> list[_Atom]:
        atoms: list[_Atom] = []
        for child in parent:
            name = self._name(child)
            if name == "r":
                atoms += [
                    _Atom(self._name(part), part, child)
                    for part in child
                    if self._name(part) not in _DROPPED | {"rPr"}
                ]
            elif name not in _DROPPED | {"pPr", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr"}:
                atoms.append(_Atom(name, child))
        return atoms

    def _read(self, atoms: Sequence[_Atom], stack: Stack, *, keep: bool) -> None:
        place = 0
        while place < len(atoms):
            atom = atoms[place]
            place += 1
            text = _text(atom)
            if text is not None:
                key = self._format_key(atom.run)
                inner = stack if key == self._base else (*stack, self._format_number(key, atom.run))
                self.items.append(Item("text", inner, text, keep=keep))
            elif atom.name == "fldChar":
                place = self._read_field(atoms, place - 1, stack, keep=keep)
            elif atom.name in _BARRIERS or atom.name == "instrText":
                self._add("barrier", (atom,), stack)
            elif atom.name in _CONTAINERS and self._holds_text(atom.element):
                keeps = keep or (atom.name == "fldSimple" and not _is_translated(self._code_of(atom)))
                self._containers.append(_Container(shell=atom.element))
                inner_stack = (*stack, len(self._containers) - 1)
                self._read(self._atoms(self._content(atom.element)), inner_stack, keep=keeps)
            else:
                self._add("object", (atom,), stack)

    def _read_field(self, atoms: Sequence[_Atom], begin: int, stack: Stack, *, keep: bool) -> int:
        """A complex field (section 17.16.18): BEGIN code SEPARATE result END; returns the place after it.

        One that begins or ends in another paragraph (a table of contents) is barriers: it must not move.
        """
        depth, separate = 0, None
        for place in range(begin, len(atoms)):
            kind = self._field_kind(atoms[place])
            depth += {"begin": 1, "end": -1}.get(kind, 0)
            if depth == 1 and kind == "separate" and separate is None:
                separate = place
            if depth == 0 and kind == "end":
                break
        else:
            self._add("barrier", (atoms[begin],), stack)
            return begin + 1
        if depth or self._field_kind(atoms[begin]) != "begin":
            self._add("barrier", (atoms[begin],), stack)
            return begin + 1
        result = atoms[separate + 1 : place] if separate is not None else ()
        if separate is None or not any((_text(atom) or "").strip() for atom in result):
            self._add("object", tuple(atoms[begin : place + 1]), stack)
            return place + 1
        before = tuple(atoms[begin : separate + 1])
        code = "".join(atom.element.text or "" for atom in before if atom.name == "instrText")
        self._containers.append(_Container(before=before, after=(atoms[place],)))
        inner_stack = (*stack, len(self._containers) - 1)
        self._read(result, inner_stack, keep=keep or not _is_translated(code))
        return place + 1

    def _field_kind(self, atom: _Atom) -> str:
        return atom.element.get(f"{self._w}fldCharType", "") if atom.name == "fldChar" else ""

    def _code_of(self, atom: _Atom) -> str:
        return atom.element.get(f"{self._w}instr", "")

    def _add(self, kind: Literal["object", "barrier"], atoms: tuple[_Atom, ...], stack: Stack) -> None:
        self._objects.append(atoms)
        name = atoms[0].name
        side = _SIDES.get(name, "none")
        number = len(self._objects) - 1
        self.items.append(Item(kind, stack, number=number, side=side, in_order=name in _PAIRS))

    def _content(self, element: etree._Element) -> etree._Element:
        """Where the runs of a container are: in a content control one level down."""
        content = element.find(f"{self._w}sdtContent")
        return element if content is None else content

    def _holds_text(self, element: etree._Element) -> bool:
        atoms = self._atoms(self._content(element))
        return any(
            (_text(atom) or "").strip() or (atom.name in _CONTAINERS and self._holds_text(atom.element))
            for atom in atoms
        )

    def _commonest_format(self) -> tuple[bytes, etree._Element | None]:
        """The format of most characters, with a run that has it: text in it is in no format container."""
        counts: Counter[bytes] = Counter()
        runs: dict[bytes, etree._Element | None] = {}
        pending = self._atoms(self._paragraph)[::-1]
        while pending:
            atom = pending.pop()
            if atom.name in _CONTAINERS:
                pending += self._atoms(self._content(atom.element))[::-1]
            elif text := _text(atom):
                key = self._format_key(atom.run)
                counts[key] += len(text)
                runs.setdefault(key, atom.run)
        base = counts.most_common(1)[0][0] if counts else b""
        return base, runs.get(base)

    def _format_key(self, run: etree._Element | None) -> bytes:
        """What tells one format from another: ``w:rPr`` without language and tracked changes."""
        properties = None if run is None else run.find(f"{self._w}rPr")
        if properties is None:
            return b""
        shown = [child for child in properties if self._name(child) not in {"lang", "noProof", "rPrChange"}]
        return b"".join(etree.tostring(child, with_tail=False) for child in shown)

    def _format_number(self, key: bytes, run: etree._Element | None) -> int:
        if key not in self._formats:
            self._containers.append(_Container(format=run))
            self._formats[key] = len(self._containers) - 1
        return self._formats[key]

    # writing

    def _open(self, parent: etree._Element, container: _Container) -> etree._Element:
        """Begin a container in ``parent``; returns the element that its runs go to."""
        self._append(parent, container.before)
        if container.shell is None:
            return parent
        shell = deepcopy(container.shell)
        content = self._content(shell)
        for child in list(content):
            if not self._name(child).endswith("Pr"):
                content.remove(child)
        parent.append(shell)
        return content

    def _append(self, parent: etree._Element, atoms: Sequence[_Atom]) -> None:
        for atom in atoms:
            if atom.run is None:
                parent.append(atom.element)
            else:
                self._new_run(parent, atom.run).append(atom.element)

    def _append_text(self, parent: etree._Element, item: Item) -> None:
        if not item.text:
            return
        formats = [self._containers[number].format for number in item.stack]
        run = formats[-1] if formats and formats[-1] is not None else self._base_run
        text = etree.SubElement(self._new_run(parent, run), f"{self._w}t")
        text.text = item.text
        if item.text != item.text.strip():
            text.set(_SPACE, "preserve")

    def _new_run(self, parent: etree._Element, like: etree._Element | None) -> etree._Element:
        run = etree.SubElement(parent, f"{self._w}r")
        properties = None if like is None else like.find(f"{self._w}rPr")
        if properties is not None:
            run.append(deepcopy(properties))
        return run


def _text(atom: _Atom) -> str | None:
    """The characters of an atom; None if it is no text."""
    if atom.run is None:
        return None
    if atom.name == "t":
        return re.sub(r"[\t\n\r]", " ", atom.element.text or "")
    return "\u2011" if atom.name == "noBreakHyphen" else None


def _is_translated(code: str) -> bool:
    words = code.split(maxsplit=1)
    return bool(words) and words[0].upper() in _TRANSLATED_FIELDS
