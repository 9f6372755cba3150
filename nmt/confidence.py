"""Confidence: log-probabilities and what else search knows -> the probability that a translation is good.

A model's own probability of a sentence says little by itself: it falls with length, and how far differs from
model to model. ``nmt calibrate`` therefore fits a logistic regression (Platt 1999) on sentences with
references, for whole sentences and for words, and stores it in the model folder as ``calibration.json``. What
"good" means stands in that file. Without the file there is no confidence, only ``score``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol, Self

import numpy as np
from pydantic import Field, model_validator

from nmt.config import StrictModel
from nmt.text.words import Token
from nmt.tokenizer import Piece

SENTENCE_FEATURES = (
    "mean_log_prob",
    "min_log_prob",
    "low_log_prob",
    "end_log_prob",
    "log_n_tokens",
    "length_ratio",
    "pieces_per_word",
)
WORD_FEATURES = (
    "mean_log_prob",
    "min_log_prob",
    "before_log_prob",
    "after_log_prob",
    "sentence_log_prob",
    "is_mark",
    "is_copied",
    "n_pieces",
    "link_score",
)
MOST_DEVIATIONS = 4.0
"""Features further from their mean, in standard deviations, count as so far away."""


@dataclass(frozen=True)
class Evidence:
    """Facts about one translated sentence."""

    source: str
    target: str
    n_source_tokens: int
    pieces: Sequence[Piece]
    """Words of the target, spans in it."""
    token_log_probs: Sequence[float]
    """Log-probability of each piece and, if it was reached, of EOS; not empty."""
    length_ratio: float = 1.0
    """Characters of a translation to expect for one of its source."""


class ConfidenceModel(Protocol):
    """Probabilities from evidence."""

    def sentence(self, evidence: Evidence) -> float:
        """The probability that the sentence is good."""

    def words(self, evidence: Evidence, words: Sequence[Token], link_scores: Sequence[float]) -> list[float]:
        """The probability that each word of the target is right.

        Args:
            evidence: as in ``sentence``.
            words: of the target.
            link_scores: each word's share of attention on the source word it is linked to, 0 without link.
        """


class LogisticRegression(StrictModel):
    """sigmoid(bias + sum of weight * (feature - mean) / scale)."""

    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    good: str = Field(description="What the probability is of.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not len(self.features) == len(self.means) == len(self.scales) == len(self.weights):
            raise ValueError("there must be one mean, scale and weight for each feature")
        if min(self.scales, default=1.0) <= 0:
            raise ValueError("scales must be positive")
        return self

    def probability(self, values: Sequence[float]) -> float:
        """The probability for one vector of feature values."""
        total = self.bias
        for value, mean, scale, weight in zip(values, self.means, self.scales, self.weights, strict=True):
            total += weight * min(max((value - mean) / scale, -MOST_DEVIATIONS), MOST_DEVIATIONS)
        return 1 / (1 + math.exp(-max(total, -700.0)))

    def probabilities(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """The probability for each of many vectors of feature values."""
        if not rows:
            return []
        deviations_RF = (np.array(rows, dtype=np.float64) - np.array(self.means)) / np.array(self.scales)
        within_RF = deviations_RF.clip(-MOST_DEVIATIONS, MOST_DEVIATIONS)
        total_R = self.bias + within_RF @ np.array(self.weights)
        probability_R: list[float] = (1 / (1 + np.exp(-total_R.clip(min=-700)))).tolist()
        return probability_R


class Calibration(StrictModel):
    """``calibration.json`` of a model folder."""

    format_version: Literal[1] = 1
    weights_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """Checksum of the ``model.safetensors`` that it was fitted to."""
    sentence_model: LogisticRegression
    word_model: LogisticRegression
    fitted_on: tuple[str, ...]
    """Names of the sets of sentences."""
    measured: dict[str, Any]
    """On sentences that were held out: expected calibration error and the like."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for model, expected in ((self.sentence_model, SENTENCE_FEATURES), (self.word_model, WORD_FEATURES)):
            if model.features != expected:
                raise ValueError(
                    f"features {', '.join(model.features)}; this version of the library computes "
                    f"{', '.join(expected)}: run nmt calibrate again"
                )
        return self

    def sentence(self, evidence: Evidence) -> float:
        """See ``ConfidenceModel``."""
        return self.sentence_model.probability(sentence_features(evidence))

    def words(self, evidence: Evidence, words: Sequence[Token], link_scores: Sequence[float]) -> list[float]:
        """See ``ConfidenceModel``."""
        return self.word_model.probabilities(word_features(evidence, words, link_scores))


def expected_length_ratio(source_language: str, target_language: str) -> float:
    """Characters of a translation for one of its source: what French takes more of than English."""
    return {("en", "fr"): 1.15, ("fr", "en"): 1 / 1.15}.get((source_language, target_language), 1.0)


def sentence_features(evidence: Evidence) -> tuple[float, ...]:
    """The values of ``SENTENCE_FEATURES``."""
    log_probs = sorted(evidence.token_log_probs)
    lowest = log_probs[: max(1, len(log_probs) // 4)]
    return (
        sum(log_probs) / len(log_probs),
        log_probs[0],
        sum(lowest) / len(lowest),
        evidence.token_log_probs[-1],
        math.log(len(log_probs)),
        abs(math.log((len(evidence.target) + 1) / (evidence.length_ratio * len(evidence.source) + 1))),
        evidence.n_source_tokens / max(1, len(evidence.source.split())),
    )


def word_features(
    evidence: Evidence, words: Sequence[Token], link_scores: Sequence[float]
) -> list[tuple[float, ...]]:
    """The values of ``WORD_FEATURES`` for each word.

    A word without any piece of its own, for it was copied into the text, has log-probability 0.
    """
    of_words = [found or [0.0] for found in _log_probs_by_word(evidence, words)]
    means = [sum(found) / len(found) for found in of_words]
    sentence = sum(evidence.token_log_probs) / len(evidence.token_log_probs)
    read = set(evidence.source.lower().split())
    return [
        (
            means[index],
            min(found),
            means[index - 1] if index else 0.0,
            means[index + 1] if index + 1 < len(words) else evidence.token_log_probs[-1],
            sentence,
            float(not any(character.isalnum() for character in word.text)),
            float(word.text.lower() in read),
            float(len(found)),
            link_score,
        )
        for index, (word, found, link_score) in enumerate(zip(words, of_words, link_scores, strict=True))
    ]


def _log_probs_by_word(evidence: Evidence, words: Sequence[Token]) -> list[list[float]]:
    """The log-probabilities of the pieces that share characters with each word; both are in order."""
    found: list[list[float]] = [[] for _ in words]
    first = 0
    for piece, log_prob in zip(evidence.pieces, evidence.token_log_probs, strict=False):
        while first < len(words) and words[first].end <= piece.start:
            first += 1
        index = first
        while index < len(words) and words[index].start < max(piece.end, piece.start + 1):
            found[index].append(log_prob)
            index += 1
    return found


def expected_calibration_error(
    probabilities: Sequence[float], outcomes: Sequence[bool], n_bins: int = 10
) -> float:
    """ECE (Naeini et al. 2015): mean gap between probability and frequency over bins of equal width."""
    gaps = sum(
        abs(sum(probabilities[index] - outcomes[index] for index in rows))
        for rows in bins(probabilities, n_bins)
    )
    return gaps / len(probabilities) if probabilities else 0.0


def bins(probabilities: Sequence[float], n_bins: int = 10) -> list[list[int]]:
    """Indices by probability: the first bin holds those below 1 / n_bins, the last has 1 too."""
    edges = [index / n_bins for index in range(n_bins)] + [math.inf]
    return [
        [index for index, probability in enumerate(probabilities) if low <= probability < high]
        for low, high in pairwise(edges)
    ]
