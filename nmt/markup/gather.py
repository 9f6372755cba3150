"""Inline markup -> its text, and a mark for each tag.

White space is treated as HTML does: a run of it is one space, at the edges it is nothing. The tags and the
white space before the first and after the last word stay outside, untouched; so do tags around all of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from nmt.alignment.projection import Mark, Side
from nmt.extraction import Extract
from nmt.markup.inline_content import InlineContent, Tag
from nmt.spans import Span

_SPACE = re.compile(r"([ \t\n\f\r]+)")
_CLOSING = frozenset(",.;:!?)\u2026")
"""Marks that stand right after a word."""
_SPELLED = re.compile(r"[^\sA-Za-z0-9]|[\u00a0\u202f]")
"""Characters that are written as the source writes them, ``&eacute;`` for one."""


class Role(Enum):
    """Role of an item in inline content."""

    TEXT = auto()
    REFERENCE = auto()
    OPEN = auto()
    CLOSE = auto()
    POINT = auto()
    COPY = auto()
    """Copied markup that is a word of the sentence: ``<code>x</code>``."""


@dataclass
class Item:
    """A token of inline content, or a copied element: characters [start, end) of the markup."""

    role: Role
    start: int
    end: int
    text: str = ""
    """Text that TEXT and REFERENCE stand for; the word that COPY is."""
    spelling: str = ""
    """Spelling of a REFERENCE."""
    partner: int | None = None
    """Place of the other one of OPEN and CLOSE in the content; None where it is not in it."""
    is_stray: bool = False
    """Whether the other one of OPEN and CLOSE is nowhere."""
    separates: bool = False

    @property
    def is_text(self) -> bool:
        """It is characters of the text."""
        return self.role in {Role.TEXT, Role.REFERENCE}

    @property
    def is_visible(self) -> bool:
        """A reader sees it as a word or a mark."""
        return self.role is Role.COPY or (self.is_text and bool(self.text.strip()))

    @property
    def span(self) -> Span:
        """Where it is in the markup."""
        return Span(self.start, self.end)


def gather(items: Sequence[Item], *, keeps_space: bool, keeps_runs: bool = False) -> InlineContent | None:
    """The content of ``items``; None when there is no letter in it to translate.

    Args:
        items: text and inline tags in order, as many as stand between two block tags.
        keeps_space: white space stays as it is, as in ``<pre>``.
        keeps_runs: a run of it is not one space, but as long as it was.
    """
    if not any(item.is_text and any(map(str.isalpha, item.text)) for item in items):
        return None
    first, last = _core(items)
    core = [replace(item) for item in items[first : last + 1]]
    if core[0].role is Role.TEXT:
        core[0].text = core[0].text.lstrip()
        core[0].start = core[0].end - len(core[0].text)
    if core[-1].role is Role.TEXT:
        core[-1].text = core[-1].text.rstrip()
        core[-1].end = core[-1].start + len(core[-1].text)
    gathered = _Gathering(keeps_space, keeps_runs)
    gathered.add_all(core)
    references: dict[str, str] = {}
    for item in core:
        if item.role is Role.REFERENCE and _SPELLED.fullmatch(item.text):
            references.setdefault(item.text, item.spelling)
    return InlineContent(
        start=core[0].start,
        end=core[-1].end,
        extract=Extract("".join(gathered.parts), tuple(gathered.keep)),
        marks=tuple(gathered.marks),
        tags=tuple(gathered.tags),
        references=references,
    )


def _core(items: Sequence[Item]) -> tuple[int, int]:
    """First and last item of what is translated; tags before and after it stay where they are.

    A tag before the first word belongs to it if its element ends among the words; the same at the end.
    """
    visible = [place for place, item in enumerate(items) if item.is_visible]
    first, last = visible[0], visible[-1]
    for place in range(visible[0]):
        partner = items[place].partner
        if items[place].role is Role.OPEN and partner is not None and visible[0] < partner < last:
            first = place
            break
    for place in range(len(items) - 1, visible[-1], -1):
        partner = items[place].partner
        if items[place].role is Role.CLOSE and partner is not None and first <= partner < visible[-1]:
            last = place
            break
    return first, last


def _n_from_before(items: Sequence[Item]) -> int:
    """How many elements end in the content that began before it."""
    depth = lowest = 0
    for item in items:
        if not item.is_stray:
            depth += (item.role is Role.OPEN) - (item.role is Role.CLOSE)
            lowest = min(lowest, depth)
    return -lowest


@dataclass
class _Waiting:
    """A mark that may turn out to cover no word; its side is known when the next word has come."""

    index: int
    after_space: bool
    """There was white space between the last word and it."""
    right_after_space: bool
    """The same, with no other mark between."""
    n_spaces: int
    is_point: bool
    separated: bool
    """The text has a space here only for its sake."""


class _Gathering:
    """Text and marks so far."""

    def __init__(self, keeps_space: bool, keeps_runs: bool) -> None:
        self.parts: list[str] = []
        self.keep: list[Span] = []
        self.marks: list[Mark] = []
        self.tags: list[Tag] = []
        self._keeps_space, self._keeps_runs = keeps_space, keeps_runs
        self._run = " "
        """The white space that is due."""
        self._length = 0
        self._space_due = False
        self._n_spaces = 0
        """Runs of white space since the last word."""
        self._waiting: list[_Waiting] = []

    def add_all(self, items: Sequence[Item]) -> None:
        """Elements are told by the order of their tags alone, so crossed ones stay crossed."""
        opened = [-1]
        for _ in range(_n_from_before(items)):
            self.marks.append(Mark(0, 0, opened[-1], goes_on="before"))
            self.tags.append(Tag(Span(0, 0)))
            opened.append(len(self.marks) - 1)
        for item in items:
            if item.is_text:
                self._text(item.text)
            elif item.role is Role.COPY:
                self._word(item.text)
                self.keep.append(Span(self._length - len(item.text), self._length))
                self.marks.append(Mark(self.keep[-1].start, self.keep[-1].end, opened[-1]))
                self.tags.append(Tag(item.span, is_copy=True))
            elif item.is_stray:
                self._point(item, -1, in_order=True)
            elif item.role is Role.POINT:
                self._point(item, opened[-1])
            elif item.role is Role.OPEN:
                self._point(item, opened[-1])
                opened.append(len(self.marks) - 1)
            else:
                self._close(opened.pop(), item.span)
        self._settle("")
        for index in opened[1:]:
            self.marks[index] = replace(self.marks[index], goes_on="after")
            self._close(index, None)

    def _text(self, text: str) -> None:
        if self._keeps_space:
            self._word(text)
            return
        for part in _SPACE.split(text):
            if part and not _SPACE.match(part):
                self._word(part)
            elif part:
                self._n_spaces += 1
                if self._keeps_runs and not self._space_due:
                    self._run = part
                self._space_due = self._length > 0

    def _word(self, word: str) -> None:
        if self._waiting and word[0] in _CLOSING:
            latest = self._waiting[-1]
            is_apart = latest.right_after_space or latest.separated
            if latest.is_point and is_apart and self._n_spaces == latest.n_spaces:
                self._space_due = False  # "Hello <x/>, you" is the sentence "Hello, you"
        self._settle(word, spaced=not self._space_due)
        if self._space_due:
            self.parts.append(self._run)
            self._length += len(self._run)
        self.parts.append(word)
        self._length += len(word)
        self._space_due, self._n_spaces, self._run = False, 0, " "

    def _point(self, item: Item, parent: int, *, in_order: bool = False) -> None:
        here = self._length + (len(self._run) if self._space_due else 0)
        seen = self._waiting[-1].n_spaces if self._waiting else 0
        separated = item.separates and self._length > 0 and not self._space_due
        self._waiting.append(
            _Waiting(
                index=len(self.marks),
                after_space=self._n_spaces > 0,
                right_after_space=self._n_spaces > seen,
                n_spaces=self._n_spaces,
                is_point=item.role is Role.POINT,
                separated=separated,
            )
        )
        self.marks.append(Mark(here, here, parent, in_order=in_order))
        self.tags.append(Tag(item.span))
        self._space_due = self._space_due or separated

    def _close(self, index: int, closing: Span | None) -> None:
        mark, tag = self.marks[index], replace(self.tags[index], closing=closing)
        if self._length > mark.start:
            mark = replace(mark, end=self._length, side="none")
            tag = replace(tag, spaced=False, glued=False)
        self.marks[index], self.tags[index] = mark, tag

    def _settle(self, word: str, *, spaced: bool = False) -> None:
        """Where do the marks before the next word belong?

        Args:
            word: the next one; empty at the end.
            spaced: the space before the marks is not in the text, so that it has to be written with them.
        """
        for waiting in self._waiting:
            before, after = waiting.after_space, self._n_spaces > waiting.n_spaces
            side: Side = "none"
            if word and before != after:
                side = "right" if before and not spaced else "left"
            elif word[:1] in _CLOSING and not after:
                side = "left"
            mark, tag = self.marks[waiting.index], self.tags[waiting.index]
            here = min(mark.start, self._length) if spaced else mark.start
            end = here if mark.start == mark.end else max(here, mark.end)
            self.marks[waiting.index] = replace(mark, start=here, end=end, side=side)
            self.tags[waiting.index] = replace(
                tag,
                spaced=before and (after or spaced or not word) and waiting.right_after_space,
                glued=waiting.separated and not after and not spaced,
            )
        self._waiting = []
