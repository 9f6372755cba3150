"""Search over any step decoder (``nmt.search``), many sentences at once: the reference."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.hypothesis import Hypothesis
from nmt.models.interface import StepDecoder
from nmt.pipeline.requests import Followers, NextPieces, Search
from nmt.search import Prefixes, Required, search
from nmt.searchers.batches import by_options, cut
from nmt.text.word_pieces import NO_WORD_PIECES, WordPieces


class StepSearcher:
    """Searches one batch of similar lengths after another.

    Which sentences share a batch changes no result but for rounding.

    Args:
        decoder: predicts the next token.
        special: ids of PAD, BOS and EOS.
        placeholders: all placeholder ids of the vocabulary, see ``Required``.
        device: where the decoder is.
        word_pieces: those of the vocabulary, by which the last word of a prefix is a whole one.
    """

    def __init__(
        self,
        decoder: StepDecoder[Any],
        special: SpecialIds,
        placeholders: tuple[int, ...] = (),
        device: torch.device | str = "cpu",
        word_pieces: WordPieces = NO_WORD_PIECES,
    ) -> None:
        self._decoder, self._word_pieces = decoder, word_pieces
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
                prefixes = self._prefixes([asked[place].prefix for place in places])
                hypotheses = search(
                    self._decoder, batch.to(self._device), options, self._special, prefixes, required
                )
                found.update(zip(places, hypotheses, strict=True))
        return [found[place] for place in range(len(asked))]

    def _prefixes(self, sentences: Sequence[tuple[int, ...]]) -> Prefixes | None:
        if not any(sentences):
            return None
        return Prefixes(sentences, tuple(map(self._word_pieces.never_after, sentences)))

    @torch.inference_mode()
    def token_log_probs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[float]]:
        """As ``Searcher.token_log_probs``, one translation after the other."""
        found = []
        for source, tokens in pairs:
            state = self._decoder.start(Batch.from_ids([source], special=self._special).to(self._device), 1)
            log_probs = []
            for read, written in pairwise((self._special.bos, *tokens, self._special.eos)):
                step, state = self._decoder.step(state, torch.tensor([read], device=self._device))
                log_probs.append(float(step.log_probs_NV[0, written]))
            found.append(log_probs)
        return found

    @torch.inference_mode()
    def next_pieces(self, asked: NextPieces) -> list[Followers]:
        """As ``Searcher.next_pieces``, N prefixes together."""
        batch = Batch.from_ids([asked.source_ids] * len(asked.prefixes), special=self._special)
        state = self._decoder.start(batch.to(self._device), 1)
        for tokens_N in zip(*((self._special.bos, *prefix) for prefix in asked.prefixes), strict=True):
            step, state = self._decoder.step(state, torch.tensor(tokens_N, device=self._device))
        log_probs_NV = step.log_probs_NV
        forbidden = {self._special.pad, self._special.bos, *self._placeholders} - set(asked.required)
        log_probs_NV[:, sorted(forbidden)] = -torch.inf
        best = log_probs_NV.topk(min(asked.count, log_probs_NV.size(1)))
        return [
            list(zip(ids, log_probs, strict=True))
            for ids, log_probs in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
