"""BLEU by source length: where a fixed-size encoding of the source fails and attention does not.

After Bahdanau et al. (2015, figure 2), with the number of sentences and a bootstrap interval for each bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sacrebleu.metrics.bleu import BLEU

from training.evaluation.significance import sacrebleu_seed

LONGEST_WORDS = (5, 10, 15, 20, 25, 30, 40, 50, 60)
"""Upper ends of the buckets, in white-space words of the source; a last bucket holds what is longer."""


@dataclass(frozen=True)
class LengthBucket:
    """Sentences of ``shortest`` to ``longest`` source words (None: no upper end) and their corpus BLEU."""

    shortest: int
    longest: int | None
    sentences: int
    mean_words: float
    bleu: float
    interval: float
    """Half the width of the 95 % bootstrap interval."""

    @property
    def label(self) -> str:
        """As on the axis of a plot: "6-10"."""
        return f"over {self.shortest - 1}" if self.longest is None else f"{self.shortest}–{self.longest}"


def bleu_by_source_length(
    sources: Sequence[str],
    references: Sequence[str],
    hypotheses: Sequence[str],
    *,
    samples: int,
    seed: int,
) -> list[LengthBucket]:
    """Cased, detokenised BLEU in each bucket that holds a sentence."""
    lengths = [len(source.split()) for source in sources]
    buckets = []
    ends: list[int | None] = [0, *LONGEST_WORDS, None]
    with sacrebleu_seed(seed):
        for below, longest in pairwise(ends):
            shortest = (below or 0) + 1
            rows = [
                row
                for row, length in enumerate(lengths)
                if max(length, 1) >= shortest and (longest is None or length <= longest)
            ]
            if not rows:
                continue
            result = BLEU().corpus_score(
                [hypotheses[row] for row in rows], [[references[row] for row in rows]], n_bootstrap=samples
            )
            buckets.append(
                LengthBucket(
                    shortest=shortest,
                    longest=longest,
                    sentences=len(rows),
                    mean_words=round(sum(lengths[row] for row in rows) / len(rows), 2),
                    bleu=round(result.score, 4),
                    interval=round(float(result._ci), 4),
                )
            )
    return buckets
