"""Attention over several sources (Libovický and Helcl 2017, section 3; Zoph and Knight 2016 for the task).

    flat           one softmax over the words of all sources
    hierarchical   a softmax over the words of each source k, which gives c_k; then one over the sources:
                   b = softmax over k of q' W c_k,   context = sum over k of b_k c_k          (eqs. 7 to 9)

The sources of a sentence stand in one sequence, each but the last ended by a separator: whatever passes a
text along passes several. Of documents they are sentences, and attention over the words of each, then over
the sentences, is that of Yang et al. (2016); see ``nmt.layers.document_context``.

Here we differ: scores are scaled dot products, for each head by itself.

Dimensions: B sentences, H heads, T queries, S words of all sources, K sources, E per head.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from nmt.layers.attention import KeyValue, MultiHeadAttention

HIDDEN = -1e9
"""The score of what is not there: exactly nothing is left of it, and a row of nothing else has gradients."""


class HierarchicalAttention(MultiHeadAttention):
    """Its mask is of each source, (B, 1, K, S), True at the words of source k; a source may be empty."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout)
        d_head = d_model // n_heads
        self.source_key = nn.Linear(d_head, d_head, bias=False)

    def reference(
        self, query_BHTE: Tensor, memory: KeyValue, mask_BHTS: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """context_BHTE and weights_BHTS over all words, which sum to 1 unless every source is empty."""
        assert mask_BHTS is not None
        mask_B1KS, scale = mask_BHTS, 1 / math.sqrt(query_BHTE.size(-1))
        is_there_B1K = mask_B1KS.any(dim=3)
        scores_BHTS = query_BHTE @ memory.key_BHSE.transpose(-2, -1) * scale
        words_BHTKS = scores_BHTS.unsqueeze(3).masked_fill(~mask_B1KS.unsqueeze(2), HIDDEN).softmax(dim=-1)
        words_BHTKS = words_BHTKS * mask_B1KS.unsqueeze(2)
        context_BHTKE = words_BHTKS @ memory.value_BHSE.unsqueeze(2)
        scores_BHTK = (self.source_key(context_BHTKE) @ query_BHTE.unsqueeze(-1)).squeeze(-1) * scale
        sources_BHTK = scores_BHTK.masked_fill(~is_there_B1K.unsqueeze(2), HIDDEN).softmax(dim=-1)
        sources_BHTK = sources_BHTK * is_there_B1K.unsqueeze(2)
        weights_BHTS = (sources_BHTK.unsqueeze(-1) * words_BHTKS).sum(dim=3)
        return weights_BHTS @ memory.value_BHSE, weights_BHTS

    def fused(
        self, query_BHTE: Tensor, memory: KeyValue, mask: Tensor | None, *, causal: bool = False
    ) -> Tensor:
        """As ``reference``: no kernel knows two softmaxes."""
        assert not causal
        return self.reference(query_BHTE, memory, mask)[0]


def source_numbers(ids_BS: Tensor, separator: int) -> Tensor:
    """Which source each word is of, from 0; a separator ends its own."""
    is_separator_BS = (ids_BS == separator).long()
    return is_separator_BS.cumsum(dim=1) - is_separator_BS


def source_masks(number_BS: Tensor, mask_BS: Tensor) -> Tensor:
    """(B, 1, K, S), True at the real words of source k."""
    n_sources = int(number_BS.masked_fill(~mask_BS, 0).max()) + 1
    number_K1 = torch.arange(n_sources, device=mask_BS.device).unsqueeze(1)
    return ((number_BS.unsqueeze(1) == number_K1) & mask_BS.unsqueeze(1)).unsqueeze(1)
