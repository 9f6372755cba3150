"""Findings of ``nmt attention``: the form of its record, which the report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nmt.alignment.attention_maps import HeadMaps
from nmt.explore.contexts import Contexts
from nmt.explore.dependencies import Relation
from nmt.explore.heads import Head, HeadStatistics


@dataclass(frozen=True)
class SentenceMaps:
    """One sentence pair with the attention of every head."""

    source: str
    target: str
    maps: HeadMaps


@dataclass(frozen=True)
class Cost:
    """Results of a model without some heads on the development set."""

    heads: tuple[Head, ...]
    """Taken out, beside those of the rows before where heads are removed for good."""
    n_removed: int
    loss: float
    """Nats for each target token, teacher-forced."""
    bleu: float
    sentences_per_second: float | None
    """By processor time, or by time on an accelerator; None where heads are masked: nothing gets faster."""
    parameters: int


@dataclass(frozen=True)
class Pruning:
    """Worth of each head, and how many can go."""

    signature: str
    n_sentences: int
    beam_size: int
    engine: str
    whole: Cost
    each: tuple[Cost, ...]
    """Each head masked in turn."""
    greedy: tuple[Cost, ...]
    """More and more heads removed, the least important first."""


@dataclass(frozen=True)
class Findings:
    """All that a report may hold; None was not asked for."""

    model: str
    pair: SentenceMaps | None = None
    corpus: dict[str, Any] | None = None
    statistics: tuple[HeadStatistics, ...] | None = None
    pairs: tuple[Relation, ...] | None = None
    """Results of ``nmt.explore.pairs`` in the corpus."""
    dependencies: tuple[Relation, ...] | None = None
    contexts: Contexts | None = None
    context_translations: tuple[str, ...] = ()
    pruning: Pruning | None = None
