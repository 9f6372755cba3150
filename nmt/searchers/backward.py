"""The model of the other direction, which says how likely a source is, given its translation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nmt.config import GenerationConfig
from nmt.pipeline.requests import ReadBack
from nmt.scoring import Scoring
from nmt.searchers.ctranslate2 import CTranslate2Searcher

if TYPE_CHECKING:
    from nmt.model_folder.opened import AnyModel
    from nmt.searchers import Searcher

SCORING = Scoring.from_options(GenerationConfig(length_normalization="gnmt", length_penalty=1.0))
TOGETHER = 16
"""Pairs of one forced pass of engine eager."""

Pair = tuple[list[int], list[int]]
"""Ids of a translation, and of the source that is to be read in it."""


class BackwardScorer:
    """Scores what ``nmt.pipeline.read_back`` asks.

    Args:
        loaded: the model of the other direction.
        searcher: that of its translator.
    """

    def __init__(self, loaded: AnyModel, searcher: Searcher) -> None:
        self._loaded = loaded
        self._searcher = searcher

    def scores(self, asked: Sequence[ReadBack]) -> list[list[float]]:
        """For each translation the length-normalised log-probability of its source."""
        read, written = self._loaded.source_tokenizer, self._loaded.tokenizer
        pairs: list[Pair] = [
            (read.encode(translation), written.encode(one.source))
            for one in asked
            for translation in one.translations
        ]
        order = sorted(range(len(pairs)), key=lambda index: len(pairs[index][1]))
        ranked = [pairs[index] for index in order]
        found = (
            self._searcher.token_log_probs(ranked)
            if isinstance(self._searcher, CTranslate2Searcher)
            else self._forced(ranked)
        )
        scores = dict(zip(order, (SCORING.score(math.fsum(one), len(one)) for one in found), strict=True))
        numbers = iter(range(len(pairs)))
        return [[scores[next(numbers)] for _ in one.translations] for one in asked]

    def _forced(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """The log-probability of each token and of EOS, by the model itself."""
        import torch  # noqa: PLC0415 - takes time to load

        from nmt.batch import Batch  # noqa: PLC0415 - imports torch

        model, special = self._loaded.model, self._loaded.config.special_ids
        device = next(model.parameters()).device
        found: list[list[float]] = []
        for first in range(0, len(pairs), TOGETHER):
            some = pairs[first : first + TOGETHER]
            batch = Batch.from_ids([ids for ids, _ in some], [ids for _, ids in some], special=special)
            with torch.inference_mode():
                log_probs_BTV = model(batch.to(device)).float().log_softmax(dim=-1).cpu()
            for (_, ids), log_probs_TV in zip(some, log_probs_BTV, strict=True):
                following_T1 = torch.tensor([*ids, special.eos]).unsqueeze(1)
                chosen_T1 = log_probs_TV[: len(ids) + 1].gather(1, following_T1)
                found.append(chosen_T1.squeeze(1).tolist())
        return found
