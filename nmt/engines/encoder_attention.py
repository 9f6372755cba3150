"""Self-attention of an encoder as loops, for a function that is compiled (``nmt.engines.bound_encoder``).

Sentences are so short that a library spends more time between its products than on them. Here they are sums
that the compiler makes one loop of: what a loop reads of a register is multiplied with BESIDE numbers, each
for a sum of its own, so that no addition waits for the one before it.

Scores lie with the places that ask side by side in registers. So they are added up, and compared, from one
register to the next and never across one.

Dimensions: M tokens of all sentences, B sentences, K places of one, a multiple of BESIDE, R the same in whole
registers, H heads, E per head, D all of them, W query, key and value side by side.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.compiler import computed_first
from nmt.engines.arithmetic import exponentials

BESIDE = 4
"""Sums of one loop. With eight it is no faster, and takes longer to compile."""


def attend(qkv_MW: Tensor, rows_BR: Tensor, mask_B11K: Tensor, n_heads: int) -> Tensor:
    """What each place finds in its sentence: a row of D numbers for each of B*K places.

    Args:
        qkv_MW: float32.
        rows_BR: the token at each place; of those that are none any one.
        mask_B11K: what to add to the scores of a place.
        n_heads: H.
    """
    (B, R), K, H = rows_BR.shape, mask_B11K.size(3), n_heads
    query_MD, other_MW = computed_first(qkv_MW).tensor_split([qkv_MW.size(1) // 3], dim=1)
    query_BHRE = computed_first(query_MD[rows_BR].view(B, R, H, -1).transpose(1, 2))
    both_BK2HE = other_MW[rows_BR[:, :K]].view(B, K, 2, H, -1)
    key_BHKE, value_BHKE = computed_first(both_BK2HE.permute(2, 0, 3, 1, 4)).unbind()
    query_BHER = computed_first(query_BHRE.transpose(2, 3) * query_BHRE.size(3) ** -0.5)
    beside = range(BESIDE)
    scores = [
        (key_BHKE[:, :, place::BESIDE, :, None] * query_BHER.unsqueeze(2)).sum(dim=3) for place in beside
    ]
    scores_BHKR = computed_first(torch.stack(scores, dim=3)).view(B, H, K, R) + mask_B11K.transpose(2, 3)
    weights_BHKR = computed_first(exponentials(scores_BHKR, dim=2))
    shares_BHR = computed_first(1 / weights_BHKR.sum(dim=2))
    found = [
        (weights_BHKR[:, :, :, place:K:BESIDE, None] * value_BHKE.unsqueeze(3)).sum(dim=2)
        * shares_BHR[:, :, place:K:BESIDE, None]
        for place in beside
    ]
    context_BHKE = computed_first(torch.stack(found, dim=3)).view(B, H, K, -1)
    return context_BHKE.transpose(1, 2).reshape(B * K, -1)
