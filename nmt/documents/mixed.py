"""Mixed content of XML (text with elements in it) -> items of a paragraph and back; for ODT and XLIFF."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from nmt.documents.inline import Item, Paragraph, Stack
from nmt.markup.projection import Side
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
        self._role = role
        self._collapse = collapse
        self._read(element, (), keep=False)

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
        for item in items:
            shared = 0
            while shared < min(len(opened), len(item.stack)) and opened[shared][0] == item.stack[shared]:
                shared += 1
            del opened[shared:]
            for number in item.stack[shared:]:
                parent = opened[-1][1] if opened else target
                opened.append((number, self._opened(parent, number)))
            parent = opened[-1][1] if opened else target
            if not self._copied.isdisjoint(item.stack):
                continue
            if item.kind == "text":
                add_text(parent, item.text)
            else:
                element = take(self._elements[item.number])
                element.tail = None
                parent.append(element)

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
                text = "".join(str(text) for text in child.itertext())
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
