"""What a step of fixed shapes reads and writes: tensors that stay where they are, by bucket.

A CUDA graph replays kernels on the addresses that it was captured with. So a state of the static engine lives
in a place made for a bucket of sizes, with some rows and positions unused; a state that grows or shrinks out
of its bucket moves into another place, and the one it leaves is used again, graph and all.

What was left in a place cannot reach who comes after: it is taken empty (a NaN would pass through a weight of
zero), a row that lives is copied whole, and a row that has died does not live again in the same place.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, W numbers kept of a
token for all layers, V vocabulary.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

FEWEST_SOURCE, FEWEST_TARGET = 16, 32
MOST_FREE = 32
"""Places kept for later, of all buckets together."""


class Bucket(NamedTuple):
    """What fits: powers of two."""

    n_sentences: int
    beam_size: int
    source: int
    target: int

    @classmethod
    def around(cls, n_sentences: int, beam_size: int, source: int, target: int) -> Bucket:
        """The smallest that these fit in."""
        return cls(
            _power_of_two(n_sentences),
            beam_size,
            _power_of_two(max(source, FEWEST_SOURCE)),
            _power_of_two(max(target, FEWEST_TARGET)),
        )


class Widths(NamedTuple):
    """Of what a place holds."""

    past: int
    """Keys and values of all layers' self-attention."""
    memory: int
    """The same of cross-attention."""
    vocabulary: int


@dataclass(eq=False)
class Place:
    """Tensors at fixed addresses, and the step over them."""

    bucket: Bucket
    tokens_N: Tensor
    positions_N: Tensor
    """Where each row's next token stands."""
    past_NTW: Tensor
    memory_BSW: Tensor
    mask_B11S: Tensor
    """What attention adds to scores of the source: 0, or -inf at padding; sentences not there have 0."""
    logits_NV: Tensor
    log_totals_N: Tensor
    run: Callable[[], None]
    """Reads ``tokens_N`` at ``positions_N``, which move on by one, and writes what comes next."""

    @classmethod
    def make(cls, bucket: Bucket, widths: Widths, device: torch.device, dtype: torch.dtype) -> Place:
        """An empty one, with a step that does nothing yet."""
        B, N = bucket.n_sentences, bucket.n_sentences * bucket.beam_size

        def zeros(*shape: int, dtype: torch.dtype = dtype) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=device)

        return cls(
            bucket,
            zeros(N, dtype=torch.long),
            zeros(N, dtype=torch.long),
            zeros(N, bucket.target, widths.past),
            zeros(B, bucket.source, widths.memory),
            zeros(B, 1, 1, bucket.source),
            zeros(N, widths.vocabulary, dtype=torch.float32),
            zeros(N, dtype=torch.float32),
            lambda: None,
        )

    def clear(self) -> None:
        """As it was made."""
        for tensor in (self.tokens_N, self.positions_N, self.past_NTW, self.memory_BSW, self.mask_B11S):
            tensor.zero_()

    def receive(self, other: Place, sentences_B: Tensor, rows_N: Tensor, first: int = 0) -> None:
        """Copy sentences and rows of another place, which may be this one, to ``first`` and after."""
        K, B, N = self.bucket.beam_size, sentences_B.numel(), rows_N.numel()
        sentences, rows = slice(first, first + B), slice(first * K, first * K + N)
        S = other.bucket.source
        mask_B11S = other.mask_B11S.index_select(0, sentences_B)
        self.memory_BSW[sentences, :S] = other.memory_BSW.index_select(0, sentences_B)
        self.mask_B11S[sentences] = -torch.inf
        self.mask_B11S[sentences, ..., :S] = mask_B11S
        self.receive_rows(other, rows_N, rows)

    def receive_rows(self, other: Place, rows_N: Tensor, rows: slice) -> None:
        """Copy what rows have read."""
        T = min(self.bucket.target, other.bucket.target)
        self.past_NTW[rows, :T] = other.past_NTW[:, :T].index_select(0, rows_N)
        self.positions_N[rows] = other.positions_N.index_select(0, rows_N)


class Places:
    """Gives out places, and takes them back when nothing holds their ``Lease`` any more.

    Args:
        make: a new place for a bucket, with its step.
    """

    def __init__(self, make: Callable[[Bucket], Place]) -> None:
        self._make = make
        self._free: list[Place] = []

    def take(self, bucket: Bucket) -> Lease:
        """An empty place."""
        place = next((place for place in reversed(self._free) if place.bucket == bucket), None)
        if place is None:
            place = self._make(bucket)
        else:
            self._free.remove(place)
            place.clear()
        lease = Lease(place)
        weakref.finalize(lease, self._give_back, place).atexit = False
        return lease

    def _give_back(self, place: Place) -> None:
        self._free.append(place)
        del self._free[:-MOST_FREE]


@dataclass(eq=False)
class Lease:
    """Whoever holds it has the place."""

    place: Place


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()
