"""The best extensions of the hypotheses of a beam, found by way of block maxima.

``Tensor.topk`` over K*V scores costs several times their log-softmax on a CPU, a maximum over blocks a
fraction of it. Each of the k largest numbers lies in one of the k blocks with the largest maxima, so only
those need to be searched. The scores are read there alone, and never written.

The scores of a block do not lie beside each other. The maxima of neighbouring blocks fill a register, into
which the scores are read one register after the other, as they lie in memory: then nothing has to be compared
across it (``Blocks``).

It is some twenty calls, each of which takes longer than what it computes where sentences are few, so an
engine may have it compiled (``nmt.engines.ranking``).

Dimensions: B sentences, K hypotheses of each, N = B*K rows, V vocabulary; n blocks of it with X scores each,
in Z groups of G neighbouring ones; C = 2K extensions.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from nmt.compiler import computed_first

LANES = 16
"""Numbers of float32 in the widest register."""
SCORES_PER_MAXIMUM = 12
"""What a score of a block costs a beam beside the maximum of one.

It looks at K times all maxima and at 2K blocks of scores. A score, which is read where it lies, takes it six
times as long as a maximum.
"""


class Blocks(NamedTuple):
    """How V scores are divided into equal blocks: score (z * X + x) * G + g is one of block z * G + g."""

    n_groups: int
    """Z."""
    size: int
    """X."""
    n_lanes: int
    """G."""

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, vocab_size: int) -> Blocks:
        """Those of a vocabulary, of the size with which a beam has least to look at."""
        n_lanes = math.gcd(vocab_size, LANES)
        n_registers = vocab_size // n_lanes
        sizes = [size for size in range(1, n_registers + 1) if n_registers % size == 0]
        size = min(sizes, key=lambda size: vocab_size / size + SCORES_PER_MAXIMUM * size)
        return cls(n_registers // size, size, n_lanes)

    @property
    def n_blocks(self) -> int:
        """Of all groups."""
        return self.n_groups * self.n_lanes


def in_blocks(scores: Tensor) -> Tensor:
    """(..., V) -> (..., Z, X, G)."""
    return scores.view(*scores.shape[:-1], *Blocks.of(scores.size(-1)))


def block_maxima(scores: Tensor) -> Tensor:
    """(..., V) -> (..., n): the largest score of each block."""
    return in_blocks(scores).amax(dim=-2).flatten(-2)


class Extensions(NamedTuple):
    """Of each sentence the 2K best, and of them the K best that do not end, which a beam goes on with."""

    sums_BC: Tensor
    """Sums of log-probabilities, largest first."""
    rows_BC: Tensor
    """The rows that they extend, of all N."""
    tokens_BC: Tensor
    going_sums_N: Tensor
    """Of those that go on the same, best first, K for each sentence."""
    going_rows_N: Tensor
    going_tokens_N: Tensor


class Rank(Protocol):
    """A function that computes what ``best_of_blocks`` does."""

    def __call__(
        self,
        scores_BKZXG: Tensor,
        offsets_BK: Tensor,
        maxima_BKn: Tensor,
        forbidden_ZXG: Tensor | None,
        eos: int,
        /,
    ) -> Extensions:
        """Arguments and results as there."""
        ...


def best_of_blocks(
    scores_BKZXG: Tensor,
    offsets_BK: Tensor,
    maxima_BKn: Tensor,
    forbidden_ZXG: Tensor | None,
    eos: int | Tensor,
    /,
) -> Extensions:
    """The 2K largest ``scores_BKZXG`` plus the offset of their row, of all rows of a sentence together.

    Args:
        scores_BKZXG: of the blocks of a vocabulary; contiguous.
        offsets_BK: may be -inf, for rows out of the running.
        maxima_BKn: the largest of each block, of tokens that are allowed; n is at least 2.
        forbidden_ZXG: -inf for tokens that are not, else 0; None: where the scores have it already.
        eos: the token that ends; also as one element.

    Returns:
        Which of equals is open.
    """
    B, K, Z, X, G = scores_BKZXG.shape
    n_best, n = 2 * K, Z * G
    best_BC = (maxima_BKn + offsets_BK.unsqueeze(2)).view(B, K * n).topk(n_best).indices
    blocks_BC = best_BC + torch.arange(0, B * K * n, K * n, device=best_BC.device).unsqueeze(1)
    blocks = blocks_BC.flatten()
    # once for each block, not for each of its scores
    rows, groups, lanes = map(computed_first, (blocks // n, blocks % n // G, blocks % G))
    kept = scores_BKZXG.view(-1, Z, X, G)[rows, groups, :, lanes]
    if forbidden_ZXG is not None:
        kept = kept + forbidden_ZXG[groups, :, lanes]
    kept = kept + offsets_BK.flatten().index_select(0, rows).unsqueeze(1)
    sums_BC, places_BC = kept.view(B, n_best * X).topk(n_best)
    found_BC = blocks_BC.gather(1, places_BC // X)
    tokens_BC = (found_BC % n // G * X + places_BC % X) * G + found_BC % G
    return with_those_that_go_on(sums_BC, found_BC // n, tokens_BC, eos)


def with_those_that_go_on(
    sums_BC: Tensor, rows_BC: Tensor, tokens_BC: Tensor, eos: int | Tensor
) -> Extensions:
    """Beside the 2K best of each sentence the K best that do not end; as each row ends once, so many do not.

    Where fewer are possible, rows that are dead come last, whatever their token.
    """
    going_BK, places_BK = sums_BC.masked_fill(tokens_BC == eos, -torch.inf).topk(sums_BC.size(1) // 2)
    rows_BK, tokens_BK = rows_BC.gather(1, places_BK), tokens_BC.gather(1, places_BK)
    return Extensions(sums_BC, rows_BC, tokens_BC, going_BK.flatten(), rows_BK.flatten(), tokens_BK.flatten())
