"""SubRip (srt) and WebVTT (W3C): numbers, times, settings, styles and notes stay; cues speak French.

The libraries ``srt`` and ``webvtt`` read the files, in which the texts are replaced where they stand;
``nmt.documents.cues`` does what both share.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

import srt
import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from nmt.documents.cues import Cue, cue_texts, units_of
from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document
from nmt.errors import InputError


def read_srt(data: bytes) -> ExtractedDocument:
    """A SubRip file; see ``nmt.documents.read_document``."""
    source = decode(data, only_lf=True)
    subtitles = _parse_srt(source.text)
    cues = [
        Cue(subtitle.content, subtitle.start.total_seconds(), subtitle.end.total_seconds())
        for subtitle in subtitles
    ]
    units = units_of(cues, str, str)

    def write(restored: Sequence[list[str]]) -> bytes:
        texts = cue_texts(units, restored, len(cues))
        return source.encode(_with_texts(source.text, [cue.text for cue in cues], texts))

    return document(units, write, suffix="srt")


def read_vtt(data: bytes) -> ExtractedDocument:
    """A WebVTT file; see ``nmt.documents.read_document``."""
    source = decode(data, only_lf=True)
    captions = _parse_vtt(source.text).captions
    cues = [Cue(caption.raw_text, _seconds(caption.start), _seconds(caption.end)) for caption in captions]
    units = units_of(cues, lambda text: html.escape(text, quote=False), html.unescape)

    def write(restored: Sequence[list[str]]) -> bytes:
        texts = cue_texts(units, restored, len(cues))
        return source.encode(_with_texts(source.text, [cue.text for cue in cues], texts))

    return document(units, write, suffix="vtt")


def _with_texts(source: str, before: Sequence[str], after: Sequence[str]) -> str:
    """``source`` with the text of each cue replaced where it stands, after the line of its times."""
    pieces: list[str] = []
    read = 0
    for number, (old, new) in enumerate(zip(before, after, strict=True), start=1):
        times = source.find("-->", read)
        place = source.find("\n", times) + 1 if times >= 0 else 0
        if not (old := old.strip()):
            continue
        lines = r"\s*\n\s*".join(map(re.escape, old.split("\n"))) + r"[ \t]*"
        found = re.compile(lines).search(source, place or len(source))
        if found is None:
            raise InputError(f"the lines of cue {number} cannot be read twice alike; correct them")
        is_new = new != found.group().strip()
        pieces += [source[read : found.start()], new if is_new else found.group()]
        read = found.end()
    return "".join([*pieces, source[read:]])


def _parse_srt(text: str) -> list[srt.Subtitle]:
    """Raises ``InputError``: it is no SubRip file; the line is named."""
    try:
        found = list(srt.parse(text))
    except srt.SRTParseError as error:
        line = text.count("\n", 0, error.expected_start) + 1
        raise InputError(f"the document is not SubRip (srt) from line {line} on; correct it there") from None
    except (ValueError, OverflowError):
        raise InputError("the document is not SubRip (srt): a time in it is impossible; correct it") from None
    if text.strip() and not found:
        raise InputError("the document is not SubRip (srt): it has no cue; check its format")
    return found


def _parse_vtt(text: str) -> webvtt.WebVTT:
    """Raises ``InputError``: it is no WebVTT file, or holds cues that the library would leave out."""
    try:
        found = webvtt.from_string(text)
    except (MalformedFileError, MalformedCaptionError):
        raise InputError("the document is not WebVTT: it begins otherwise or a time is malformed") from None
    lines = text.split("\n")
    n_timings = sum("-->" in line for line in lines)
    if n_timings != len(found.captions):
        raise InputError(
            f"the document has {n_timings} lines with times but {len(found.captions)} readable cues: correct "
            "the times of the others"
        )
    return found


def _seconds(timestamp: str) -> float:
    *hours, minutes, seconds = timestamp.split(":")
    return sum(3600.0 * int(hour) for hour in hours) + 60 * int(minutes) + float(seconds)
