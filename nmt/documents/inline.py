"""A paragraph of text runs -> one text to translate, and its translation -> runs again.

Office documents, XLIFF and Markdown agree in this: a paragraph is a row of texts and objects (a picture, a
footnote's number), each inside of zero or more containers (a link, a span, a run's format). Containers and
objects become the tags of ``nmt.alignment.projection``, which places them in the translation along the word
alignment. A *barrier* (a tab, a line break) parts texts that are translated each by itself.

    "Read " [link: "the " [bold: "whole"] " book"] footnote "."   ->   "Read the whole book."
                                                                       link 5:19, bold 9:14, footnote 19
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from nmt.alignment.projection import Mark, Side, copied_within, lost_spaces, project
from nmt.documents.extracted import check_count, has_letters
from nmt.extraction import Extract
from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

Stack = tuple[int, ...]
"""Containers around an item, outermost first, by numbers that the format gives them."""


Space = Literal["as it is", "both", "before", "none"]
"""Of an object's white space, what the text to translate does not show: "both" sides have some, of which the
text holds one; there is some "before" it and a closing mark after it, of which the text holds none; there is
"none", where the text holds a space."""
_CLOSING = frozenset(",.;:!?)\u2026")
"""Marks that stand right after a word."""


@dataclass(frozen=True)
class Item:
    """A piece of a paragraph."""

    kind: Literal["text", "object", "barrier"]
    stack: Stack = ()
    text: str = ""
    """Of a text. In a result an empty one stands for a container that lost its text."""
    number: int = -1
    """Of an object or a barrier, given by the format."""
    keep: bool = False
    """A text that is copied, not translated."""
    side: Side = "none"
    """Of an object: the neighbour it goes with."""
    space: Space = "as it is"
    """Of an object: white space around it that the text to translate does not show."""
    separates: bool = False
    """Of an object: what is before and after it are different words even without white space."""
    in_order: bool = False
    """Of an object: half of a pair whose order must stay, such as a bookmark's start and end."""


@dataclass(frozen=True)
class Paragraph:
    """A row of items; an ``Extracted[list[Item]]``."""

    items: tuple[Item, ...]

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """One for each stretch between barriers that has letters."""
        return tuple(line.extract for line in self._lines() if isinstance(line, _Line))

    def restore(self, translations: Sequence[Translation]) -> list[Item]:
        """The items of the translation, with each object, barrier and container of the source."""
        check_count(self.extracts, translations)
        restored: list[Item] = []
        remaining = iter(translations)
        for line in self._lines():
            restored += line.restore(next(remaining)) if isinstance(line, _Line) else line
        return restored

    def _lines(self) -> list[_Line | list[Item]]:
        """What to translate, and what stays: barriers, stretches without letters, objects around a text."""
        lines: list[_Line | list[Item]] = []
        for is_barrier, group in groupby(self.items, lambda item: item.kind == "barrier"):
            items = list(group)
            if is_barrier or not has_letters("".join(item.text for item in items if not item.keep)):
                lines.append(items)
                continue
            places = [place for place, item in enumerate(items) if item.text.strip()]
            first, last = places[0], places[-1] + 1
            before, inner, after = _without_edges(items[first:last])
            lines += [items[:first] + before, _Line(tuple(_spaced(inner))), after + items[last:]]
        return lines


@dataclass(frozen=True)
class _Line:
    """Items of one text to translate, a text first and last."""

    items: tuple[Item, ...]

    @property
    def extract(self) -> Extract:
        keep: list[Span] = []
        text = ""
        for item in self.items:
            if item.keep and item.text.strip():
                start = len(text)
                if keep and keep[-1].end == start:
                    start = keep.pop().start
                keep.append(Span(start, len(text) + len(item.text)))
            text += item.text
        return Extract(text, tuple(keep))

    def restore(self, translation: Translation) -> list[Item]:
        """Items of the translation: properly nested containers, each object once."""
        marks, origins = self._marks()
        children: dict[int, list[int]] = {}
        spans = project(self.extract.text, marks, translation)
        for index, mark in enumerate(marks):
            children.setdefault(mark.parent, []).append(index)
        before, after = self._copies(marks, spans, translation)
        restored: list[Item] = []

        def write(index: int, span: Span, stack: Stack) -> None:
            """What is in mark ``index``: its children in the order of the translation, text around them."""
            read = span.start
            inner = sorted(children.get(index, ()), key=lambda child: (spans[child].start, spans[child].end))
            for child in inner:
                write_text(read, spans[child].start, stack)
                origin, read = origins[child], max(read, spans[child].start)
                if isinstance(origin, Item):
                    restored.extend(_with_space(replace(origin, stack=stack), translation.text, read))
                    read += origin.space == "none" and translation.text.startswith(" ", read)
                    continue
                if child in before:
                    restored.append(Item("text", stack, " "))
                write(child, spans[child], (*stack, origin))
                if child in after:
                    restored.append(Item("text", stack, " "))
                read = max(read, spans[child].end)
            write_text(read, span.end, stack)
            if not inner and span.start == span.end:
                restored.append(Item("text", stack))

        def write_text(start: int, end: int, stack: Stack) -> None:
            if start < end:
                restored.append(Item("text", stack, translation.text[start:end]))

        write(-1, Span(0, len(translation.text)), self._common_stack())
        return restored

    def _copies(
        self, marks: Sequence[Mark], spans: list[Span], translation: Translation
    ) -> tuple[set[int], set[int]]:
        """Copied marks that want a space before, and after, in the translation.

        One that the translator lost covers nothing, not the words that are in its place.
        """
        source, text = self.extract.text, translation.text
        kept = {(span.start, span.end) for span in self.extract.keep}
        copies: dict[int, tuple[Span, Span]] = {}
        lost: list[int] = []
        for index, mark in enumerate(marks):
            if (mark.start, mark.end) not in kept:
                continue
            found = spans[index]
            if text[found.start : found.end].casefold() != source[mark.start : mark.end].casefold():
                outer = spans[mark.parent] if mark.parent >= 0 else Span(0, len(text))
                spans[index] = copied_within(mark, translation.kept, outer) or Span(found.start, found.start)
                if spans[index].start == spans[index].end:
                    lost.append(index)
            copies[index] = Span(mark.start, mark.end), spans[index]
        before, after = lost_spaces(source, text, copies)
        before.update(index for index in lost if text[: spans[index].start][-1:].isalnum())
        after.update(index for index in lost if text[spans[index].end :][:1].isalnum())
        return before, after

    def _common_stack(self) -> Stack:
        """Containers around all items: they are around the whole translation, and no marks."""
        stacks = [item.stack for item in self.items]
        depth = 0
        while all(len(stack) > depth and stack[depth] == stacks[0][depth] for stack in stacks):
            depth += 1
        return stacks[0][:depth]

    def _marks(self) -> tuple[list[Mark], list[Item | int]]:
        """Marks of all containers and objects, and for each its object or the number of its container."""
        marks: list[Mark] = []
        origins: list[Item | int] = []
        common = len(self._common_stack())
        opened: list[int] = []
        position = 0
        for item in self.items:
            stack = item.stack[common:]
            shared = 0
            while shared < min(len(opened), len(stack)) and origins[opened[shared]] == stack[shared]:
                shared += 1
            del opened[shared:]
            for number in stack[shared:]:
                marks.append(Mark(position, position, opened[-1] if opened else -1))
                origins.append(number)
                opened.append(len(marks) - 1)
            if item.kind == "object":
                parent = opened[-1] if opened else -1
                marks.append(Mark(position, position, parent, side=item.side, in_order=item.in_order))
                origins.append(item)
            position += len(item.text)
            for index in opened:
                marks[index] = replace(marks[index], end=position)
        return marks, origins


def _without_edges(items: Sequence[Item]) -> tuple[list[Item], list[Item], list[Item]]:
    """White space before the first word, the items, white space after the last word."""
    inner = list(items)
    text = inner[0].text
    before = [replace(inner[0], text=text[: len(text) - len(text.lstrip())])]
    inner[0] = replace(inner[0], text=text.lstrip())
    text = inner[-1].text
    after = [replace(inner[-1], text=text[len(text.rstrip()) :])]
    inner[-1] = replace(inner[-1], text=text.rstrip())
    return [item for item in before if item.text], inner, [item for item in after if item.text]


def _spaced(items: Sequence[Item]) -> list[Item]:
    """Texts with the white space of a sentence without objects, of which the translator knows nothing.

    An object between two spaces leaves one; one before a comma leaves none; a line break leaves one. An
    object with white space on one side goes with the word on the other.
    """
    kept: list[Item] = []
    row: list[int] = []
    """Places of the objects since the last text."""
    for item in items:
        if item.kind == "object":
            row.append(len(kept))
        elif item.text and row:
            item = _settled(kept, row, item)
            row = []
        kept.append(item)
    return kept


def _settled(kept: list[Item], row: Sequence[int], item: Item) -> Item:
    """Say how the objects at places ``row`` of ``kept`` stand to the texts around; gives the next text."""
    place = next(p for p in reversed(range(row[0])) if kept[p].text)
    before, after = kept[place].text, item.text
    first = kept[row[0]]
    if before[-1].isspace() and after[0].isspace():
        kept[row[0]] = replace(first, space="both")
        return replace(item, text=after[1:])
    if before[-1].isspace() and after[0] in _CLOSING and before.strip():
        kept[place] = replace(kept[place], text=before[:-1])
        kept[row[0]] = replace(first, space="before", side="left")
    elif not before[-1].isspace() and not after[0].isspace():
        if any(kept[p].separates for p in row):
            kept[row[0]] = replace(first, space="none")
            return replace(item, text=f" {after}")
    elif before[-1].isspace() and any(kept[p].separates for p in row[1:]):
        end = next(p for p in row[1:] if kept[p].separates)
        kept[row[0]] = replace(first, space="both")
        kept[end] = replace(kept[end], space="none")
    else:
        side: Side = "right" if before[-1].isspace() else "left"
        for p in row:
            if kept[p].side == "none" and not kept[p].in_order:
                kept[p] = replace(kept[p], side=side)
    return item


def _with_space(item: Item, text: str, place: int) -> list[Item]:
    """An object at a place of the translation, with the space that ``_spaced`` took."""
    space = Item("text", item.stack, " ")
    after_space = place == 0 or text[place - 1].isspace()
    before_space = place == len(text) or text[place].isspace()
    if item.space in ("both", "before") and not after_space:
        return [space, item]
    if item.space == "both" and after_space and not before_space:
        return [item, space]
    return [item]
