"""Gold alignments of development sets: reading them, and the rule of a link scorer that does best on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import torch

from nmt.alignment.pharaoh import AlignmentScores, Extraction, Link, Pair, alignment_scores, parse_pharaoh
from nmt.alignment.pooling import WordShares, piece_shares, pool_shares
from nmt.alignment.scorer import TrainedAligner
from nmt.alignment.scorer_config import Agreement, LinkRule
from nmt.errors import DataError
from nmt.model_folder.checkpoint import LoadedModel
from nmt.text.words import whitespace_words
from nmt.translator import Translator

THRESHOLDS = tuple(round(0.1 + 0.05 * step, 2) for step in range(12))
METHODS: tuple[Extraction, ...] = (
    "argmax",
    "backward",
    "intersection",
    "union",
    "grow_diag",
    "grow_diag_final_and",
    "default",
)


@dataclass(frozen=True)
class GoldSet:
    """Sentence pairs of white-space tokens with their gold links."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    sure: tuple[set[Pair], ...]
    possible: tuple[set[Pair], ...]

    @classmethod
    def read(cls, stem: Path, source: str = "en", target: str = "fr") -> GoldSet:
        """``stem`` with the endings of the languages, and ``.gold``.

        Raises:
            DataError: a file is missing, or they have different numbers of lines.
        """
        columns = []
        for ending in (source, target, "gold"):
            path = stem.with_name(f"{stem.name}.{ending}")
            try:
                columns.append(path.read_text(encoding="utf-8").splitlines())
            except OSError as error:
                raise DataError(f"{path}: {error.strerror or error}") from None
        if len({len(lines) for lines in columns}) != 1:
            raise DataError(
                f"{stem}: {', '.join(str(len(lines)) for lines in columns)} lines; expected as many"
            )
        gold = [parse_pharaoh(line) for line in columns[2]]
        return cls(
            "/".join(stem.parts[-2:]),
            tuple(zip(columns[0], columns[1], strict=True)),
            tuple(sure for sure, _ in gold),
            tuple(possible for _, possible in gold),
        )

    def reversed(self) -> GoldSet:
        """The same for a model of the other direction."""
        return replace(
            self,
            pairs=tuple((target, source) for source, target in self.pairs),
            sure=tuple({(i, j) for j, i in links} for links in self.sure),
            possible=tuple({(i, j) for j, i in links} for links in self.possible),
        )

    def scores(self, links: Sequence[Sequence[Link]]) -> AlignmentScores:
        """How ``links`` agree with the gold."""
        return alignment_scores(links, self.sure, self.possible)


def word_shares(
    loaded: LoadedModel, trained: TrainedAligner, gold: GoldSet, device: torch.device, engine: str = "auto"
) -> list[WordShares]:
    """The scorer's shares of the white-space tokens of each pair, in the forced pass of ``engine``."""
    aligner = Translator(replace(loaded, aligner=trained), device, engine=engine).aligner
    read, written = loaded.source_tokenizer.encode_pieces, loaded.tokenizer.encode_pieces
    pieces = [(read(source), written(target)) for source, target in gold.pairs]
    shares = aligner.shares(
        [[piece.id for piece in source] for source, _ in pieces],
        [[piece.id for piece in target] for _, target in pieces],
    )
    return [
        pool_shares(
            forward_TS,
            backward_TS,
            piece_shares(target_pieces, whitespace_words(target)),
            piece_shares(source_pieces, whitespace_words(source)),
        )
        for (source, target), (source_pieces, target_pieces), (forward_TS, backward_TS) in zip(
            gold.pairs, pieces, shares, strict=True
        )
    ]


def choose_rule(
    loaded: LoadedModel, trained: TrainedAligner, gold: Sequence[GoldSet], device: torch.device
) -> tuple[LinkRule, dict[str, Any]]:
    """The rule of the lowest AER, a mean over the sets, and what each method then measures."""
    shares = [word_shares(loaded, trained, gold_set, device) for gold_set in gold]

    def error_rate(rule: LinkRule) -> float:
        return sum(
            gold_set.scores([found.links(rule) for found in own]).error_rate
            for gold_set, own in zip(gold, shares, strict=True)
        )

    rules = [LinkRule(agreement=kind, threshold=t) for kind in get_args(Agreement) for t in THRESHOLDS]
    rule = min(rules, key=error_rate)
    return rule, {
        gold_set.name: measure(gold_set, own, rule) for gold_set, own in zip(gold, shares, strict=True)
    }


def measure(gold: GoldSet, shares: Sequence[WordShares], rule: LinkRule) -> dict[str, dict[str, float]]:
    """AER, precision, recall and F1 in per cent of each way to links."""
    return {
        method: percent(gold.scores([found.links(rule, method) for found in shares])) for method in METHODS
    }


def percent(scores: AlignmentScores) -> dict[str, float]:
    """As the literature writes them."""
    values = {
        "aer": scores.error_rate,
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
    }
    return {name: round(100 * value, 2) for name, value in values.items()}
