"""BLEU, chrF and TER by sacrebleu (Post 2018), each with the signature that says how it was computed.

There are two scales, and they are never mixed:

``cased-detokenized``
    The text as it stands against the reference as it stands. This is what we report.
``lowercase-tokenized``
    What the Multi30k literature reports: both sides lower-cased, punctuation-normalised and Moses-tokenised,
    then BLEU without a tokenizer. ``lowercase_tokenizer`` gives what lowercase.perl, Moses'
    normalize-punctuation.perl and tokenizer.perl give: out of the raw Multi30k val and test sets it makes
    the published ones, character for character in all 6,950 lines of both languages.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacremoses import MosesPunctNormalizer, MosesTokenizer

Scale = Literal["cased-detokenized", "lowercase-tokenized"]


@dataclasses.dataclass(frozen=True)
class Score:
    """One corpus score; ``higher_is_better`` is False for TER."""

    metric: str
    scale: Scale
    score: float
    signature: str
    higher_is_better: bool


def metrics() -> dict[str, Metric]:
    """Fresh sacrebleu metrics of the reported scale: its defaults, but TER too heeds the case."""
    return {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER(case_sensitive=True)}


def tokenized_bleu() -> BLEU:
    """BLEU for text that is tokenised already."""
    return BLEU(tokenize="none", force=True)


def score(hypotheses: Sequence[str], references: Sequence[str]) -> list[Score]:
    """BLEU, chrF and TER on the reported scale, 0 to 100 (TER may go beyond)."""
    return [
        _score(name, metric, "cased-detokenized", hypotheses, references)
        for name, metric in metrics().items()
    ]


def score_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """BLEU alone, on the reported scale."""
    return _score("BLEU", metrics()["BLEU"], "cased-detokenized", hypotheses, references)


def score_lowercase_tokenized(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Score:
    """BLEU on the literature's scale; hypotheses are treated exactly as the references are."""
    treat = lowercase_tokenizer(language)
    return _score(
        "BLEU",
        tokenized_bleu(),
        "lowercase-tokenized",
        [treat(line) for line in hypotheses],
        [treat(line) for line in references],
    )


def lowercase_tokenizer(language: str) -> Callable[[str], str]:
    """A function from a detokenised line to a lower-cased, normalised, Moses-tokenised one.

    The Perl scripts see a line with its end, which their French rule for full stops before quotation marks
    matches; so it is there when the normalizer sees the line here.
    """
    normalizer = MosesPunctNormalizer(lang=language, perl_parity=True)
    tokenizer = MosesTokenizer(lang=language)

    def treat(line: str) -> str:
        normalized = normalizer.normalize(line.lower() + "\n")
        tokenized: str = tokenizer.tokenize(
            normalized, return_str=True, escape=True, aggressive_dash_splits=False
        )
        return tokenized

    return treat


def _score(
    name: str, metric: Metric, scale: Scale, hypotheses: Sequence[str], references: Sequence[str]
) -> Score:
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score(
        metric=name,
        scale=scale,
        score=round(result.score, 4),
        signature=metric.get_signature().format(),
        higher_is_better=name != "TER",
    )
