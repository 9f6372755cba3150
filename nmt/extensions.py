"""The best extensions of the hypotheses of a beam, found by way of block maxima.

``Tensor.topk`` over K*V scores costs several times their log-softmax on a CPU, a maximum over blocks a
fraction of it. Each of the k largest numbers lies in one of the k blocks with the largest maxima, so only
those need to be searched. The scores are read there alone, and never written.

It is a dozen calls, each of which takes longer than what it computes where sentences are few, so an engine
may have it compiled (``nmt.engines.ranking``).

Dimensions: B sentences, K hypotheses of each, V vocabulary, n equal blocks of it with X scores each, C = 2K
extensions.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor


class Rank(Protocol):
    """A function that computes what ``best_of_blocks`` does."""

    def __call__(
        self,
        scores_BKnX: Tensor,
        offsets_BK: Tensor,
        maxima_BKn: Tensor,
        forbidden_nX: Tensor | None = None,
        /,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Arguments and results as there."""
        ...


def best_of_blocks(
    scores_BKnX: Tensor, offsets_BK: Tensor, maxima_BKn: Tensor, forbidden_nX: Tensor | None = None, /
) -> tuple[Tensor, Tensor, Tensor]:
    """The 2K largest ``scores_BKnX`` plus the offset of their row, of all rows of a sentence together.

    Args:
        scores_BKnX: of blocks of the vocabulary; contiguous.
        offsets_BK: may be -inf, for rows out of the running.
        maxima_BKn: the largest of each block, of tokens that are allowed; n is at least 2.
        forbidden_nX: -inf for tokens that are not, else 0; None: where the scores have it already.

    Returns:
        values_BC, largest first, the rows_BC that they extend, of all B*K, and the tokens_BC; which of equals
        is open.
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
    values_BC, places_BC = kept.view(B, n_best * X).topk(n_best)
    found_BC = blocks_BC.gather(1, places_BC // X)
    return values_BC, found_BC // n, found_BC % n * X + places_BC % X
