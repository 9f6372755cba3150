"""Look up the translations of a word: bisection in a sorted file, of which only the pages needed are read."""

from __future__ import annotations

import mmap
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
MOST_REMEMBERED = 20_000
"""Words whose entry is kept: few words make up most of a text."""


@dataclass(frozen=True)
class WordTranslations:
    """Entry of one word."""

    count: int
    """Links of the word in the corpora."""
    forms: tuple[tuple[str, int], ...]
    """Words that it is linked to, and how often; the most frequent first."""

    def share(self, form_count: int) -> float:
        """Lexical translation probability: the share of the word's links."""
        return form_count / self.count


@lru_cache(maxsize=MOST_REMEMBERED)
def translations_of(word: str, source_language: str, target_language: str) -> WordTranslations | None:
    """The entry of a word in lower case; None: the word or the table is unknown.

    Args:
        word: as ``nmt.alignment.tokens`` counts it.
        source_language: ISO 639-1 code of it.
        target_language: of its translations.
    """
    table = _file(source_language, target_language)
    line = None if table is None else _find(table, word.encode())
    if line is None:
        return None
    _, count, forms = line.decode().split("\t")
    pairs = (one.rsplit(":", 1) for one in forms.split(" "))
    return WordTranslations(int(count), tuple((form, int(n)) for form, n in pairs))


def _find(table: mmap.mmap, word: bytes) -> bytes | None:
    """The line that begins with a word; lines are sorted by their bytes."""
    key = word + b"\t"
    low, high = 0, len(table)
    while low < high:
        start = table.rfind(b"\n", 0, (low + high) // 2) + 1
        end = table.find(b"\n", start)
        line = table[start:end]
        if line.startswith(key):
            return line
        if line.split(b"\t", 1)[0] < word:
            low = end + 1
        else:
            high = start
    return None


@cache
def _file(source_language: str, target_language: str) -> mmap.mmap | None:
    path = FOLDER / f"{source_language}-{target_language}.tsv"
    if not path.exists():
        return None
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
