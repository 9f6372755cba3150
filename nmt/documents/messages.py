"""Messages with ICU arguments: each branch is a text of its own, with the inline elements that are in it.

``You have {n, plural, one {<x/> file} other {<x/> files}}.`` is three texts: what is around the argument,
in which ``{n}`` stands for it, and its two branches. All else of the argument is copied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nmt.documents.extracted import check_count
from nmt.documents.inline import Item, Paragraph, Stack
from nmt.text.message_format import MAX_DEPTH, Argument, arguments

if TYPE_CHECKING:
    from nmt.extraction import Extract
    from nmt.pipeline.result import Translation

_OBJECT = "\ufffc"
_QUOTE = re.compile(r"(?<!')'(?=[{}])")


@dataclass(frozen=True)
class _Argument:
    """An argument taken apart."""

    stack: Stack
    """Containers around all of it."""
    pieces: tuple[tuple[Item, ...] | Message, ...]
    """Its syntax and its branches, in turn."""


@dataclass(frozen=True)
class Message:
    """Items, and the arguments among them; an ``Extracted[list[Item]]``."""

    paragraph: Paragraph
    """What is around the arguments; a kept text in container ``-1 - k`` stands for argument k."""
    arguments: tuple[_Argument, ...]
    has_quotes: bool
    """Its source quotes braces by apostrophes, so that they are not text."""

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """The text around the arguments, then those of their branches."""
        return (
            *self.paragraph.extracts,
            *(extract for branch in self._branches() for extract in branch.extracts),
        )

    def restore(self, translations: Sequence[Translation]) -> list[Item]:
        """The items of the translation; each element stays in its branch."""
        check_count(self.extracts, translations)
        read = len(self.paragraph.extracts)
        outer = self.paragraph.restore(translations[:read])
        branches: list[list[Item]] = []
        for branch in self._branches():
            branches.append(branch.restore(translations[read : read + len(branch.extracts)]))
            read += len(branch.extracts)
        remaining = iter(branches)
        written = [list(_written(argument, remaining)) for argument in self.arguments]
        restored: list[Item] = []
        for item in outer:
            number = next((number for number in item.stack if number < 0), None)
            restored += [item] if number is None else written[-1 - number]
        return [replace(item, text=self._escaped(item.text)) for item in restored]

    def _escaped(self, text: str) -> str:
        """An apostrophe before a brace would quote it: ``d'{name}`` is written ``d''{name}``."""
        return _QUOTE.sub("''", text) if self.arguments and not self.has_quotes else text

    def _branches(self) -> Iterator[Message]:
        for argument in self.arguments:
            yield from (piece for piece in argument.pieces if isinstance(piece, Message))


@dataclass(frozen=True)
class MessageText:
    """A string with ICU arguments; an ``Extracted[str]``."""

    message: Message

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """Those of the message."""
        return self.message.extracts

    def restore(self, translations: Sequence[Translation]) -> str:
        """The string with its texts translated."""
        return "".join(item.text for item in self.message.restore(translations))


def message(items: Sequence[Item], *, depth: int = 0) -> Message:
    """Take apart a row of items that is in ``depth`` branches; without arguments it is a paragraph alone."""
    shown = "".join(item.text if item.kind == "text" else _OBJECT for item in items)
    outer: list[Item] = []
    found: list[_Argument] = []
    read = 0
    for argument in arguments(shown) if depth < MAX_DEPTH else ():
        outer += _between(items, read, argument.span.start)
        taken = _taken_apart(items, argument, depth + 1)
        name = shown[argument.span.start + 1 : argument.span.end].partition(",")[0].strip()
        outer.append(Item("text", (*taken.stack, -1 - len(found)), f"{{{name}}}", keep=True))
        found.append(taken)
        read = argument.span.end
    outer += _between(items, read, len(shown))
    return Message(Paragraph(tuple(outer)), tuple(found), _QUOTE.search(shown) is not None)


def _taken_apart(items: Sequence[Item], argument: Argument, depth: int) -> _Argument:
    pieces: list[tuple[Item, ...] | Message] = []
    read = argument.span.start
    for branch in argument.branches:
        pieces.append(tuple(_between(items, read, branch.start)))
        pieces.append(message(_between(items, branch.start, branch.end), depth=depth))
        read = branch.end
    pieces.append(tuple(_between(items, read, argument.span.end)))
    stacks = [item.stack for item in _between(items, argument.span.start, argument.span.end)]
    depth = 0
    while all(len(stack) > depth and stack[depth] == stacks[0][depth] for stack in stacks):
        depth += 1
    return _Argument(stacks[0][:depth], tuple(pieces))


def _between(items: Sequence[Item], start: int, end: int) -> list[Item]:
    """Items of characters [start, end), texts cut there; what is no text takes one character."""
    found: list[Item] = []
    position = 0
    for item in items:
        length = len(item.text) if item.kind == "text" else 1
        first, last = max(start, position), min(end, position + length)
        if first < last:
            is_text = item.kind == "text"
            found.append(
                replace(item, text=item.text[first - position : last - position]) if is_text else item
            )
        position += length
    return found


def _written(argument: _Argument, branches: Iterator[list[Item]]) -> Iterator[Item]:
    for piece in argument.pieces:
        yield from next(branches) if isinstance(piece, Message) else piece
