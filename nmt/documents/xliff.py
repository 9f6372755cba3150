"""XLIFF 1.1, 1.2, 2.0 and 2.1 (OASIS): segments without a translation get one, with their inline elements.

``g`` and ``pc`` are containers; so are pairs of ``bpt`` and ``ept``, ``bx`` and ``ex``, ``sc`` and ``ec``.
Placeholders (``x``, ``ph``, ``it``, half of a pair) are objects, protected ``mrk`` text is copied. A segment
that is final, approved or not to be translated stays as it is. New targets are marked as machine translation,
for a person to review.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.inline import Item
from nmt.documents.languages import Languages
from nmt.documents.messages import message
from nmt.documents.mixed import MixedContent, Role, add_text
from nmt.documents.xml import read_xml
from nmt.documents.xml_edits import Edits
from nmt.errors import InputError

_V1_1 = "urn:oasis:names:tc:xliff:document:1.1"
V1 = "{urn:oasis:names:tc:xliff:document:1.2}"
V2 = "{urn:oasis:names:tc:xliff:document:2.0}"
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_CONTAINERS = {f"{V1}g", f"{V1}mrk", f"{V2}pc", f"{V2}mrk"}
_OPENING = {f"{V1}bx", f"{V1}bpt", f"{V2}sc", f"{V2}sm"}
_CLOSING = {f"{V1}ex", f"{V1}ept", f"{V2}ec", f"{V2}em"}
_OPEN_STATES = {"new", "needs-translation", "initial"}
"""States of a target that nobody has worked on."""
VERSIONS = "1.1, 1.2, 2.0 and 2.1"
_VERSION = re.compile(r"[0-9.]{1,10}")


def read_xliff(data: bytes, languages: Languages, *, everything: bool = False) -> ExtractedDocument:
    """An XLIFF file; see ``nmt.documents.read_document``.

    An empty element as target counts as none, and so does one without a state that repeats its source.
    """
    # XLIFF 1.1 differs in nothing that is read here
    file = read_xml(data.replace(_V1_1.encode(), V1[1:-1].encode()))
    root, is_1_1 = file.root, _V1_1.encode() in data
    version = {f"{V1}xliff": V1, f"{V2}xliff": V2}.get(str(root.tag))
    if version is None:
        raise InputError(
            f"the document is {_named(root)}; read are XLIFF {VERSIONS}: convert it to one of them"
        )
    found = list(_segments(root, version))
    opened = [source for source in found if everything or _is_open(source, version)]
    contents = [_content(source) for source in opened]

    def write(restored: Sequence[list[Item]]) -> bytes:
        edits = Edits(file.text, root)
        for source, content, items in zip(opened, contents, restored, strict=True):
            _add_target(edits, source, version, content, items)
        _set_languages(edits, root, version, languages.target)
        result = file.encode(edits.result())
        return result.replace(V1[1:-1].encode(), _V1_1.encode()) if is_1_1 else result

    return document(
        [message(content.items) for content in contents],
        write,
        suffix="xlf",
        n_done=len(found) - len(opened),
        notices=_of_another_language(root, languages),
    )


def _named(root: etree._Element) -> str:
    """What a document is that is not read, as its root says."""
    name = etree.QName(root)
    if name.localname != "xliff":
        return f"no XLIFF: its root element is {name.localname[:40]}"
    version = root.get("version", "")
    return f"XLIFF {version}" if _VERSION.fullmatch(version) else "XLIFF of a version that it does not name"


def _of_another_language(root: etree._Element, languages: Languages) -> list[str]:
    """A notice for each language that the document says its sources are in, if they are read as another."""
    named = {root.get("srcLang", "")} | {file.get("source-language", "") for file in root}
    others = sorted(name for name in named if name and name.lower()[:2] != languages.source)
    return [
        f"the document says that its source is in {name[:20]!r}; it was translated as '{languages.source}'"
        for name in others
    ]


def _segments(root: etree._Element, version: str) -> Iterator[etree._Element]:
    """The ``source`` of each segment that may be translated."""
    for source in root.iter(f"{version}source"):
        segment = source.getparent()
        if segment is None or segment.tag not in (f"{V1}trans-unit", f"{V2}segment"):
            continue  # an alternative translation, or text that is not to be translated
        units = [segment, *segment.iterancestors()]
        switches = [unit.get("translate") for unit in units if unit.get("translate")]
        if switches[:1] != ["no"] and segment.get("approved") != "yes":
            yield source


def _is_open(source: etree._Element, version: str) -> bool:
    """Whether nobody has translated the segment yet."""
    segment = source.getparent()
    assert segment is not None, "a segment holds it"
    target = segment.find(f"{version}target")
    state = segment.get("state", "") if version == V2 or target is None else target.get("state", "")
    if state:
        return state in _OPEN_STATES
    written = "" if target is None else _text(target)
    return not written or written == _text(source)


def _text(element: etree._Element) -> str:
    return "".join(map(str, element.itertext())).strip()


def _content(source: etree._Element) -> MixedContent:
    preserve = next(
        (element.get(_SPACE) for element in (source, *source.iterancestors()) if element.get(_SPACE)), ""
    )
    return MixedContent(source, _role, collapse=preserve != "preserve")


def _role(element: etree._Element) -> Role:
    if element.tag in _CONTAINERS:
        protected = element.get("translate") == "no" or element.get("mtype") == "protected"
        return Role("container", keep=protected)
    if element.tag in _OPENING:
        return Role("object", side="right", in_order=True, pair=_pair(element))
    if element.tag in _CLOSING:
        return Role("object", side="left", in_order=True, pair=_pair(element))
    if _is_line_break(element):
        return Role("barrier")
    return Role("object")


def _pair(element: etree._Element) -> str:
    """What tells which other half an element belongs to; "" if nothing does."""
    return element.get("startRef") or element.get("rid") or element.get("id") or ""


def _is_line_break(element: etree._Element) -> bool:
    """``<x ctype="lb"/>``, ``<ph subType="xlf:lb"/>``, or one that stands for ``<br>``."""
    if element.get("ctype") == "lb" or element.get("subType") in ("xlf:lb", "html:br"):
        return True
    shown = (element.get(name, "") for name in ("equiv-text", "disp", "equiv", "id"))
    return any(value == "LINE_BREAK" or _BREAK.match(value) for value in shown)


def _add_target(
    edits: Edits, source: etree._Element, version: str, content: MixedContent, items: Sequence[Item]
) -> None:
    """Write the ``target`` beside ``source``, and mark it as machine translation."""
    segment = source.getparent()
    assert segment is not None, "a segment holds it"
    target = segment.find(f"{version}target")
    written = etree.Element(f"{version}target", nsmap=source.nsmap) if target is None else deepcopy(target)
    content.write(written, items, take=deepcopy, add_text=add_text)
    if version == V1:
        written.set("state", "needs-review-translation")
        written.set("state-qualifier", "mt-suggestion")
    else:
        edits.set_attribute(segment, "state", "translated")
    if target is None:
        segmented = segment.find(f"{V1}seg-source")
        edits.add_after(source if segmented is None else segmented, written)
    else:
        edits.replace(target, written)


def _set_languages(edits: Edits, root: etree._Element, version: str, target: str) -> None:
    if version == V2:
        if not root.get("trgLang"):
            edits.set_attribute(root, "trgLang", target)
        return
    for file in root.iter(f"{V1}file"):
        if not file.get("target-language"):
            edits.set_attribute(file, "target-language", target)
