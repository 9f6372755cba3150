"""Mixed content of XML (text with elements in it) -> items of a paragraph and back; for ODT and XLIFF."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Literal

from lxml import etree

from nmt.alignment.projection import Side
from nmt.documents.inline import Item, Paragraph, Stack
from nmt.text.mentions import is_mention

_WHITE_SPACE = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True)
class Role:
    """What an inline element is to translation."""

    kind: Literal["container", "object", "barrier", "text", "dropped"]
    text: str = ""
    """Of a "text": what the element stands for."""
    keep: bool = False
    """The text of a container is copied, not translated."""
    side: Side = "none"
    in_order: bool = False
    separates: bool = False
    pair: str = ""
    """Of an object: what it shares with its other half, such as ``bpt`` with ``ept``. The one to the "right"
    of which its text is opens the pair."""


class MixedContent:
    """The content of one element.

    Args:
        element: a paragraph, a source segment.
        role: of each element inside.
        collapse: white space is as in HTML; else every character counts.
    """

    def __init__(
        self, element: etree._Element, role: Callable[[etree._Element], Role], *, collapse: bool
    ) -> None:
        self._items: list[Item] = []
        self._elements: list[etree._Element] = []
        self._copied: set[int] = set()
        """Numbers of elements that are copied with all that is in them."""
        self._closing: dict[int, int] = {}
        """Number of the element that opens a pair around text -> that of the one that closes it."""
        self._groups: dict[int, tuple[int, ...]] = {}
        """Number of the element that opens a pair without text -> those of all up to its end."""
        self._role = role
        self._collapse = collapse
        self._read(element, (), keep=False)
        self._join_pairs()

    @property
    def items(self) -> tuple[Item, ...]:
        """What is in the element, in order."""
        return tuple(self._items)

    @property
    def paragraph(self) -> Paragraph:
        """The items, to be translated."""
        return Paragraph(self.items)

    def write(
        self,
        target: etree._Element,
        items: Sequence[Item],
        *,
        take: Callable[[etree._Element], etree._Element],
        add_text: Callable[[etree._Element, str], None],
    ) -> None:
        """Put ``items`` in the place of the content of ``target``.

        Args:
            target: the element that was read, or another one.
            items: restored from ``paragraph``.
            take: of an object or a barrier, itself (it moves) or a copy.
            add_text: appends text to an element, after what is in it already.
        """
        target.text = None
        for child in list(target):
            target.remove(child)
        opened: list[tuple[int, etree._Element]] = []

        def add(parent: etree._Element, number: int) -> None:
            element = take(self._elements[number])
            element.tail = None
            parent.append(element)

        def close(depth: int) -> None:
            while len(opened) > depth:
                number, parent = opened.pop()
                if number in self._closing:
                    add(parent, self._closing[number])

        for item in items:
            shared = 0
            while shared < min(len(opened), len(item.stack)) and opened[shared][0] == item.stack[shared]:
                shared += 1
            close(shared)
            for number in item.stack[shared:]:
                parent = opened[-1][1] if opened else target
                if number in self._closing:
                    add(parent, number)
                    opened.append((number, parent))
                else:
                    opened.append((number, self._opened(parent, number)))
            parent = opened[-1][1] if opened else target
            if not self._copied.isdisjoint(item.stack):
                continue
            if item.kind == "text":
                add_text(parent, item.text)
            else:
                for number in self._groups.get(item.number, (item.number,)):
                    add(parent, number)
        close(0)

    def _opened(self, parent: etree._Element, number: int) -> etree._Element:
        """A copy of an element in its new parent: empty, or whole if it is copied."""
        if number not in self._copied:
            return _empty_copy(parent, self._elements[number])
        copied = deepcopy(self._elements[number])
        copied.tail = None
        parent.append(copied)
        return copied

    def _read(self, element: etree._Element, stack: Stack, *, keep: bool) -> None:
        self._add_text(element.text, stack, keep=keep)
        for child in element:
            role = self._role(child)
            number = len(self._elements)
            self._elements.append(child)
            if role.kind == "container":
                self._read(child, (*stack, number), keep=keep or role.keep)
                text = "".join(item.text for item in self._items if number in item.stack)
                if not text.strip():
                    self._items = [item for item in self._items if number not in item.stack]
                    self._items.append(Item("object", stack, number=number))
                elif len(child) and is_mention(text):
                    self._items = [item for item in self._items if number not in item.stack]
                    self._items.append(Item("text", (*stack, number), text, keep=True))
                    self._copied.add(number)
            elif role.kind == "text":
                self._items.append(Item("text", stack, role.text, keep=keep))
            elif role.kind != "dropped":
                self._items.append(
                    Item(
                        role.kind,
                        stack,
                        number=number,
                        side=role.side,
                        in_order=role.in_order,
                        separates=role.separates,
                    )
                )
            self._add_text(child.tail, stack, keep=keep)

    def _join_pairs(self) -> None:
        """Two halves of a pair in one parent become a container of the text between, or one object.

        Halves without the other, pairs that overlap each other, and those around a barrier stay objects.
        """
        opened: list[tuple[str, Item]] = []
        for item in list(self._items):
            role = self._role(self._elements[item.number]) if item.kind == "object" else None
            if role is None or not role.pair or item.number in self._copied:
                continue
            if role.side == "right":
                opened.append((role.pair, item))
                continue
            keys = [(pair, one.stack) for pair, one in opened]
            if (role.pair, item.stack) not in keys:
                continue
            place = keys.index((role.pair, item.stack))
            if place == len(opened) - 1:
                self._join(opened[place][1], item)
            del opened[place:]

    def _join(self, first: Item, last: Item) -> None:
        start, end = self._items.index(first), self._items.index(last)
        inner = self._items[start + 1 : end]
        if all(item.kind == "object" and item.stack == first.stack for item in inner):
            self._groups[first.number] = tuple(
                number
                for item in (first, *inner, last)
                for number in self._groups.get(item.number, (item.number,))
            )
            self._items[start : end + 1] = [replace(first, side="none", in_order=False)]
        elif any(item.text.strip() for item in inner) and all(item.kind != "barrier" for item in inner):
            depth = len(first.stack)
            self._closing[first.number] = last.number
            self._items[start : end + 1] = [
                replace(item, stack=(*item.stack[:depth], first.number, *item.stack[depth:]))
                for item in inner
            ]

    def _add_text(self, text: str | None, stack: Stack, *, keep: bool) -> None:
        if text and self._collapse:
            text = _WHITE_SPACE.sub(" ", text)
        if text:
            self._items.append(Item("text", stack, text, keep=keep))


def add_text(parent: etree._Element, text: str) -> None:
    """Append ``text`` to ``parent``, after its last child."""
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _empty_copy(parent: etree._Element, element: etree._Element) -> etree._Element:
    return etree.SubElement(parent, element.tag, dict(element.attrib), nsmap=copy(element.nsmap))
