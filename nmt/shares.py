"""How a call of many sentences is cut into batches, for workers that search them side by side.

What counts is when the last worker is ready. A batch takes as many steps as its longest translation, and a
step takes some time before its first row; sentences leave their batch as they end. So batches are made whose
*costs* are even, not their numbers of sentences or tokens. A translation is taken to have as many tokens as
its source, unless it may not.

Dimensions: K beam size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.alignment import length_batches

STEP_ROWS = 24
"""A step takes as long as this many rows of it, before the first."""
ENCODER_ROWS = 1
"""To encode a token takes as long as this many rows of a step."""
HANDING_ROWS = 24
"""To hand a batch to another worker takes as long as this many rows of a step."""
GAIN_BY_THREADS = 1.1
"""So many times faster is a batch that has all cores, unless the engine knows better."""
BEST_TOKENS = 16_000
"""Source tokens x (1 + beam size) of a batch: the encoder's and the steps'.

More leave a core's caches, and fewer end in more steps of few rows.
"""


@dataclass(frozen=True)
class StepCost:
    """What a step of decoding costs, in rows of it, and a batch."""

    beam_size: int
    few_rows: int = 0
    """Most rows of a step that is a single call."""
    few_step_rows: int = 0
    """Such a step takes as long as this many rows of it, before the first."""
    gain_by_threads: float = GAIN_BY_THREADS
    """So many times faster is a batch that has all cores."""

    def step(self, n_sentences: int) -> int:
        """With so many sentences."""
        n_rows = self.beam_size * n_sentences
        before_first = self.few_step_rows if n_rows <= self.few_rows else STEP_ROWS
        return before_first + n_rows if n_rows else 0

    def added(self, length: int, n_steps: int, n_sentences: int) -> int:
        """What one more sentence, of no more steps than the ``n_sentences`` of a batch, adds to it."""
        return ENCODER_ROWS * length + n_steps * (self.step(n_sentences + 1) - self.step(n_sentences))

    def batch(self, lengths: Sequence[int], steps: Sequence[int]) -> int:
        """All of a batch: source tokens and steps of its sentences, the longest first."""
        return sum(self.added(*sizes, place) for place, sizes in enumerate(zip(lengths, steps, strict=True)))


CALLS = StepCost(beam_size=1)
"""Of a decoder no step of which is a single call."""


def cut(
    lengths: Sequence[int], steps: Sequence[int], max_batch_tokens: int, cost: StepCost, n_workers: int = 1
) -> list[list[int]]:
    """Places of sentences in batches of similar length, longest first, as many for each worker.

    What one worker with all cores does sooner stays one batch. Where there are many they have
    ``BEST_TOKENS``, or somewhat more where that makes fewer for each worker.

    Args:
        lengths: source tokens of each sentence.
        steps: that it is likely to take; of a longer sentence no fewer.
        max_batch_tokens: padded source tokens x beam size of a batch; a sentence that has more is alone.
        cost: of a step.
        n_workers: how many search side by side.
    """
    most_tokens, best_tokens = max_batch_tokens // cost.beam_size, BEST_TOKENS // (1 + cost.beam_size)
    if n_workers == 1 or not lengths:
        return length_batches(lengths, min(most_tokens, best_tokens))
    batches = length_batches(lengths, most_tokens)
    n_best_each = round(sum(lengths) / best_tokens / n_workers)
    n_shares = n_workers * max(-(-len(batches) // n_workers), n_best_each)
    shares = even_shares(lengths, steps, max_batch_tokens, cost, n_shares)

    def of(batch: Sequence[int]) -> int:
        return cost.batch([lengths[place] for place in batch], [steps[place] for place in batch])

    whole, last = (max(map(of, made)) for made in (batches, shares))
    if len(batches) == 1 and whole <= cost.gain_by_threads * (last + HANDING_ROWS):
        return batches
    return shares


def even_shares(
    lengths: Sequence[int], steps: Sequence[int], max_batch_tokens: int, cost: StepCost, n_shares: int
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
            spent += cost.added(lengths[place], steps[place], len(last))
            padded = lengths[last[0]] * cost.beam_size * (len(last) + 1) if last else 0
            if last and (spent > most or padded > max_batch_tokens):
                filled.append([])
                spent = cost.added(lengths[place], steps[place], 0)
            filled[-1].append(place)
        return filled

    low, high = 0, cost.batch([lengths[place] for place in order], [steps[place] for place in order])
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(shares(middle)) <= n_shares else (middle + 1, high)
    return shares(high)
