"""Token-budget batches of sentences of like length, deterministic in (seed, epoch).

Dimensions of a batch's cost: rows x the longer padded side, at most ``batch_tokens``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import DataError
from nmt.tokenizer import Tokenizer, seed_sampling
from training.data.shards import TokenPairs
from training.pretraining import Pretraining
from training.supervision import LinkTable

Indices = npt.NDArray[np.int64]
Lengths = npt.NDArray[np.integer[Any]]


def philox(*key: int) -> np.random.Generator:
    """A counter-based generator (Salmon et al. 2011) for a place: equal keys, equal draws."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))


def epoch_batches(
    source_lengths: Lengths, target_lengths: Lengths, batch_tokens: int, seed: int, epoch: int
) -> list[Indices]:
    """Indices of every pair exactly once, in batches, shuffled.

    Pairs are shuffled, then stably sorted by length, so that pairs of one length meet others each epoch; the
    sorted order is cut into batches, and the batches are shuffled.

    Args:
        source_lengths: sub-word tokens of each source sentence, without EOS (which is counted here).
        target_lengths: the same of the target.
        batch_tokens: most padded tokens of a batch's longer side; a longer pair stands alone.
        seed: of the run.
        epoch: from 0.
    """
    random = philox(seed, epoch, 0)
    order = random.permutation(len(source_lengths))
    longer = np.maximum(source_lengths, target_lengths)
    order = order[np.lexsort((source_lengths[order], target_lengths[order], longer[order]))]
    batches = list(_cut(order, longer + 1, batch_tokens))
    return [batches[index] for index in random.permutation(len(batches))]


def _cut(order: Indices, cost: Lengths, batch_tokens: int) -> Iterator[Indices]:
    """Cut an order of rising ``cost`` so that rows x the last row's cost stays within the budget."""
    first = 0
    for position, index in enumerate(order):
        if position > first and (position - first + 1) * int(cost[index]) > batch_tokens:
            yield order[first:position]
            first = position
    if len(order) > first:
        yield order[first:]


class BatchStream:
    """An endless stream of training batches whose place is two numbers: the epoch and the batch within it.

    With ``subword_sampling`` every sentence is segmented anew each time it is drawn, from a seed of
    (seed, epoch, batch): a stream put at the same place yields the same tokens.
    """

    def __init__(
        self,
        pairs: TokenPairs,
        tokenizer: Tokenizer,
        *,
        batch_tokens: int,
        seed: int,
        subword_sampling: float,
        links: LinkTable | None = None,
        source_tokenizer: Tokenizer | None = None,
        pretraining: Pretraining | None = None,
    ) -> None:
        if not len(pairs):
            raise DataError(
                "the training split is empty: see the prepared corpus' report.json for the reasons"
            )
        self.pairs = pairs
        self.tokenizer = tokenizer
        self.source_tokenizer = source_tokenizer or tokenizer
        self.batch_tokens = batch_tokens
        self.seed = seed
        self.subword_sampling = subword_sampling
        self.links = links
        self.pretraining = pretraining
        self.seek(0, 0)

    def seek(self, epoch: int, next_batch: int) -> None:
        """Go to a place that ``epoch`` and ``next_batch`` named earlier."""
        self.epoch, self.next_batch = epoch, next_batch
        self._batches = epoch_batches(
            self.pairs.source_lengths, self.pairs.target_lengths, self.batch_tokens, self.seed, epoch
        )

    def next(self) -> Batch:
        """The next batch; after the last of an epoch comes the first of the following one."""
        if self.next_batch >= len(self._batches):
            self.seek(self.epoch + 1, 0)
        indices = self._batches[self.next_batch]
        batch = self._sampled(indices) if self.subword_sampling > 0 else self._collated(indices)
        self.next_batch += 1
        if self.pretraining is None:
            return batch
        seed = int(philox(self.seed, self.epoch, self.next_batch, 1).integers(2**63))
        return self.pretraining(batch, seed)

    def _collated(self, indices: Indices) -> Batch:
        """As ``Batch.from_ids``, from the mapped arrays at once."""
        special = self.tokenizer.special
        rows = np.arange(len(indices))
        source_pad = special.pad if special.source_pad is None else special.source_pad
        source = self.pairs.source_side.padded(indices, room=1, pad=source_pad)
        source.ids[rows, source.lengths] = special.eos
        target = self.pairs.target_side.padded(indices, room=1, pad=special.pad)
        target_in = np.roll(target.ids, 1, axis=1)  # the last column is padding throughout
        target_in[:, 0] = special.bos
        target.ids[rows, target.lengths] = special.eos
        source_mask, target_mask = (
            np.arange(side.ids.shape[1]) <= side.lengths[:, None] for side in (source, target)
        )
        links = None
        if self.links is not None:
            links = self.links.matrix(indices.tolist(), target.ids.shape[1], source.ids.shape[1])
        arrays = (source.ids, source_mask, target_in, target.ids, target_mask)
        batch = Batch(*map(torch.from_numpy, arrays))
        return batch if links is None else replace(batch, links_BTS=links)

    def _sampled(self, indices: Indices) -> Batch:
        """Every sentence segmented anew."""
        seed_sampling(int(philox(self.seed, self.epoch, 1 + self.next_batch).integers(2**32)))
        source, target = (
            [tokenizer.sample(text(index), self.subword_sampling) for index in indices.tolist()]
            for tokenizer, text in (
                (self.source_tokenizer, self.pairs.source_text),
                (self.tokenizer, self.pairs.target_text),
            )
        )
        return Batch.from_ids(source, target, special=self.tokenizer.special)


def validation_batches(pairs: TokenPairs, special: SpecialIds, batch_tokens: int) -> Iterator[Batch]:
    """Every pair once, by length."""
    for indices in epoch_batches(pairs.source_lengths, pairs.target_lengths, batch_tokens, 0, 0):
        yield Batch.from_ids(
            [pairs.source(index).tolist() for index in indices],
            [pairs.target(index).tolist() for index in indices],
            special=special,
        )
