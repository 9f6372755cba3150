"""Paragraphs -> sentences and back, with every white space kept.

A line break always ends a sentence; within a line the library sentencex decides. What stands between
sentences is white space only, and ``join`` puts it back as it was.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sentencex

_LINE = re.compile("[^\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]+")
"""A run without any of the characters at which ``str.splitlines`` splits."""

_CLAUSE_END = re.compile(r"[,;:.!?\u2026)\u00bb\u2013\u2014]\s+")
_WHITE_SPACE = re.compile(r"\s+")
_SPACE = re.compile(r"[^\S\n ]")
"""White space that sentencex 1.0.20 does not bear: "M", a no-break space and a full stop make it panic."""
_TITLE = re.compile(r"(?<!\w)(?:M|MM|Mme|Mlle|Mr|Mrs|Ms|Dr|Pr|Prof)\.\s*\Z")
"""The end of what is no sentence: a name follows."""
SEPARATORS = "|·•›"
"""Between spaces, as between the entries of a menu."""
_GAP = re.compile(rf"\s*\t\s*|\s*[ ]{{3,}}\s*|\s+[{SEPARATORS}][{SEPARATORS}\s]*\s")

_SLASH = re.compile(r"\s+/\s+")
_LABELS = re.compile(r"[^\W\d_a-zà-öø-ÿ][^/\n\t|]*(?:\s/\s[^\W\d_a-zà-öø-ÿ][^/\n\t|]*)+")


@dataclass(frozen=True)
class Segment:
    """A sentence, without white space around it: ``text`` is characters ``start`` to ``end`` of the whole."""

    text: str
    start: int
    end: int


def split(text: str, language: str) -> list[Segment]:
    """Sentences of ``text`` in order; around them is white space only. Blank text has none.

    Args:
        text: any text without lone surrogates.
        language: ISO 639-1 code; it tells sentencex which abbreviations end in a full stop.
    """
    segments: list[Segment] = []
    for line in _LINE.finditer(text):
        if line.group().isspace():
            continue
        start = end = line.start()
        for sentence in _sentences(language, _SPACE.sub(" ", line.group())):
            end += len(sentence)
            if _TITLE.search(text, start, end) is None:
                segments += _stripped(text, start, end)
                start = end
        assert end == line.end(), "sentencex returns every character"
        segments += _stripped(text, start, end)
    return segments


def _sentences(language: str, line: str) -> list[str]:
    """The sentences of a line with the white space after them; all of it where sentencex panics."""
    try:
        return list(sentencex.segment(language, line))
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of pyo3, no Exception and without a module to import
            raise
        return [line]


def split_lines(text: str, language: str) -> list[Segment]:  # noqa: ARG001 - as ``split``
    """The lines of ``text`` in order, each taken for one sentence."""
    return [segment for line in _LINE.finditer(text) for segment in _stripped(text, line.start(), line.end())]


def split_at_gaps(segment: Segment) -> list[Segment]:
    """Cut a line where it has tabs, three spaces or a sign such as ``|`` between spaces: those are kept.

    A slash between spaces is one where each part begins with a capital: Red / Green / Blue.
    """
    gap = _SLASH if _LABELS.fullmatch(segment.text) else _GAP
    if not gap.search(segment.text):
        return [segment]
    cuts = [0, *(place for match in gap.finditer(segment.text) for place in match.span()), len(segment.text)]
    return [
        Segment(segment.text[start:end], segment.start + start, segment.start + end)
        for start, end in zip(cuts[::2], cuts[1::2], strict=True)
    ]


def split_long(segment: Segment, fits: Callable[[str], bool]) -> list[Segment]:
    """Halve a sentence until each part fits: after a clause if possible, else at a space, else anywhere.

    Nothing is lost: the parts with the white space between them are the sentence. A single character is
    never split, whether it fits or not.
    """
    if len(segment.text) == 1 or fits(segment.text):
        return [segment]
    cut = segment.start + _middle(segment.text)
    parts: list[Segment] = []
    for start, end in ((segment.start, cut), (cut, segment.end)):
        text = segment.text[start - segment.start : end - segment.start]
        for part in _stripped(text, 0, len(text)):
            parts += split_long(Segment(part.text, start + part.start, start + part.end), fits)
    return parts


def join(
    text: str,
    segments: Sequence[Segment],
    translations: Sequence[str],
    *,
    between: Callable[[str], str] = lambda found: found,
) -> tuple[str, list[tuple[int, int]]]:
    """Put translations in the place of the segments of ``text``.

    Args:
        text: the whole.
        segments: of it, in order.
        translations: of each.
        between: from what stands between two segments to what stands between their translations.

    Returns:
        The whole translation, and for each segment the span (start, end) of its translation there.
    """
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    read = written = 0
    for segment, translation in zip(segments, translations, strict=True):
        gap = text[read : segment.start]
        if spans:
            gap = between(gap)
        start = written + len(gap)
        written = start + len(translation)
        pieces += [gap, translation]
        spans.append((start, written))
        read = segment.end
    return "".join([*pieces, text[read:]]), spans


def _stripped(text: str, start: int, end: int) -> list[Segment]:
    """The segment between ``start`` and ``end`` without white space around it; none when nothing is left."""
    part = text[start:end]
    core = part.strip()
    if not core:
        return []
    start += len(part) - len(part.lstrip())
    return [Segment(core, start, start + len(core))]


def _middle(text: str) -> int:
    """The best place for a cut: in the middle half of ``text``, and there as near the middle as possible."""
    quarter, half = len(text) // 4, len(text) // 2
    for pattern in (_CLAUSE_END, _WHITE_SPACE):
        places = [
            match.end() for match in pattern.finditer(text) if quarter <= match.end() <= len(text) - quarter
        ]
        if places:
            return min(places, key=lambda place: abs(place - half))
    cut = max(half, 1)
    while cut + 1 < len(text) and unicodedata.combining(text[cut]):
        cut += 1  # an accent stays with its letter
    return cut
