"""Does a translation repeat itself beyond what its source repeats? By words, word n-grams and characters.

Search ends hypotheses of tokens that go round in circles (``nmt.search.loops``); this looks at finished text,
where a loop may have ended by itself, be inexact, or hide inside a word ("Oddddddd").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

LONGEST_PERIOD = 8
REPEATS = 3
"""How often a sequence of words may come again one after the other."""
LEAST_WORD_RUN = 4
"""A single word may come again once more: French writes a trillion as 1 000 000 000 000."""
NGRAM = 3
MOST_NGRAMS = 4
"""A word n-gram may be there so often, adjacent or not, and twice for each repetition in the source."""
LEAST_CHARACTERS = 9
"""Shorter runs inside a word are people's own: "aaaah", "hahaha"."""

_WORD = re.compile(r"\w+")
_CHARACTER_RUN = re.compile(r"(\S{1,6}?)\1{4,}")


def repeats_itself(source: str, target: str) -> bool:
    """Whether ``target`` holds a loop that ``source`` does not explain."""
    written = _words(target)
    if len(written) > LEAST_WORD_RUN and len(written) - len(set(written)) >= REPEATS:
        read = _words(source)
        if _word_loop(read, written):
            return True
        if _most_frequent(written) > MOST_NGRAMS + 2 * (_most_frequent(read) - 1):
            return True
    characters = longest_character_run(target)
    return characters >= LEAST_CHARACTERS and characters > 2 * longest_character_run(source)


def longest_run(items: Sequence[str], period: int) -> int:
    """The most items in a row that each equal the one ``period`` places before."""
    longest = run = 0
    for before, item in zip(items, items[period:], strict=False):
        run = run + 1 if item == before else 0
        longest = max(longest, run)
    return longest


def longest_character_run(text: str) -> int:
    """Characters in the longest stretch of five or more equal parts of at most six characters each."""
    return max((len(match.group()) for match in _CHARACTER_RUN.finditer(text)), default=0)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _word_loop(read: Sequence[str], written: Sequence[str]) -> bool:
    """A run of words, four times the same or more, that is over twice as long as any in the source."""
    allowed: int | None = None
    for period in range(1, LONGEST_PERIOD + 1):
        least = max(REPEATS * period, LEAST_WORD_RUN)
        if len(written) < least + period:
            return False
        run = longest_run(written, period)
        if run >= least:
            if allowed is None:
                allowed = 2 * max(longest_run(read, p) for p in range(1, LONGEST_PERIOD + 1))
            if run > allowed:
                return True
    return False


def _most_frequent(words: Sequence[str]) -> int:
    """How often the most frequent n-gram of words is there; at least once."""
    ngrams = Counter(zip(*(words[start:] for start in range(NGRAM)), strict=False))
    return max(ngrams.values(), default=1)
