"""Search over any step decoder (``nmt.search``), many sentences at once: the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.hypothesis import Hypothesis
from nmt.models.interface import StepDecoder
from nmt.pipeline.requests import Search
from nmt.search import Required, search
from nmt.searchers.batches import cut
from nmt.searchers.interface import by_options


class StepSearcher:
    """Searches one batch of similar lengths after another.

    Which sentences share a batch changes no result but for rounding.

    Args:
        decoder: predicts the next token.
        special: ids of PAD, BOS and EOS.
        placeholders: all placeholder ids of the vocabulary, see ``Required``.
        device: where the decoder is.
    """

    def __init__(
        self,
        decoder: StepDecoder[Any],
        special: SpecialIds,
        placeholders: tuple[int, ...] = (),
        device: torch.device | str = "cpu",
    ) -> None:
        self._decoder = decoder
        self._special, self._placeholders = special, placeholders
        self._device = torch.device(device)

    @torch.inference_mode()
    def search(self, asked: Sequence[Search], *, max_batch_tokens: int) -> list[list[Hypothesis]]:
        """As ``Searcher.search``."""
        found: dict[int, list[Hypothesis]] = {}
        for alike in by_options(asked):
            options = asked[alike[0]].options
            lengths = [len(asked[place].source_ids) + 1 for place in alike]  # with EOS
            for share in cut(lengths, max_batch_tokens, options.beam_size):
                places = [alike[index] for index in share]
                batch = Batch.from_ids([asked[place].source_ids for place in places], special=self._special)
                required = Required(self._placeholders, tuple(asked[place].required for place in places))
                hypotheses = search(
                    self._decoder, batch.to(self._device), options, self._special, required=required
                )
                found.update(zip(places, hypotheses, strict=True))
        return [found[place] for place in range(len(asked))]
