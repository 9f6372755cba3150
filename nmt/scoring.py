"""How hypotheses are compared: length normalisation and coverage penalty (Wu et al. 2016, section 7, eq. 14).

    score(Y, X) = log P(Y|X) / lp(Y) + cp(X; Y)
    lp(Y)       = ((5 + |Y|) / 6) ** alpha                       gnmt;   |Y| for mean;   1 for none
    cp(X; Y)    = beta * sum_i log(min(sum_j attention_ji, 1))   i: source positions, j: target positions

|Y| counts EOS, and so do i and j: every real source position must be attended to, the source's EOS among
them. As in GNMT the penalty ranks finished hypotheses; the beam itself is pruned by log P.

Dimensions: B sentences, K beam size, N = B*K rows, S source length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nmt.config import GenerationConfig
from nmt.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

    from nmt.batch import Batch

LEAST_COVERAGE = 1e-6
"""Floor of a source position's coverage, for an attention that underflows to 0 has no logarithm."""


@dataclass(frozen=True)
class Scoring:
    """Eq. 14 with its constants."""

    normalization: Literal["gnmt", "mean", "none"]
    alpha: float
    beta: float

    @classmethod
    def from_options(cls, options: GenerationConfig) -> Scoring:
        """The part of the options that concerns scores."""
        return cls(options.length_normalization, options.length_penalty, options.coverage_penalty)

    def length_penalty(self, length: int) -> float:
        """The divisor lp for ``length`` tokens, EOS counted; it never falls as length grows."""
        if self.normalization == "gnmt":
            return float(((5 + length) / 6) ** self.alpha)
        return float(max(length, 1)) if self.normalization == "mean" else 1.0

    def score(self, log_prob: float, length: int, coverage_penalty: float = 0.0) -> float:
        """Eq. 14 for a hypothesis of ``length`` tokens, EOS counted."""
        return log_prob / self.length_penalty(length) + coverage_penalty

    def bound(self, log_prob: float, max_length: int) -> float:
        """The most that any continuation of a live hypothesis can score (in the manner of Huang et al. 2017).

        More tokens can only lower ``log_prob``; the divisor is greatest at ``max_length`` (EOS counted), and
        a negative number divided by more is greater; the coverage penalty is at best 0.
        """
        return log_prob / self.length_penalty(max_length)

    def initial_coverage(self, source: Batch, rows_per_sentence: int) -> Tensor | None:
        """Coverage_NS before the first step: padding counts as covered. None when no penalty asks for it."""
        if self.beta == 0:
            return None
        return (~source.source_mask_BS).float().repeat_interleave(rows_per_sentence, dim=0)

    def add_attention(self, coverage_NS: Tensor | None, attention_NS: Tensor | None) -> Tensor | None:
        """Coverage after one more step; None stays None.

        Raises:
            ConfigError: coverage is asked for and the decoder exposes no attention.
        """
        if coverage_NS is None:
            return None
        if attention_NS is None:
            raise ConfigError(
                f"coverage_penalty {self.beta:g} needs the decoder's attention, and this model or engine "
                "exposes none; set coverage_penalty to 0 or choose one that does"
            )
        return coverage_NS + attention_NS

    def coverage_penalties(self, coverage_NS: Tensor | None, like_N: Tensor) -> Tensor:
        """The penalty cp of each row, (N,), at most 0; zeros like ``like_N`` where no coverage is kept."""
        if coverage_NS is None:
            return like_N.new_zeros(like_N.shape)
        return self.beta * coverage_NS.clamp(LEAST_COVERAGE, 1.0).log().sum(dim=1)
