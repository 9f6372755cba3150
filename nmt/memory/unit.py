"""Units of a translation memory, and matches found in it."""

from __future__ import annotations

from dataclasses import dataclass

from nmt.errors import InputError

MOST_CHARACTERS = 10_000
"""Characters of one side of a unit. Longer ones are left out when a file is read, and counted."""
LEAST_THRESHOLD, DEFAULT_THRESHOLD = 0.5, 0.75
"""Least score of fuzzy matches. Below one half two texts have more words apart than in common."""
NEARLY = 0.99
"""The most that a match may score that is not the translation as it stands."""


@dataclass(frozen=True)
class TranslationUnit:
    """A segment and its translation. ``id`` is the memory's own, 0 for one that is not stored."""

    source: str
    target: str
    id: int = 0


@dataclass(frozen=True)
class MemoryMatch:
    """A unit that was found for a text."""

    text: str
    """Text that was looked up."""
    source: str
    """Source of the unit."""
    target: str
    """Target of the unit; of an exact match with the numbers and placeholders of ``text``."""
    score: float
    """1: the target translates the text as it stands. Less: the share of words that need no edit."""
    unit: int

    @property
    def is_exact(self) -> bool:
        """Whether the target is the translation."""
        return self.score >= 1.0


def check_threshold(field: str, threshold: float) -> float:
    """``threshold`` as it is. Raises ``InputError`` where it is out of range."""
    if not LEAST_THRESHOLD <= threshold <= 1:
        raise InputError(
            f"{field} {threshold:g} is out of range: give {LEAST_THRESHOLD:g} to 1; "
            "1 takes exact matches alone"
        )
    return threshold
