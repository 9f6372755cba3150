"""A few pairs to look at: for each reason a random choice that does not depend on who saw what first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

Pair = tuple[str, str]

N_SAMPLES = 5
MOST_CHARACTERS = 300
"""Characters of a side; the rest is cut, with an ellipsis."""


class Samples:
    """For each reason the ``N_SAMPLES`` different pairs of the smallest fingerprints.

    Fingerprints are as good as random numbers, and the smallest of a whole are among the smallest of its
    parts: samples of parts that were looked at apart, in any order, add up to those of the whole.
    """

    def __init__(self, found: Mapping[str, Sequence[tuple[int, Sequence[str]]]] | None = None) -> None:
        self._found: dict[str, list[tuple[int, Pair]]] = {
            reason: [(key, (pair[0], pair[1])) for key, pair in pairs]
            for reason, pairs in (found or {}).items()
        }

    def add(self, reason: str, key: int, pair: Pair) -> None:
        """Take notice of a pair with the fingerprint ``key``."""
        if not self.wants(reason, key):
            return
        known = self._found.setdefault(reason, [])
        if all(key != other for other, _ in known):
            known.append((key, (_cut(pair[0]), _cut(pair[1]))))
            known.sort()
            del known[N_SAMPLES:]

    def wants(self, reason: str, key: int) -> bool:
        """Whether a pair with this fingerprint could be a sample."""
        known = self._found.get(reason, [])
        return len(known) < N_SAMPLES or key < known[-1][0]

    def merge(self, other: Samples) -> None:
        """Take notice of all pairs that ``other`` knows."""
        for reason, pairs in other._found.items():
            for key, pair in pairs:
                self.add(reason, key, pair)

    def record(self) -> dict[str, list[tuple[int, Pair]]]:
        """For a JSON file from which ``Samples`` is made again."""
        return dict(self._found)

    def pairs(self, reason: str) -> list[Pair]:
        """The samples of a reason."""
        return [pair for _, pair in self._found.get(reason, ())]


def smallest(keys: Sequence[int]) -> list[int]:
    """Positions of the smallest keys, as many as there can be samples."""
    return heapq.nsmallest(N_SAMPLES, range(len(keys)), key=keys.__getitem__)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
