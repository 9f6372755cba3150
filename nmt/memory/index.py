"""Store of units that finds candidates: SQLite (``nmt.memory.sqlite``), and PostgreSQL in the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nmt.memory.candidates import GramIndex, candidates
from nmt.memory.matching import exact_match, fuzzy_matches
from nmt.memory.normal import NormalForm, key_number, normal_form
from nmt.memory.unit import DEFAULT_THRESHOLD, MemoryMatch, TranslationUnit

MOST_CANDIDATES, MOST_FOR_THE_BEST = 256, 64
"""Units that are scored for one text: where several are asked for, and where the best is."""


class UnitIndex(GramIndex, Protocol):
    """Units of memories that are known by a number."""

    def add(self, memory: int, units: Sequence[TranslationUnit]) -> int:
        """Store units that are not there yet; how many those were."""
        ...

    def with_keys(self, memory: int, numbers: Sequence[int]) -> dict[int, list[TranslationUnit]]:
        """The units whose keys have these numbers, the newest first."""
        ...

    def with_ids(self, memory: int, ids: Sequence[int]) -> list[tuple[str, TranslationUnit]]:
        """These units, as long as they are of this memory, each with its key."""
        ...

    def page(self, memory: int, after: int, most: int) -> list[TranslationUnit]:
        """The next units after the one with this id, in the order in which they came."""
        ...

    def remove(self, memory: int, most: int) -> int:
        """Delete units, at most so many; how many those were."""
        ...

    def merge(self, *, is_first: bool) -> bool:
        """Do some of the work that makes later look-ups faster; whether there is more of it."""
        ...


@dataclass(frozen=True)
class TranslationMemory:
    """The units of one memory, in one direction."""

    index: UnitIndex
    number: int
    languages: tuple[str, str]
    """Languages of source and target, as ISO 639-1 codes."""

    def exact(self, texts: Sequence[str]) -> dict[str, MemoryMatch]:
        """The translations of texts that the memory has, by text."""
        forms = {text: normal_form(text) for text in texts if text.strip()}
        numbers = {text: key_number(form.key) for text, form in forms.items()}
        found = self.index.with_keys(self.number, list(dict.fromkeys(numbers.values())))
        matches = {
            text: exact_match(text, form, found.get(numbers[text], ()), self.languages)
            for text, form in forms.items()
        }
        return {text: match for text, match in matches.items() if match is not None}

    def search(self, text: str, threshold: float = DEFAULT_THRESHOLD, limit: int = 5) -> list[MemoryMatch]:
        """The units most like a text, an exact match the first."""
        form = normal_form(text)
        exact = self.exact([text]).get(text)
        others = self._fuzzy(text, form, threshold, limit)
        if exact is None:
            return others
        return [exact, *(match for match in others if match.unit != exact.unit)][:limit]

    def best(self, text: str, threshold: float = DEFAULT_THRESHOLD) -> MemoryMatch | None:
        """The unit most like a text of which there is no exact match; None: no one is like enough."""
        return next(iter(self._fuzzy(text, normal_form(text), threshold, 1)), None)

    def _fuzzy(self, text: str, form: NormalForm, threshold: float, limit: int) -> list[MemoryMatch]:
        if not form.words or threshold >= 1:
            return []
        most = MOST_FOR_THE_BEST if limit == 1 else MOST_CANDIDATES
        ids = candidates(self.index, self.number, form.words, threshold)[:most]
        return fuzzy_matches(text, form, self.index.with_ids(self.number, ids), threshold, limit)
