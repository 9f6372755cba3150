"""How a call of many sentences is cut into batches, for workers that search them side by side.

What counts is when the last worker is ready. A batch takes as many steps as its longest translation, and a
step costs some time before its first row; sentences leave their batch as they end. So the *costs* of batches
are made even, not their numbers of sentences or tokens. A translation is assumed to be as long as its source.

Dimensions: K beam size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.alignment.alignment import length_batches
from nmt.pipeline.requests import Search

BATCH_TOKENS = 16_384
"""Padded source tokens x beam size searched at once, at most."""
STEP_ROWS = 8
"""The fixed cost of a step, in rows."""
ENCODER_ROWS = 1
"""The cost of encoding a token, in rows of a step."""
BEST_TOKENS = 2_000
"""Source tokens x (1 + beam size) of a batch: the encoder's and the steps'.

Larger batches leave a core's caches; smaller ones take more steps. On a CPU eight to sixteen sentences with a
beam of 5 are the fastest.
"""


@dataclass(frozen=True)
class StepCost:
    """The cost of a decoding step, in rows, and of a batch."""

    beam_size: int

    def step(self, n_sentences: int) -> int:
        """Cost of a step with so many sentences."""
        return STEP_ROWS + self.beam_size * n_sentences if n_sentences else 0

    def added(self, length: int, n_sentences: int) -> int:
        """Cost that one more sentence, no longer than the ``n_sentences`` of a batch, adds to it."""
        return ENCODER_ROWS * length + length * (self.step(n_sentences + 1) - self.step(n_sentences))

    def batch(self, lengths: Sequence[int]) -> int:
        """Cost of a batch, from the source tokens of its sentences, the longest first."""
        return sum(self.added(length, place) for place, length in enumerate(lengths))


def cut(lengths: Sequence[int], max_batch_tokens: int, beam_size: int, n_workers: int = 1) -> list[list[int]]:
    """Places of sentences in batches of similar length, longest first, equally many for each worker.

    Large calls have batches of ``BEST_TOKENS``, or somewhat more where that makes fewer for each worker.

    Args:
        lengths: source tokens of each sentence.
        max_batch_tokens: padded source tokens x beam size of a batch; a sentence that has more is alone.
        beam_size: K.
        n_workers: how many search side by side.
    """
    most_tokens, best_tokens = max_batch_tokens // beam_size, BEST_TOKENS // (1 + beam_size)
    if n_workers == 1 or not lengths:
        return length_batches(lengths, min(most_tokens, best_tokens))
    n_full = len(length_batches(lengths, most_tokens))
    n_best_each = round(sum(lengths) / best_tokens / n_workers)
    n_shares = n_workers * max(-(-n_full // n_workers), n_best_each)
    return even_shares(lengths, max_batch_tokens, StepCost(beam_size), n_shares)


def even_shares(
    lengths: Sequence[int], max_batch_tokens: int, cost: StepCost, n_shares: int
) -> list[list[int]]:
    """At most ``n_shares`` batches of similar length, longest first, the most expensive as cheap as can be.

    ``n_shares`` batches within ``max_batch_tokens`` must be enough.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])

    def shares(most: int) -> list[list[int]]:
        filled: list[list[int]] = [[]]
        spent = 0
        for place in order:
            last = filled[-1]
            spent += cost.added(lengths[place], len(last))
            padded = lengths[last[0]] * cost.beam_size * (len(last) + 1) if last else 0
            if last and (spent > most or padded > max_batch_tokens):
                filled.append([])
                spent = cost.added(lengths[place], 0)
            filled[-1].append(place)
        return filled

    low, high = 0, cost.batch([lengths[place] for place in order])
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(shares(middle)) <= n_shares else (middle + 1, high)
    return shares(high)


def by_options(asked: Sequence[Search]) -> list[list[int]]:
    """Places of the searches with equal options."""
    groups: dict[str, list[int]] = {}
    for place, one in enumerate(asked):
        groups.setdefault(one.options.model_dump_json(), []).append(place)
    return list(groups.values())
