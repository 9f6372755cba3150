"""State of a Transformer's decoding: sentences that started together, and those beside them.

Sentences that start together make a group. Groups share every projection of a step, but each attends to its
own keys and values: when one joins, nothing of the others is copied, and none is padded to another's length.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T tokens read, H heads, E per head.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from nmt.layers.attention import KeyValue


class Group(NamedTuple):
    """Everything that decoding has read so far of sentences that started together."""

    memory: tuple[KeyValue, ...]
    """For each layer, cross-attention keys and values, one for each sentence."""
    memory_mask_B11S: Tensor
    """Mask; of several sources that are read hierarchically (B, 1, K, S)."""
    past: tuple[KeyValue | None, ...]
    """For each layer, self-attention keys and values, one for each row; None before the first token."""
    position: int
    """Tokens read."""

    @property
    def n_sentences(self) -> int:
        """B."""
        return self.memory_mask_B11S.size(0)

    def select(self, rows_N: Tensor, beam_size: int) -> Group:
        """Move rows of the past; the memory moves only when whole sentences leave."""
        past = tuple(layer and KeyValue(*(t.index_select(0, rows_N) for t in layer)) for layer in self.past)
        if len(rows_N) == self.n_sentences * beam_size:
            return self._replace(past=past)
        sentences_B = rows_N[::beam_size].div(beam_size, rounding_mode="floor")
        memory = tuple(KeyValue(*(t.index_select(0, sentences_B) for t in layer)) for layer in self.memory)
        return self._replace(
            past=past,
            memory=memory,
            memory_mask_B11S=self.memory_mask_B11S.index_select(0, sentences_B),
        )


class TransformerState(NamedTuple):
    """Groups in the order of their rows."""

    groups: tuple[Group, ...]
    beam_size: int

    @property
    def n_rows(self) -> list[int]:
        """Rows of each group."""
        return [group.n_sentences * self.beam_size for group in self.groups]

    def select(self, rows_N: Tensor) -> TransformerState:
        """Only ``rows_N``, moved; a group of which no sentence is left is gone."""
        if len(self.groups) == 1:
            return self._replace(groups=(self.groups[0].select(rows_N, self.beam_size),))
        ends_G = torch.tensor(self.n_rows, device=rows_N.device).cumsum(0)
        # sentences keep their order, so the first rows of those that stay are sorted by group
        places_G = torch.searchsorted(rows_N[:: self.beam_size].contiguous(), ends_G)
        groups: list[Group] = []
        first, first_row = 0, 0
        for group, n_rows, place in zip(self.groups, self.n_rows, places_G.tolist(), strict=True):
            end = place * self.beam_size
            if end > first:
                groups.append(group.select(rows_N[first:end] - first_row, self.beam_size))
            first, first_row = end, first_row + n_rows
        return self._replace(groups=tuple(groups))
