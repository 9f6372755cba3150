"""What may be known of a language. Every field has a neutral value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

CAPITALISED_WORD = r"(?:[^\W\d_a-zß-öø-ÿ][^\W\d_]*(?:['’-](?!s\b)[^\W\d_]+)*)"
FIRST_WORD = r"[^\W\d_a-zà-öø-ÿ][^\W\d_]{3,}"
"""A word that begins a sentence and may be a name."""
SPACES = "\u0020\u00a0\u202f\u2009"
"""Between the groups of a number, and before a sign."""


@dataclass(frozen=True)
class Language:
    """The rules of one language."""

    code: str
    """ISO 639-1."""
    script: str | None = None
    """In the names of its letters in Unicode: LATIN."""

    decimal_point: str | None = None
    group_mark: str = ","
    """Between thousands."""
    spaced_marks: str = ""
    """Marks before which it writes a space."""
    money_with_sign: re.Pattern[str] | None = None
    """An amount with its sign where the language has it."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Symbols of units, and what tells that a translation of a text in this language has them."""
    cardinals: tuple[str, ...] = ()
    """Zero to twenty."""
    ordinals: tuple[str, ...] = ()
    """Of the hour or the rank 0 to 10."""

    longest_small_word: int = 3
    """Letters of the words that a headline does not begin with a capital."""
    capitalised: frozenset[str] = frozenset()
    """Words with a capital wherever they stand, that other languages have words of their own for."""
    always_capital: frozenset[str] = frozenset()
    """Words that keep their capital though the whole source has none."""

    unmistakable: frozenset[str] = frozenset()
    """Frequent words that few other languages write so: two different ones tell the language."""
    telling: frozenset[str] = frozenset()
    """More frequent words that tell it from those that are known, though not from others."""
    endings: tuple[str, ...] = ("",)
    """Of words of one stem; "" is the stem alone."""
    short_share: float = 0.35
    """A translation of fewer characters than this share of its source's has lost some of it."""

    articles: re.Pattern[str] | None = None
    """One article, and the white space after it."""
    determiners: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Forms of one determiner, or another small word: before a consonant, and before a vowel."""
    titles: str = ""
    """A pattern of what stands before a person's name."""
    labels: str = ""
    """A pattern of what stands before a colon and a name."""
    street: str = ""
    """A pattern of an address that begins with its number."""
    first_name: re.Pattern[str] | None = None
    """A first word that may be a name: it looks like no form of another word."""

    negations: re.Pattern[str] | None = None
    denying: re.Pattern[str] | None = None
    """What may be written in the place of another language's negation."""
    negated_question: re.Pattern[str] | None = None
    """A question that other languages ask without a negation."""
