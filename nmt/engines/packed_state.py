"""What a decoder laid out for a CPU keeps between its steps.

Keys and values of the past stand in preallocated memory (``nmt.engines.cache``), those of the source in
``nmt.engines.memory``.

Dimensions: B sentences, K beam size, N = B*K rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from nmt.engines.cache import Cache
from nmt.engines.keeping import KeptIn
from nmt.engines.memory import Memory
from nmt.engines.projection import ShortProjection


@dataclass
class Group:
    """Sentences that started together, or have joined each other: what is theirs alone."""

    memory: Memory
    past: Cache
    short: ShortProjection | None = None
    """The projection to the lists of these sentences, where a shortlist is used."""

    @property
    def n_sentences(self) -> int:
        """B."""
        return self.memory.n_sentences

    def select(self, rows_N: Tensor, beam_size: int) -> None:
        """Make row n the former row ``rows_N[n]``; the memory changes only when whole sentences leave."""
        self.past.select(rows_N)
        if rows_N.numel() == self.n_sentences * beam_size:
            return
        sentences_B = rows_N[::beam_size].div(beam_size, rounding_mode="floor")
        self.memory.select(sentences_B)
        if self.short is not None:
            self.short.select(sentences_B)

    def join(self, other: Group, kept_in: KeptIn) -> None:
        """Take in the sentences of another, after those that there are; none has a shortlist."""
        assert self.short is other.short is None
        self.memory.join(other.memory, kept_in)
        self.past.join(other.past)


@dataclass
class PackedState:
    """Groups in the order of their rows."""

    groups: list[Group]
    beam_size: int

    @property
    def n_rows(self) -> list[int]:
        """Of each group."""
        return [group.n_sentences * self.beam_size for group in self.groups]
