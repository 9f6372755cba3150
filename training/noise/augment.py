"""Noise augmentation (Belinkov and Bisk 2018): what the corpora are too tidy to teach, added at preparation.

Every pair that is written passes through ``Noiser`` once. Each kind has a probability of its own
(``training.recipe.NoiseConfig``) and leaves pairs alone to which it does not apply; several can meet in one
pair, in the order of ``ORDER``: sentences are joined first, then the writing is disturbed, then what both
sides share is replaced, and last comes what stands around a sentence. So no typo falls into a URL that was
just put in, and what has become lower case on one side alone is no shared string any more.

The draws follow (seed, corpus, index of the pair, number of the copy) and nothing else.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

from training.noise import copying, writing
from training.recipe import NoiseConfig

Pair = tuple[str, str]
Kind = Callable[[str, str, random.Random], Pair | None]
Entry = tuple[int, Pair, int]
"""Index of a pair in its corpus, the pair, how many copies of it are written."""

MAX_JOINED = 3
MAX_JOINED_WORDS = 60
N_SAMPLES = 2

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "bare": writing.bare,
        "upper": writing.upper,
        "lower": writing.lower,
        "title": writing.title,
        "typo": writing.typo,
        "spaces": writing.spaces,
        "number": copying.replace_number,
        "literal": copying.replace_by_literal,
        "placeholder": copying.replace_by_placeholders,
        "emoji": writing.emoji,
        "marks": writing.marks,
        "formality": writing.formality,
    }
)
"""Kind -> function, in the order in which they are applied, after "join"."""

ORDER = ("join", *KINDS)
CASES = ("upper", "lower", "title")
"""At most one of these: their probabilities share one draw."""


class Noiser:
    """Disturbs the pairs of one corpus and counts what it did.

    Args:
        config: probability of each kind.
        seed: ``data.seed`` of the recipe.
        name: the corpus; corpora of different names draw differently.
    """

    def __init__(self, config: NoiseConfig, seed: int, name: str) -> None:
        self._probabilities = {kind: getattr(config, kind) for kind in ORDER}
        self._seed = f"{seed} {name}"
        self._rng = random.Random()
        self.counts: Counter[str] = Counter()
        self.samples: dict[str, list[Pair]] = {kind: [] for kind in ORDER}

    def stream(self, pairs: Iterable[Entry], following: Sequence[Entry] = ()) -> Iterator[Pair]:
        """Disturb a part of a corpus: (index, pair, copies) in order -> each copy, disturbed in its own way.

        Args:
            pairs: the part.
            following: the first of what comes after it, with which its last pairs may be joined.
        """
        waiting: deque[Entry] = deque()
        for entry in chain(pairs, following):
            waiting.append(entry)
            if len(waiting) == MAX_JOINED:
                yield from self._copies(waiting)
        while len(waiting) > len(following):
            yield from self._copies(waiting)

    def merge(self, counts: Mapping[str, int], samples: Mapping[str, Sequence[Sequence[str]]]) -> None:
        """Add what was counted, and the samples that were taken, in the next part of the same corpus."""
        self.counts.update(counts)
        for kind, pairs in samples.items():
            room = N_SAMPLES - len(self.samples[kind])
            self.samples[kind] += [(source, target) for source, target in pairs[:room]]

    def __call__(self, pair: Pair, index: int, copy: int, following: Sequence[Pair] = ()) -> Pair:
        """Disturb copy ``copy`` of the pair at ``index``, which may be joined with those ``following``."""
        rng = self._rng
        rng.seed(f"{self._seed} {index} {copy}")
        self.counts["pairs"] += 1
        before = pair
        if rng.random() < self._probabilities["join"]:
            pair = self._count("join", pair, join(pair, following[: rng.randint(1, MAX_JOINED - 1)]))
        case = self._choose_case(rng)
        for kind, function in KINDS.items():
            if kind in CASES:
                wanted = kind == case
            else:
                probability = self._probabilities[kind]
                wanted = probability > 0 and rng.random() < probability
            if wanted:
                pair = self._count(kind, pair, function(*pair, rng))
        self.counts["changed"] += pair != before
        return pair

    def describe(self) -> dict[str, Any]:
        """For the report: pairs seen, pairs changed, and for each kind its pairs and two samples."""
        kinds = {kind: {"pairs": self.counts[kind], "samples": self.samples[kind]} for kind in ORDER}
        return {"pairs": self.counts["pairs"], "changed": self.counts["changed"], "kinds": kinds}

    def _copies(self, waiting: deque[tuple[int, Pair, int]]) -> Iterator[Pair]:
        index, pair, copies = waiting.popleft()
        following = [later for _, later, _ in waiting]
        for copy in range(copies):
            yield self(pair, index, copy, following)

    def _choose_case(self, rng: random.Random) -> str | None:
        draw = rng.random()
        for kind in CASES:
            draw -= self._probabilities[kind]
            if draw < 0:
                return kind
        return None

    def _count(self, kind: str, before: Pair, after: Pair | None) -> Pair:
        if after is None:
            return before
        self.counts[kind] += 1
        if len(self.samples[kind]) < N_SAMPLES:
            self.samples[kind].append(after)
        return after


def join(pair: Pair, following: Sequence[Pair]) -> Pair | None:
    """One line of several pairs, where each but the last ends its sentence and the sum is not too long."""
    pairs = [pair, *following]
    if len(pairs) < 2 or not all(map(writing.ends_sentence, pairs[:-1])):
        return None
    source, target = (" ".join(sides) for sides in zip(*pairs, strict=True))
    if max(len(source.split()), len(target.split())) > MAX_JOINED_WORDS:
        return None
    return source, target
