"""A text with some spans replaced, and the way between positions of the old text and the new."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from nmt.spans import Span


@dataclass(frozen=True)
class Edit:
    """Put ``text`` in the place of ``span``; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True)
class Rewriting:
    """``old`` became ``new``; ``replaced`` are the spans (in old, in new) that differ, in order."""

    old: str
    new: str
    replaced: tuple[tuple[Span, Span], ...]

    @classmethod
    def of(cls, old: str, edits: Iterable[Edit]) -> Rewriting:
        """Apply ``edits``, which must not overlap; two at one place are applied in the order given."""
        ordered = sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
        if not ordered:
            return cls(old, old, ())
        pieces: list[str] = []
        replaced: list[tuple[Span, Span]] = []
        read = written = 0
        for edit in ordered:
            if edit.span.start < read:
                raise ValueError(f"edits overlap at character {edit.span.start}")
            start = written + edit.span.start - read
            written = start + len(edit.text)
            pieces += [old[read : edit.span.start], edit.text]
            replaced.append((edit.span, Span(start, written)))
            read = edit.span.end
        return cls(old, "".join([*pieces, old[read:]]), tuple(replaced))

    def forward(self, start: int, end: int) -> Span:
        """The span of ``new`` for one of ``old``; what touches a replaced span takes in all of it."""
        return _mapped(start, end, self.replaced, self._starts[0])

    def backward(self, start: int, end: int) -> Span:
        """The span of ``old`` for one of ``new``."""
        return _mapped(start, end, self._inverse, self._starts[1])

    @cached_property
    def _inverse(self) -> tuple[tuple[Span, Span], ...]:
        return tuple((new, old) for old, new in self.replaced)

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """Where replaced spans begin, in old and in new."""
        return [old.start for old, _ in self.replaced], [new.start for _, new in self.replaced]


def _mapped(start: int, end: int, pairs: Sequence[tuple[Span, Span]], starts: Sequence[int]) -> Span:
    if not pairs:
        return Span(start, end)

    def position(place: int, *, is_end: bool) -> int:
        # an end belongs to what lies before it, a start to what lies after it
        index = bisect_right(starts, place - is_end) - 1
        if index < 0:
            return place
        source, target = pairs[index]
        if place < source.end or (is_end and place == source.end):
            return target.end if is_end else target.start
        return place - source.end + target.end

    first = position(start, is_end=False)
    return Span(first, max(first, position(end, is_end=True)) if end > start else first)
