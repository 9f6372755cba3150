"""The best extensions of the hypotheses of a beam, found by way of block maxima.

``Tensor.topk`` over K*V scores costs several times their log-softmax on a CPU, a maximum over blocks a
fraction of it. Each of the k largest numbers lies in one of the k blocks with the largest maxima, so only
those need to be searched. The scores are read there alone, and never written.

It is some twenty calls, each of which takes longer than what it computes where sentences are few, so an
engine may have it compiled (``nmt.engines.ranking``).

Dimensions: B sentences, K hypotheses of each, N = B*K rows, n equal blocks of the vocabulary with X scores
each, C = 2K extensions.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor


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
        scores_BKnX: Tensor,
        offsets_BK: Tensor,
        maxima_BKn: Tensor,
        forbidden_nX: Tensor | None,
        eos: int,
        /,
    ) -> Extensions:
        """Arguments and results as there."""
        ...


def best_of_blocks(
    scores_BKnX: Tensor,
    offsets_BK: Tensor,
    maxima_BKn: Tensor,
    forbidden_nX: Tensor | None,
    eos: int | Tensor,
    /,
) -> Extensions:
    """The 2K largest ``scores_BKnX`` plus the offset of their row, of all rows of a sentence together.

    Args:
        scores_BKnX: of blocks of the vocabulary; contiguous.
        offsets_BK: may be -inf, for rows out of the running.
        maxima_BKn: the largest of each block, of tokens that are allowed; n is at least 2.
        forbidden_nX: -inf for tokens that are not, else 0; None: where the scores have it already.
        eos: the token that ends; also as one element.

    Returns:
        Which of equals is open.
    """
    B, K, n, X = scores_BKnX.shape
    n_best = 2 * K
    best_BC = (maxima_BKn + offsets_BK.unsqueeze(2)).view(B, K * n).topk(n_best).indices
    blocks_BC = best_BC + torch.arange(0, B * K * n, K * n, device=best_BC.device).unsqueeze(1)
    blocks = blocks_BC.flatten()
    kept = scores_BKnX.view(-1, X).index_select(0, blocks)
    if forbidden_nX is not None:
        kept = kept + forbidden_nX.index_select(0, blocks % n)
    kept = kept + offsets_BK.flatten().index_select(0, blocks // n).unsqueeze(1)
    sums_BC, places_BC = kept.view(B, n_best * X).topk(n_best)
    found_BC = blocks_BC.gather(1, places_BC // X)
    return with_those_that_go_on(sums_BC, found_BC // n, found_BC % n * X + places_BC % X, eos)


def with_those_that_go_on(
    sums_BC: Tensor, rows_BC: Tensor, tokens_BC: Tensor, eos: int | Tensor
) -> Extensions:
    """Beside the 2K best of each sentence the K best that do not end; as each row ends once, so many do not.

    Where fewer are possible, rows that are dead come last, whatever their token.
    """
    going_BK, places_BK = sums_BC.masked_fill(tokens_BC == eos, -torch.inf).topk(sums_BC.size(1) // 2)
    rows_BK, tokens_BK = rows_BC.gather(1, places_BK), tokens_BC.gather(1, places_BK)
    return Extensions(sums_BC, rows_BC, tokens_BC, going_BK.flatten(), rows_BK.flatten(), tokens_BK.flatten())
