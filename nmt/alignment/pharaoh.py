"""Word links: the Pharaoh text format, symmetrisation of two directions, and the alignment error rate.

A link joins a source word and a target word by their indices, from 0. A line holds the links of a sentence
pair as "0-0 1-2"; gold lines may also hold possible links, "1p2".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from nmt.errors import DataError

Pair = tuple[int, int]
"""Source word index, target word index."""

Symmetrization = Literal["intersection", "union", "grow_diag", "grow_diag_final_and"]
Extraction = Literal[
    "default", "argmax", "backward", "intersection", "union", "grow_diag", "grow_diag_final_and"
]
"""How links follow from a matrix: the best of each row (``argmax``), of each column (``backward``), or both
symmetrised. ``default``: what the aligner does best, the best of each row where links come from attention."""

_GOLD_LINK = re.compile(r"([0-9]+)([-p])([0-9]+)")
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


@dataclass(frozen=True)
class Link:
    """Source word ``source`` and target word ``target`` translate each other."""

    source: int
    target: int
    score: float
    """Share of the target word's attention that this source word received, 0 to 1."""


def to_pharaoh(links: Iterable[Link]) -> str:
    """Links as "0-0 1-2", by source, then target."""
    pairs = sorted({(link.source, link.target) for link in links})
    return " ".join(f"{source}-{target}" for source, target in pairs)


def parse_pharaoh(line: str) -> tuple[set[Pair], set[Pair]]:
    """A line -> its sure links ("0-1"), and its possible ones ("0p1"), of which the sure ones are a part.

    Raises:
        DataError: something in the line is no link.
    """
    sure: set[Pair] = set()
    possible: set[Pair] = set()
    for item in line.split():
        match = _GOLD_LINK.fullmatch(item)
        if match is None:
            raise DataError(f"'{item[:20]}' is no link; expected SOURCE-TARGET as in 0-1, or 0p1 if possible")
        pair = int(match[1]), int(match[3])
        possible.add(pair)
        if match[2] == "-":
            sure.add(pair)
    return sure, possible


@dataclass(frozen=True)
class AlignmentScores:
    """How links agree with gold links, over a corpus (Och and Ney 2003, section 5)."""

    error_rate: float
    """AER; 0 is perfect."""
    precision: float
    """Share of the links that are possible."""
    recall: float
    """Share of the sure links that were found."""

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def alignment_scores(
    links: Sequence[Iterable[Link]], sure: Sequence[AbstractSet[Pair]], possible: Sequence[AbstractSet[Pair]]
) -> AlignmentScores:
    """AER, precision, recall and F1 of links, one collection for each sentence pair."""
    precision, recall = precision_and_recall(links, sure, possible)
    return AlignmentScores(alignment_error_rate(links, sure, possible), precision, recall)


def alignment_error_rate(
    links: Sequence[Iterable[Link]], sure: Sequence[AbstractSet[Pair]], possible: Sequence[AbstractSet[Pair]]
) -> float:
    """AER = 1 - (|A & S| + |A & P|) / (|A| + |S|) over a corpus (Och and Ney 2003, section 5); 0 is perfect.

    Args:
        links: A, for each sentence pair.
        sure: S.
        possible: P; S counts as part of it.
    """
    n_found, n_sure, n_found_sure, n_found_possible = _counts(links, sure, possible)
    if n_found + n_sure == 0:
        return 0.0
    return 1 - (n_found_sure + n_found_possible) / (n_found + n_sure)


def precision_and_recall(
    links: Sequence[Iterable[Link]], sure: Sequence[AbstractSet[Pair]], possible: Sequence[AbstractSet[Pair]]
) -> tuple[float, float]:
    """Precision |A & P| / |A| and recall |A & S| / |S| (Och and Ney 2003, section 5); 1 when undefined."""
    n_found, n_sure, n_found_sure, n_found_possible = _counts(links, sure, possible)
    return n_found_possible / n_found if n_found else 1.0, n_found_sure / n_sure if n_sure else 1.0


def symmetrize(
    source_to_target: Collection[Link], target_to_source: Collection[Link], method: Symmetrization
) -> list[Link]:
    """Combine the links of two directions (Koehn et al. 2005); a score is the mean of both, 0 if absent.

    ``grow_diag``: begin with the intersection; add links of the union that touch one already there,
    diagonally too, and bring in a new word. ``grow_diag_final_and`` then adds those between two words that
    have no link yet.
    """
    forward = {(link.source, link.target): link.score for link in source_to_target}
    backward = {(link.source, link.target): link.score for link in target_to_source}
    if method == "intersection":
        chosen = forward.keys() & backward.keys()
    elif method == "union":
        chosen = forward.keys() | backward.keys()
    else:
        chosen = _grow_diag(list(forward), list(backward), final_and=method == "grow_diag_final_and")
    return [
        Link(*pair, (forward.get(pair, 0.0) + backward.get(pair, 0.0)) / 2)
        for pair in sorted(chosen, key=lambda pair: (pair[1], pair[0]))
    ]


def _grow_diag(forward: Sequence[Pair], backward: Sequence[Pair], *, final_and: bool) -> set[Pair]:
    union = {*forward, *backward}
    chosen = set(forward) & set(backward)
    sources = {source for source, _ in chosen}
    targets = {target for _, target in chosen}

    def add(pair: Pair) -> None:
        chosen.add(pair)
        sources.add(pair[0])
        targets.add(pair[1])

    grown = True
    while grown:
        grown = False
        for source, target in sorted(chosen):
            for down, right in _NEIGHBOURS:
                pair = (source + down, target + right)
                if pair in union - chosen and (pair[0] not in sources or pair[1] not in targets):
                    add(pair)
                    grown = True
    for direction in (forward, backward) if final_and else ():
        for pair in sorted(direction):
            if pair[0] not in sources and pair[1] not in targets:
                add(pair)
    return chosen


def _counts(
    links: Sequence[Iterable[Link]], sure: Sequence[AbstractSet[Pair]], possible: Sequence[AbstractSet[Pair]]
) -> tuple[int, int, int, int]:
    n_found = n_sure = n_found_sure = n_found_possible = 0
    for found, sure_pairs, possible_pairs in zip(links, sure, possible, strict=True):
        pairs = {(link.source, link.target) for link in found}
        n_found += len(pairs)
        n_sure += len(sure_pairs)
        n_found_sure += len(pairs & sure_pairs)
        n_found_possible += len(pairs & (sure_pairs | possible_pairs))
    return n_found, n_sure, n_found_sure, n_found_possible
