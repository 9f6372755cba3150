"""Plain text: paragraphs and lines. A paragraph broken by hand at a right margin is translated whole.

Whether a line break is a margin's shows in the lengths: greedy filling breaks a line exactly where the first
word of the next would have crossed the margin. Only where nearly all breaks of a file are so are they taken
for such; a poem, an address, a list or a file with a sentence a line keeps each of its lines.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, PlainText, document
from nmt.extraction import Extract

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

MARGINS = range(50, 101)
"""Margins, in characters, at which people and programs break lines."""
SHARE_AT_MARGIN = 0.9
"""Of the line breaks within paragraphs that a margin must explain."""

_PARAGRAPH = re.compile(r"[^\n]*[^\s][^\n]*(?:\n[^\n]*[^\s][^\n]*)*")
_LIST_ITEM = re.compile(r"\s*(?:[-*\u2022\u2013\u2014+>#|]|\(?\w{1,3}[.)])\s")


@dataclass(frozen=True)
class FilledParagraph:
    """Lines broken at a margin, read as one, broken again at the same margin; an ``Extracted[str]``."""

    lines: tuple[str, ...]
    margin: int

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """All lines as one text."""
        return (Extract(" ".join(line.strip() for line in self.lines)),)

    def restore(self, translations: Sequence[Translation]) -> str:
        """The translation broken at the margin, first and further lines indented as the source's are."""
        first, further = self.lines[:2]
        return textwrap.fill(
            translations[0].text,
            self.margin,
            initial_indent=_indent(first),
            subsequent_indent=_indent(further),
            break_long_words=False,
            break_on_hyphens=False,
        )


def read_plain(data: bytes) -> ExtractedDocument:
    """A text file; see ``nmt.documents.read_document``."""
    source = decode(data)
    margin = _margin(source.text)
    between: list[str] = []
    parts: list[FilledParagraph | PlainText] = []
    read = 0
    for paragraph in _PARAGRAPH.finditer(source.text):
        for start, lines in _texts(paragraph.group(), margin):
            position = paragraph.start() + start
            between.append(source.text[read:position])
            read = position + len("\n".join(lines))
            if len(lines) > 1 and margin is not None:
                parts.append(FilledParagraph(tuple(lines), margin))
            else:
                parts.append(PlainText(lines[0]))
    rest = source.text[read:]

    def write(restored: Sequence[str]) -> bytes:
        pieces = [piece for pair in zip(between, restored, strict=True) for piece in pair]
        return source.encode("".join([*pieces, rest]))

    return document(parts, write, suffix="txt")


def _margin(text: str) -> int | None:
    """The margin at which the lines of ``text`` are broken, or None."""
    breaks = [
        pair
        for paragraph in _PARAGRAPH.finditer(text)
        for pair in pairwise(paragraph.group().split("\n"))
        if not _LIST_ITEM.match(pair[1])
    ]
    if len(breaks) < 2:
        return None
    margin = max(len(line.rstrip()) for pair in breaks for line in pair)
    at_margin = sum(_breaks_at(margin, *pair) for pair in breaks)
    return margin if margin in MARGINS and at_margin >= SHARE_AT_MARGIN * len(breaks) else None


def _breaks_at(margin: int, line: str, following: str) -> bool:
    first_word = following.split(maxsplit=1)[0]
    return len(line.rstrip()) + 1 + len(first_word) > margin


def _texts(paragraph: str, margin: int | None) -> list[tuple[int, list[str]]]:
    """Start and lines of each text in ``paragraph``: a line, or lines that only the margin separates."""
    texts: list[tuple[int, list[str]]] = []
    position = 0
    for line in paragraph.split("\n"):
        last = texts[-1][1][-1] if texts else None
        if (
            margin is not None
            and last is not None
            and _breaks_at(margin, last, line)
            and not _LIST_ITEM.match(line)
        ):
            texts[-1][1].append(line)
        else:
            texts.append((position, [line]))
        position += len(line) + 1
    return texts


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
