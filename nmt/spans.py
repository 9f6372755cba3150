"""A span of a text: the one type that translation, extraction, markup and documents share. No torch here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """From ``start`` up to but not including ``end``, in characters (Unicode code points) or tokens."""

    start: int
    end: int


def overlap(span: Span, other: Span) -> bool:
    """Whether two spans share a character."""
    return span.start < other.end and other.start < span.end
