"""Units of XLIFF 1.2, 2.0 and 2.1: segments that somebody has translated. The file is read whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO
from xml.sax.saxutils import escape

from nmt.documents.xliff import V1, V2, VERSIONS
from nmt.documents.xml import parse_xml
from nmt.errors import InputError
from nmt.memory.segments import SegmentPair
from nmt.memory.unit import TranslationUnit

if TYPE_CHECKING:
    from lxml import etree

MOST_BYTES = 50_000_000
_CODES = frozenset({"ph", "bpt", "ept", "it", "sub", "cp"})
"""Elements whose content is native code."""
_OPEN_STATES = frozenset({"new", "needs-translation", "needs-review-translation", "initial"})
"""States of a target that no person has accepted."""


def read_xliff_units(stream: BinaryIO) -> Iterator[SegmentPair]:
    """The translated segments of an XLIFF file, in their order.

    Raises:
        InputError: it is no XLIFF of a version that is read, declares entities, or is too large.
    """
    data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"the XLIFF file has over {MOST_BYTES:,} bytes; split it, or convert it to TMX")
    root = parse_xml(data, "the XLIFF file", doctype=True)
    version = {f"{V1}xliff": V1, f"{V2}xliff": V2}.get(str(root.tag))
    if version is None:
        raise InputError(f"this is no XLIFF of version {VERSIONS}; convert it to one of them")
    for source in root.iter(f"{version}source"):
        segment = source.getparent()
        if segment is None or segment.tag not in (f"{V1}trans-unit", f"{V2}segment"):
            continue
        target = segment.find(f"{version}target")
        if target is None or _is_open(segment, target, version):
            continue
        languages = _languages(root, source, version)
        texts = _text(source), _text(target)
        if texts[1].strip():
            yield SegmentPair(languages[0], tuple(zip(languages, texts, strict=True)))


def write_xliff(units: Iterable[TranslationUnit], languages: tuple[str, str]) -> Iterator[bytes]:
    """An XLIFF 2.0 file, in pieces."""
    source, target = languages
    yield (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" '
        f'version="2.0" srcLang="{source}" trgLang="{target}">\n<file id="memory">\n'
    ).encode()
    for number, unit in enumerate(units, start=1):
        yield (
            f'<unit id="{number}"><segment state="final"><source xml:space="preserve">{escape(unit.source)}'
            f'</source><target xml:space="preserve">{escape(unit.target)}</target></segment></unit>\n'
        ).encode()
    yield b"</file>\n</xliff>\n"


def _is_open(segment: etree._Element, target: etree._Element, version: str) -> bool:
    state = segment.get("state", "") if version == V2 else target.get("state", "")
    return segment.get("approved") == "no" or state in _OPEN_STATES


def _languages(root: etree._Element, source: etree._Element, version: str) -> tuple[str, str]:
    if version == V2:
        return root.get("srcLang", "").lower(), root.get("trgLang", "").lower()
    file = next(source.iterancestors(f"{V1}file"), root)
    return file.get("source-language", "").lower(), file.get("target-language", "").lower()


def _text(element: etree._Element) -> str:
    """The text of a segment without its inline codes."""
    text = element.text or ""
    for child in element:
        if isinstance(child.tag, str) and child.tag.rpartition("}")[2] not in _CODES:
            text += _text(child)
        text += child.tail or ""
    return text
