"""What a decoder laid out for a CPU keeps between its steps.

Keys and values of the past stand in preallocated memory (``nmt.engines.cache``); those of the source are
projected once, never repeated for beams, and move only when sentences leave.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, H heads, E per head.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from nmt.engines.cache import Cache
from nmt.engines.projection import ShortProjection


@dataclass
class Group:
    """Sentences that started together: what is theirs alone."""

    memory: list[tuple[Tensor, Tensor]]
    """For each layer keys_BHSE and values_BHSE of the source."""
    memory_mask_B11S: Tensor | None
    """What to add to attention scores: 0, or -inf at padding; None where nothing is padded."""
    past: Cache
    n_sentences: int
    short: ShortProjection | None = None
    """The projection to the lists of these sentences, where a shortlist is used."""

    def select(self, rows_N: Tensor, beam_size: int) -> None:
        """Move rows of the past; the memory only when whole sentences leave."""
        self.past.select(rows_N)
        if rows_N.numel() == self.n_sentences * beam_size:
            return
        sentences_B = rows_N[::beam_size].div(beam_size, rounding_mode="floor")
        self.n_sentences = sentences_B.numel()
        if self.short is not None:
            self.short.select(sentences_B)
        self.memory = [
            (key.index_select(0, sentences_B), value.index_select(0, sentences_B))
            for key, value in self.memory
        ]
        if self.memory_mask_B11S is not None:
            self.memory_mask_B11S = self.memory_mask_B11S.index_select(0, sentences_B)


@dataclass
class PackedState:
    """Groups in the order of their rows."""

    groups: list[Group]
    beam_size: int

    @property
    def n_rows(self) -> list[int]:
        """Of each group."""
        return [group.n_sentences * self.beam_size for group in self.groups]
