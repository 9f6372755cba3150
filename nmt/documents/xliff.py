"""XLIFF 1.2 and 2.0 (OASIS): segments without a translation get one, with their inline elements.

``g`` and ``pc`` are containers, placeholders (``x``, ``ph``, ``bpt`` ...) objects, protected ``mrk`` text is
copied. A segment that is final, approved or not to be translated stays as it is. New targets are marked as
machine translation, for a person to review.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

from lxml import etree

from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.inline import Item
from nmt.documents.mixed import MixedContent, Role, add_text
from nmt.documents.xml import parse_xml
from nmt.errors import InputError

V1 = "{urn:oasis:names:tc:xliff:document:1.2}"
V2 = "{urn:oasis:names:tc:xliff:document:2.0}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_CONTAINERS = {f"{V1}g", f"{V1}mrk", f"{V2}pc", f"{V2}mrk"}
_OPENING = {f"{V1}bx", f"{V1}bpt", f"{V2}sc", f"{V2}sm"}
_CLOSING = {f"{V1}ex", f"{V1}ept", f"{V2}ec", f"{V2}em"}
_OPEN_STATES = {"", "new", "needs-translation", "initial"}
"""States of a target that nobody has worked on."""


def read_xliff(data: bytes, *, target: str = "fr", everything: bool = False) -> ExtractedDocument:
    """An XLIFF file; see ``nmt.documents.read_document``."""
    root = parse_xml(data, doctype=True)
    version = {f"{V1}xliff": V1, f"{V2}xliff": V2}.get(str(root.tag))
    if version is None:
        raise InputError("the document is no XLIFF 1.2 or 2.0: its root element is another; convert it")
    sources = [_content(source) for source in _open_sources(root, version, everything=everything)]

    def write(restored: Sequence[list[Item]]) -> bytes:
        changed = deepcopy(root)
        found = list(_open_sources(changed, version, everything=everything))
        for source, items in zip(found, restored, strict=True):
            _content(source).write(_target(source, version), items, take=deepcopy, add_text=add_text)
        _set_language(changed, version, target)
        return etree.tostring(
            changed.getroottree(), xml_declaration=True, encoding=root.getroottree().docinfo.encoding
        )

    return document([source.paragraph for source in sources], write, suffix="xlf")


def _open_sources(root: etree._Element, version: str, *, everything: bool) -> Iterator[etree._Element]:
    """The ``source`` of each segment to translate."""
    for source in root.iter(f"{version}source"):
        segment = source.getparent()
        if segment is None or segment.tag not in (f"{V1}trans-unit", f"{V2}segment"):
            continue  # an alternative translation, or text that is not to be translated
        units = [segment, *segment.iterancestors()]
        switches = [unit.get("translate") for unit in units if unit.get("translate")]
        if switches[:1] == ["no"] or segment.get("approved") == "yes":
            continue
        target = segment.find(f"{version}target")
        state = segment.get("state", "") if version == V2 or target is None else target.get("state", "")
        has_target = target is not None and bool("".join(map(str, target.itertext())).strip())
        if everything or (state in _OPEN_STATES and not has_target) or state in _OPEN_STATES - {""}:
            yield source


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
        return Role("object", side="right", in_order=True)
    if element.tag in _CLOSING:
        return Role("object", side="left", in_order=True)
    return Role("object")


def _target(source: etree._Element, version: str) -> etree._Element:
    """The ``target`` beside ``source``, made where there is none, marked as machine translation."""
    segment = source.getparent()
    assert segment is not None, "a segment holds it"
    target = segment.find(f"{version}target")
    if target is None:
        target = etree.Element(f"{version}target")
        segmented = segment.find(f"{V1}seg-source")
        before = source if segmented is None else segmented
        target.tail = before.tail
        segment.insert(segment.index(before) + 1, target)
    if version == V1:
        target.set("state", "needs-review-translation")
        target.set("state-qualifier", "mt-suggestion")
    else:
        segment.set("state", "translated")
    return target


def _set_language(root: etree._Element, version: str, target: str) -> None:
    if version == V2:
        root.set("trgLang", root.get("trgLang", target))
    for file in root.iter(f"{V1}file"):
        file.set("target-language", file.get("target-language", target))
