"""Units that may be like a text: those that have a part of it, see ``nmt.memory.grams``.

An index reads the list of a frequent gram for long, although it tells little beside a rare one. So the first
units of each gram are read, which shows how rare it is; then sets of grams are asked for without those.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from nmt.memory.grams import parts_of

UNITS_A_PART = 64
RARE_FIRST = (2, 3)
"""Grams of several parts that are asked for together, before all of them are."""
MOST_FREQUENT = 64
"""A gram this many times as frequent as the rarest of a set is left out of it."""


class GramIndex(Protocol):
    """Units by the grams that they have."""

    def with_grams(self, sets: Sequence[Sequence[int]], most: int) -> list[list[int]]:
        """For each of several sets of gram numbers the ids of at most so many units that have all of it."""
        ...

    def firsts(self, numbers: Sequence[int], most: int) -> dict[int, list[int]]:
        """For each gram number the ids of the first units that have it, at most so many, in their order.

        Empty where the index need not read all of a frequent gram's list to find it beside a rare one.
        """
        ...


def candidates(index: GramIndex, memory: int, words: Sequence[str], threshold: float) -> list[int]:
    """Ids of units that have a part of a text, those first that have several, or parts that few have.

    Of a part that many units have only some are read. Where there are several such parts, the units that
    have all of them but one are asked for as well: those have the fewest edits.
    """
    parts = parts_of(memory, words, threshold)
    firsts = index.firsts(list({number for part in parts for number in part}), UNITS_A_PART)
    grams = _Grams(index, firsts, _rarities(firsts))
    found = grams.units([grams.telling(part) for part in parts])
    frequent = [part for part, ids in zip(parts, found, strict=True) if len(ids) == UNITS_A_PART]
    if len(frequent) > 1:
        found += _but_one(grams, frequent)
    weights: defaultdict[int, float] = defaultdict(float)
    for ids in found:
        for id_ in ids:
            weights[id_] += 1 / len(ids)
    return sorted(weights, key=weights.__getitem__, reverse=True)


@dataclass(frozen=True)
class _Grams:
    """The grams of a text, and the first units of each, if the index tells them."""

    index: GramIndex
    firsts: dict[int, list[int]]
    rarity: dict[int, float]
    """About how many units one has to go through to find ``UNITS_A_PART`` with the gram."""

    def telling(self, numbers: Iterable[int]) -> tuple[int, ...]:
        """A set of grams, the rarest first, without those that tell little beside it."""
        ordered = sorted(set(numbers), key=lambda number: (-self.rarity.get(number, 0.0), number))
        least = self.rarity.get(ordered[0], 0.0) / MOST_FREQUENT
        return tuple(number for number in ordered if self.rarity.get(number, 0.0) >= least)

    def units(self, sets: Sequence[tuple[int, ...]]) -> list[list[int]]:
        """At most ``UNITS_A_PART`` units that have all of a set, for each."""
        known = [self._known(numbers) for numbers in sets]
        asked = [numbers for numbers, ids in zip(sets, known, strict=True) if ids is None]
        answers = iter(self.index.with_grams(asked, UNITS_A_PART))
        return [next(answers) if ids is None else ids for ids in known]

    def _known(self, numbers: tuple[int, ...]) -> list[int] | None:
        """The units of a set, where the first units of each gram tell them."""
        lists = [self.firsts[number] for number in numbers if number in self.firsts]
        if len(lists) < len(numbers):
            return None
        if len(lists) == 1:
            return lists[0]
        if any(len(ids) == UNITS_A_PART for ids in lists):
            return None
        return sorted(set(lists[0]).intersection(*lists[1:]))


def _rarities(firsts: dict[int, list[int]]) -> dict[int, float]:
    lists = [ids for ids in firsts.values() if ids]
    start, end = min((ids[0] for ids in lists), default=0), max((ids[-1] for ids in lists), default=0)
    return {
        number: ids[-1] - start + 1
        if len(ids) == UNITS_A_PART
        else (end - start + 1) * UNITS_A_PART / len(ids)
        if ids
        else math.inf
        for number, ids in firsts.items()
    }


def _but_one(grams: _Grams, parts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Units that have all of several parts but one.

    The rarest grams are asked for first, and more of them only while too many units have those.
    """
    sets = [
        grams.telling(number for other in parts if other is not left_out for number in other)
        for left_out in parts
    ]
    found: list[list[int]] = []
    for size in (*(RARE_FIRST if grams.firsts else ()), max(map(len, sets))):
        asked = list(dict.fromkeys(numbers[:size] for numbers in sets))
        answers = dict(zip(asked, grams.units(asked), strict=True))
        sets = [one for one in sets if len(one) > size and len(answers[one[:size]]) == UNITS_A_PART]
        again = {one[:size] for one in sets}
        found += [ids for numbers, ids in answers.items() if numbers not in again]
    return found
