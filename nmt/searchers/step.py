"""Search over any step decoder (``nmt.search``), many sentences at once: the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nmt.config import SpecialIds
from nmt.engines.forks import Forks
from nmt.flow import Search
from nmt.many import search_forks, search_many
from nmt.models.interface import StepDecoder
from nmt.search import Hypothesis, Required
from nmt.searchers.interface import by_options
from nmt.shares import CALLS, StepCost


class StepSearcher:
    """Searches in batches, side by side where there are workers.

    Args:
        decoder: predicts the next token.
        attentive: predicts it where a coverage penalty needs attention.
        special: ids of PAD, BOS and EOS.
        placeholders: all placeholder ids of the vocabulary, see ``Required``.
        device: where the decoders are.
        n_workers: batches side by side.
        step_cost: of ``decoder``, see ``search_many``.
    """

    def __init__(
        self,
        decoder: StepDecoder[Any],
        attentive: StepDecoder[Any],
        special: SpecialIds,
        placeholders: tuple[int, ...],
        device: torch.device,
        n_workers: int = 1,
        step_cost: StepCost = CALLS,
    ) -> None:
        self._decoder, self._attentive = decoder, attentive
        self._special, self._placeholders = special, placeholders
        self._device, self._n_workers, self._step_cost = device, n_workers, step_cost
        has_forks = device.type == "cpu" and n_workers > 1
        self._forks: Forks | None = search_forks(decoder, special, n_workers) if has_forks else None

    def search(
        self, asked: Sequence[Search], *, max_batch_tokens: int, in_forks: bool = False
    ) -> list[list[Hypothesis]]:
        """As ``Searcher.search``; ``in_forks``: batches may be searched in forks of this process."""
        found: dict[int, list[Hypothesis]] = {}
        for places in by_options(asked):
            options = asked[places[0]].options
            hypotheses = search_many(
                self._attentive if options.coverage_penalty else self._decoder,
                [asked[place].source_ids for place in places],
                options,
                self._special,
                device=self._device,
                required=Required(self._placeholders, tuple(asked[place].required for place in places)),
                max_batch_tokens=max_batch_tokens,
                n_workers=self._n_workers,
                step_cost=CALLS if options.coverage_penalty else self._step_cost,
                forks=self._forks if in_forks and not options.coverage_penalty else None,
            )
            found.update(zip(places, hypotheses, strict=True))
        return [found[place] for place in range(len(asked))]
