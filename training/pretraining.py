"""Pre-training on sentences of one language, before translation is learnt from the weights (``--init-from``).

    masked_words     an encoder fills in words that are masked (Devlin et al. 2019, BERT, section 3.1, task 1)
    language_model   a decoder predicts each word from those before it (Radford et al. 2018, GPT, section 3.1)

Either is a change of the batch, and a loss as any other. Masked words are of the source language and of a
Transformer's encoder: of 15 % of them, 80 % become UNK, 10 % another word and 10 % stay; all of those are
predicted. (Sub-words with bytes never need UNK, so it is free to be the mask.) The language model is of the
target language and of ``decoder_only``: there is no source, BOS comes first.

Dimensions: B sentences, S source length, T target length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import torch

from nmt.batch import Batch
from nmt.config import SpecialIds

MASKED = 0.15
TO_MASK, TO_ANOTHER = 0.8, 0.1
"""Shares of the masked words; the rest stay as they are."""


@dataclass(frozen=True)
class Pretraining:
    """Batch made of a batch of sentence pairs."""

    objective: Literal["masked_words", "language_model"]
    vocab_size: int
    special: SpecialIds

    def __call__(self, batch: Batch, seed: int) -> Batch:
        """The batch to learn from; equal seeds mask equally."""
        if self.objective == "language_model":
            return without_source(batch)
        return masked(batch, self.vocab_size, self.special, torch.Generator().manual_seed(seed))


def without_source(batch: Batch) -> Batch:
    """The target alone: S is 0."""
    return replace(batch, source_BS=batch.source_BS[:, :0], source_mask_BS=batch.source_mask_BS[:, :0])


def masked(batch: Batch, vocab_size: int, special: SpecialIds, generator: torch.Generator) -> Batch:
    """The source with some words masked; its own words are the target, and the mask is True at those masked.

    At least one word of each sentence is masked, never EOS.
    """
    source_BS = batch.source_BS
    is_word_BS = batch.source_mask_BS & (source_BS != special.eos)
    draw_BS = torch.rand(source_BS.shape, generator=generator).masked_fill(~is_word_BS, 2.0)
    chosen_BS = (draw_BS < MASKED) | (draw_BS == draw_BS.min(dim=1, keepdim=True).values)
    chosen_BS &= is_word_BS
    how_BS = torch.rand(source_BS.shape, generator=generator)
    first_word = special.eos + 1
    another_BS = torch.randint(first_word, vocab_size, source_BS.shape, generator=generator)
    read_BS = source_BS.masked_fill(chosen_BS & (how_BS < TO_MASK), special.unk)
    is_another_BS = chosen_BS & (how_BS >= TO_MASK) & (how_BS < TO_MASK + TO_ANOTHER)
    read_BS = torch.where(is_another_BS, another_BS, read_BS)
    return Batch(read_BS, batch.source_mask_BS, source_BS, source_BS, chosen_BS)
