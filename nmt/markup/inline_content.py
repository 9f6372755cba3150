"""Inline content between two block tags, as one text to translate and the tags to put back in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt.alignment.projection import Mark, copied_within, lost_spaces, project
from nmt.extraction import Extract
from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

Escape = Callable[[str], str]
RawText = Callable[[int, int], str]
"""Characters [start, end) of the markup, its attributes translated."""


@dataclass(frozen=True)
class Tag:
    """Tags written at a mark: markup spans, none for no end tag."""

    opening: Span
    closing: Span | None = None
    is_copy: bool = False
    """The opening stands for all that the mark covers."""
    spaced: bool = False
    """It covers no word and had white space on both sides, of which the text has one."""
    glued: bool = False
    """It covers no word and had no white space on either side, where the text has one."""


@dataclass(frozen=True)
class InlineContent:
    """A text to translate and its tags; it takes the place of characters [start, end) of the markup."""

    start: int
    end: int
    extract: Extract
    marks: tuple[Mark, ...]
    tags: tuple[Tag, ...]
    references: Mapping[str, str]
    """Character -> how the source spells it."""

    @property
    def extracts(self) -> Sequence[Extract]:
        """Its one text."""
        return (self.extract,)

    def restore(self, translation: Translation, raw: RawText, escape: Escape) -> str:
        """The translation as markup."""
        text = translation.text
        spans, moved = self._spans(translation)
        children: list[list[int]] = [[] for _ in range(len(self.marks) + 1)]
        for index, mark in enumerate(self.marks):
            children[mark.parent].append(index)  # the text itself is the last
        for indices in children:
            indices.sort(key=lambda index: (spans[index].start, spans[index].end, index))

        copies = {
            index: (Span(mark.start, mark.end), spans[index])
            for index, mark in enumerate(self.marks)
            if self.tags[index].is_copy
        }
        before, after = lost_spaces(self.extract.text, text, copies)
        written: list[str] = []
        read = 0

        def write(end: int) -> None:
            nonlocal read
            while moved and moved[0].start < end:
                skipped = moved.pop(0)
                write(skipped.start)
                read = max(read, skipped.end)
            if end > read:
                written.append(self._spelled(text[read:end], escape))
                read = end

        stack: list[tuple[int, Iterator[int]]] = [(-1, iter(children[-1]))]
        while stack:
            outer, rest = stack[-1]
            index = next(rest, -1)
            if index < 0:
                stack.pop()
                if outer >= 0:
                    write(spans[outer].end)
                    closing = self.tags[outer].closing
                    if closing is not None:
                        written.append(raw(closing.start, closing.end))
                continue
            write(spans[index].start)
            tag = self.tags[index]
            # a copy that the translator lost, or put elsewhere, has no white space of its own
            is_apart = tag.is_copy and spans[index].start == spans[index].end
            if (tag.spaced and read) or (is_apart and text[read - 1 : read].isalnum()) or index in before:
                written.append(" ")
            written.append(raw(tag.opening.start, tag.opening.end))
            if tag.is_copy:
                if (is_apart and text[read : read + 1].isalnum()) or index in after:
                    written.append(" ")
                read = max(read, spans[index].end)
            elif tag.glued and text.startswith(" ", read):
                read += 1
            stack.append((index, iter(children[index])))
        write(len(text))
        return "".join(written)

    def _spans(self, translation: Translation) -> tuple[list[Span], list[Span]]:
        """Target characters of each mark, and those that are not written: copies that had to move.

        A copy that the translator lost, or that is not within its parent there, covers nothing.
        """
        kept = dict(translation.kept)
        spans = project(self.extract.text, self.marks, translation)
        moved: list[Span] = []
        for index, (mark, tag) in enumerate(zip(self.marks, self.tags, strict=True)):
            if tag.is_copy:
                source, found = Span(mark.start, mark.end), spans[index]
                literal = self.extract.text[mark.start : mark.end]
                if source in kept and found != kept[source]:
                    moved.append(_with_space(translation.text, kept[source]))
                if found != kept.get(source) and translation.text[found.start : found.end] != literal:
                    outer = spans[mark.parent] if mark.parent >= 0 else Span(0, len(translation.text))
                    part = None if source in kept else copied_within(mark, translation.kept, outer)
                    spans[index] = part or Span(found.start, found.start)
        return spans, sorted(moved, key=lambda span: span.start)

    def _spelled(self, text: str, escape: Escape) -> str:
        """Escaped, but as the source spells it where it does."""
        if not self.references:
            return escape(text)
        spelled = re.split("([" + re.escape("".join(self.references)) + "])", text)
        return "".join(self.references.get(piece) or escape(piece) for piece in spelled)


def _with_space(text: str, span: Span) -> Span:
    """The span with one of the spaces around it, for what is taken out of ``text``."""
    is_last, is_first = span.end == len(text), span.start == 0
    if text[: span.start].endswith(" ") and (is_last or text.startswith(" ", span.end)):
        return Span(span.start - 1, span.end)
    if is_first and text.startswith(" ", span.end):
        return Span(span.start, span.end + 1)
    return span
