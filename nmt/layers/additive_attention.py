"""Additive attention (Bahdanau et al. 2015, section A.1.2): e = v' tanh(W s + U h).

Dimensions: B sentences, K beam size, N = B*K query rows, S source length, M memory size, Q query size,
A attention size. Rows of one sentence stand together; keys are never repeated for them. Masks are True at
real source positions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """Score a decoder state against each source annotation with a small feed-forward network."""

    def __init__(self, d_query: int, d_memory: int, d_attention: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_query, d_attention, bias=False)
        self.key = nn.Linear(d_memory, d_attention)
        self.score = nn.Linear(d_attention, 1, bias=False)

    def project_keys(self, memory_BSM: Tensor) -> Tensor:
        """U h, independent of the decoder state: computed once for each sentence."""
        keys_BSA: Tensor = self.key(memory_BSM)
        return keys_BSA

    def forward(
        self,
        query_NQ: Tensor,
        keys_BSA: Tensor,
        memory_BSM: Tensor,
        mask_BS: Tensor,
        coverage_NSA: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return context_NM and weights_NS, whose rows sum to 1 over real positions.

        ``coverage_NSA`` is the third term of the sum (``nmt.layers.coverage``).
        """
        B, S, A = keys_BSA.shape
        sum_BKSA = self.query(query_NQ).view(B, -1, 1, A) + keys_BSA.unsqueeze(1)
        if coverage_NSA is not None:
            sum_BKSA = sum_BKSA + coverage_NSA.view(B, -1, S, A)
        scores_BKS = self.score(torch.tanh(sum_BKSA)).squeeze(-1)
        return attend(scores_BKS, memory_BSM, mask_BS)


def attend(scores_BKS: Tensor, memory_BSM: Tensor, mask_BS: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax over real positions, then the weighted mean of the memory: context_NM and weights_NS."""
    weights_BKS = scores_BKS.float().masked_fill(~mask_BS.unsqueeze(1), -math.inf).softmax(dim=-1)
    context_BKM = weights_BKS.to(memory_BSM.dtype) @ memory_BSM
    return context_BKM.flatten(0, 1), weights_BKS.flatten(0, 1)
