"""A paragraph of text runs -> one text to translate, and its translation -> runs again.

Office documents, XLIFF and Markdown agree in this: a paragraph is a row of texts and objects (a picture, a
footnote's number), each inside of zero or more containers (a link, a span, a run's format). Containers and
objects become the tags of ``nmt.markup.projection``, which places them in the translation along the word
alignment. A *barrier* (a tab, a line break) parts texts that are translated each by itself.

    "Read " [link: "the " [bold: "whole"] " book"] footnote "."   ->   "Read the whole book."
                                                                       link 5:19, bold 9:14, footnote 19
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from nmt.documents.extracted import check_count, has_letters
from nmt.extraction import Extract
from nmt.markup.projection import Mark, Side, project
from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

Stack = tuple[int, ...]
"""Containers around an item, outermost first, by numbers that the format gives them."""


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
    spaced: bool = False
    """Of an object: it has white space on both sides, of which the text to translate holds one."""
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
            lines += [items[:first], _Line(tuple(_without_double_spaces(items[first:last]))), items[last:]]
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
        restored: list[Item] = []

        def write(index: int, span: Span, stack: Stack) -> None:
            """What is in mark ``index``: its children in the order of the translation, text around them."""
            read = span.start
            inner = sorted(children.get(index, ()), key=lambda child: (spans[child].start, spans[child].end))
            for child in inner:
                write_text(read, spans[child].start, stack)
                origin, read = origins[child], spans[child].start
                if isinstance(origin, Item):
                    restored.extend(_with_space(replace(origin, stack=stack), translation.text, read))
                else:
                    write(child, spans[child], (*stack, origin))
                read = spans[child].end
            write_text(read, span.end, stack)
            if not inner and span.start == span.end:
                restored.append(Item("text", stack))

        def write_text(start: int, end: int, stack: Stack) -> None:
            if start < end:
                restored.append(Item("text", stack, translation.text[start:end]))

        write(-1, Span(0, len(translation.text)), self._common_stack())
        return restored

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


def _without_double_spaces(items: Sequence[Item]) -> list[Item]:
    """An object between two spaces leaves one in the text: the translator knows nothing of it."""
    kept: list[Item] = []
    text = ""
    dropping: int | None = None
    for item in items:
        if item.kind == "object":
            if dropping is None and text[-1:].isspace():
                dropping = len(kept)
        elif item.text:
            if dropping is not None and item.text[0].isspace():
                kept[dropping] = replace(kept[dropping], spaced=True)
                item = replace(item, text=item.text[1:])
            dropping = None
        text += item.text
        kept.append(item)
    return kept


def _with_space(item: Item, text: str, place: int) -> list[Item]:
    """An object at a place of the translation, with the space that ``_without_double_spaces`` took."""
    space = Item("text", item.stack, " ")
    if item.spaced and place and not text[place - 1].isspace():
        return [space, item]
    if item.spaced and place < len(text) and not text[place].isspace():
        return [item, space]
    return [item]
