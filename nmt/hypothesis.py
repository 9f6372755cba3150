"""Input and output of a search, whoever searches; no torch."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

from nmt.config import GenerationConfig


@dataclass(frozen=True)
class Hypothesis:
    """One translation in token ids, without BOS and EOS."""

    tokens: tuple[int, ...]
    log_prob: float
    """Sum of the model's log-probabilities of ``tokens`` and, when finished, of EOS."""
    score: float
    """Rank: ``log_prob`` under length normalisation, plus the coverage penalty."""
    finished: bool
    """False: the length limit, or the lack of any possible next token, came before EOS."""
    token_log_probs: tuple[float, ...] = field(default=(), compare=False)
    """The log-probability of each token and, when finished, of EOS: the terms of ``log_prob``."""


@dataclass(frozen=True)
class Sentence:
    """Sentence of a running search; ``key`` is the caller's name for it."""

    key: Hashable
    source_ids: tuple[int, ...]
    options: GenerationConfig
    required: tuple[int, ...] = ()
    """Placeholder ids that the translation must hold, each once."""
    prefix: tuple[int, ...] = ()
    """Ids that it begins with; they end with a whole word."""
    n_scored: int | None = None
    """So many of the best are to have the log-probability of each token; None: all."""

    @property
    def n_tokens(self) -> int:
        """Its share of a batch: source tokens with EOS, for each row of its beam."""
        return (len(self.source_ids) + 1) * self.options.beam_size


@dataclass(frozen=True)
class Outcome:
    """The end of one sentence: hypotheses as from a search, or what went wrong."""

    key: Hashable
    hypotheses: list[Hypothesis]
    error: Exception | None = None


def max_length(source_length: int, ratio: float, offset: int) -> int:
    """ceil(ratio * source tokens) + offset, all without EOS; 1.1 * 50 is 55 here, not 55.00000000000001."""
    return math.ceil(round(ratio * source_length, 9)) + offset
