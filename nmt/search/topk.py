"""The k largest of very many numbers, found by way of block maxima.

``Tensor.topk`` over K*V scores costs several times their log-softmax on a CPU, a maximum over blocks a
fraction of it. Each of the k largest numbers lies in one of the k blocks with the largest maxima, so only
those need to be searched. On one core, for 32 sentences x 5 beams x 8,000 tokens and k = 10, that takes 1.3
ms instead of 3.5.
"""

from __future__ import annotations

import math

from torch import Tensor

LARGEST_BLOCK = 64


def blockwise_topk(scores_BX: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """``scores_BX.topk(k)``, largest first: values (B, k) and indices (B, k); which of equals is open.

    Args:
        scores_BX: contiguous.
        k: at most X.
    """
    n_rows, width = scores_BX.shape
    block = math.gcd(width, LARGEST_BLOCK)
    n_blocks = width // block
    if n_blocks < 2 * k or block == 1:
        values_Bk, indices_Bk = scores_BX.topk(k)
        return values_Bk, indices_Bk
    blocks_BnX = scores_BX.view(n_rows, n_blocks, block)
    best_blocks_Bk = blocks_BnX.amax(dim=2).topk(k).indices
    kept_BkX = blocks_BnX.gather(1, best_blocks_Bk.unsqueeze(2).expand(-1, -1, block))
    values_Bk, places_Bk = kept_BkX.view(n_rows, k * block).topk(k)
    return values_Bk, best_blocks_Bk.gather(1, places_Bk // block) * block + places_Bk % block
