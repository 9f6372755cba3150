"""A flow: inline content between two block tags, as one text to translate and the tags to put back in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt.extraction import Extract
from nmt.markup.projection import Mark, project
from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.translation import Translation

Escape = Callable[[str], str]
RawText = Callable[[int, int], str]
"""Characters [start, end) of the markup, its attributes translated."""


@dataclass(frozen=True)
class Tag:
    """What is written at a mark: markup spans, none for no end tag."""

    opening: Span
    closing: Span | None = None
    is_copy: bool = False
    """The opening stands for all that the mark covers."""
    spaced: bool = False
    """It covers no word and had white space on both sides, of which the text has one."""
    glued: bool = False
    """It covers no word and had no white space on either side, where the text has one."""


@dataclass(frozen=True)
class Flow:
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
        spans = self._spans(translation)
        children: list[list[int]] = [[] for _ in range(len(self.marks) + 1)]
        for index, mark in enumerate(self.marks):
            children[mark.parent].append(index)  # the text itself is the last
        for indices in children:
            indices.sort(key=lambda index: (spans[index].start, spans[index].end, index))

        written: list[str] = []
        read = 0

        def write(end: int) -> None:
            nonlocal read
            if end > read:
                written.append(self._spelled(escape(text[read:end])))
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
            if tag.spaced and read:
                written.append(" ")
            written.append(raw(tag.opening.start, tag.opening.end))
            if tag.is_copy:
                if spans[index].start == spans[index].end and text[read : read + 1].isalnum():
                    written.append(" ")  # the translator lost it, so there is no space for it
                read = max(read, spans[index].end)
            elif tag.glued and text.startswith(" ", read):
                read += 1
            stack.append((index, iter(children[index])))
        write(len(text))
        return "".join(written)

    def _spans(self, translation: Translation) -> list[Span]:
        """Target characters of each mark. A copy that cannot be found in the translation covers nothing."""
        kept = dict(getattr(translation, "kept", ()))
        spans = project(self.extract.text, self.marks, translation)
        for index, (mark, tag) in enumerate(zip(self.marks, self.tags, strict=True)):
            if tag.is_copy:
                copied = Span(mark.start, mark.end)
                literal = self.extract.text[mark.start : mark.end]
                found = kept.get(copied, spans[index])
                if copied not in kept and translation.text[found.start : found.end] != literal:
                    found = Span(found.start, found.start)
                spans[index] = found
        return spans

    def _spelled(self, escaped: str) -> str:
        if not self.references:
            return escaped
        return "".join(self.references.get(character, character) for character in escaped)
