"""Dot, scaled-dot and bilinear ("general") attention scores (Luong et al. 2015, section 3.1).

Dimensions: B sentences, K beam size, N = B*K query rows, S source length, M memory size, Q query size.
Same calls as ``AdditiveAttention``. Here we differ from the paper: it scores with the current state of a
unidirectional decoder; in our RNN every score sees the state before the word, as in Bahdanau et al.
"""

from __future__ import annotations

import math

from torch import Tensor, nn

from nmt.layers.additive_attention import AdditiveAttention, attend
from nmt.layers.hard_attention import HardAttention
from nmt.layers.monotonic_attention import MonotonicAttention


class DotAttention(nn.Module):
    """e = s' h; with ``scaled``, e = s' h / sqrt(M) (Vaswani et al. 2017). Needs Q = M."""

    def __init__(self, d_query: int, d_memory: int, *, scaled: bool) -> None:
        super().__init__()
        if d_query != d_memory:
            raise ValueError(f"dot attention needs a query ({d_query}) as large as the memory ({d_memory})")
        self.scale = 1.0 / math.sqrt(d_memory) if scaled else 1.0

    def project_keys(self, memory_BSM: Tensor) -> Tensor:
        """The memory itself."""
        return memory_BSM

    def forward(
        self, query_NQ: Tensor, keys_BSM: Tensor, memory_BSM: Tensor, mask_BS: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return context_NM and weights_NS, whose rows sum to 1 over real positions."""
        query_BKM = query_NQ.view(keys_BSM.size(0), -1, keys_BSM.size(2))
        scores_BKS = query_BKM @ keys_BSM.transpose(1, 2) * self.scale
        return attend(scores_BKS, memory_BSM, mask_BS)


class GeneralAttention(DotAttention):
    """e = s' W h: the bilinear score; W h is computed once for each sentence."""

    def __init__(self, d_query: int, d_memory: int) -> None:
        super().__init__(d_query, d_query, scaled=False)
        self.key = nn.Linear(d_memory, d_query, bias=False)

    def project_keys(self, memory_BSM: Tensor) -> Tensor:
        """W h, shape (B, S, Q)."""
        keys_BSQ: Tensor = self.key(memory_BSM)
        return keys_BSQ


RecurrentAttention = AdditiveAttention | DotAttention | MonotonicAttention


def build_recurrent_attention(
    score: str, d_query: int, d_memory: int, d_attention: int
) -> RecurrentAttention:
    """Attention by name: ``additive``, ``dot``, ``scaled_dot``, ``general``, ``hard`` or ``monotonic``."""
    if score == "hard":
        return HardAttention(d_query, d_memory, d_attention)
    if score == "monotonic":
        return MonotonicAttention(d_query, d_memory, d_attention)
    if score == "additive":
        return AdditiveAttention(d_query, d_memory, d_attention)
    if score == "general":
        return GeneralAttention(d_query, d_memory)
    if score in ("dot", "scaled_dot"):
        return DotAttention(d_query, d_memory, scaled=score == "scaled_dot")
    raise ValueError(
        f"unknown attention score '{score}'; choose additive, dot, scaled_dot, general, hard or monotonic"
    )
