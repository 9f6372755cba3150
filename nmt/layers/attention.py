"""Scaled dot-product and multi-head attention (Vaswani et al. 2017, sections 3.2.1 and 3.2.2).

Dimensions: B sentences, T query length, S key length, D d_model, H heads, E = D/H per head.
Masks are True where a query may attend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.layers.dropout import Dropout


def scaled_dot_product_attention(
    query_BHTE: Tensor, key_BHSE: Tensor, value_BHSE: Tensor, mask_BHTS: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(Q K' / sqrt(E)) V as the paper writes it (eq. 1): the readable reference.

    Args:
        query_BHTE: queries.
        key_BHSE: keys.
        value_BHSE: values.
        mask_BHTS: broadcastable to (B, H, T, S), True where attention is allowed; each query needs one True.
            Or float: what is added to the scores, -inf where attention is not allowed.

    Returns:
        context_BHTE and weights_BHTS, whose rows sum to 1.
    """
    scores_BHTS = query_BHTE @ key_BHSE.transpose(-2, -1) / math.sqrt(query_BHTE.size(-1))
    if mask_BHTS is not None and mask_BHTS.dtype == torch.bool:
        scores_BHTS = scores_BHTS.masked_fill(~mask_BHTS, -math.inf)
    elif mask_BHTS is not None:
        scores_BHTS = scores_BHTS + mask_BHTS
    weights_BHTS = scores_BHTS.softmax(dim=-1)
    return weights_BHTS @ value_BHSE, weights_BHTS


class KeyValue(NamedTuple):
    """Projected keys and values, split into heads: what a decoding state keeps of a sequence."""

    key_BHSE: Tensor
    value_BHSE: Tensor


class RelativePositions(Protocol):
    """Positions that only self-attention knows: ``nmt.layers.rotary``, ``nmt.layers.alibi``."""

    def place(self, query_BHTE: Tensor, key_BHSE: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Queries and keys with their positions, and what is added to scores_BHTS, if anything.

        Keys stand at positions 0 to S-1, and the last query where the last key does.
        """
        ...


class MultiHeadAttention(nn.Module):
    """H attentions in parallel on learned projections (section 3.2.2), on torch's fused kernel.

    ``d_head`` None is the paper's D/H; another leaves projections narrower than the model, as pruning does.
    ``relative`` None: positions are in the embeddings, or nowhere.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float = 0.0,
        d_head: int | None = None,
        relative: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        self.relative = relative
        d_inner = d_model if d_head is None else n_heads * d_head
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_inner)
        self.key = nn.Linear(d_model, d_inner)
        self.value = nn.Linear(d_model, d_inner)
        self.output = nn.Linear(d_inner, d_model)
        self.dropout = Dropout(dropout)

    def project(self, memory_BSD: Tensor) -> KeyValue:
        """Keys and values of a sequence, to be attended to now or kept in a decoding state."""
        return KeyValue(self._split_heads(self.key(memory_BSD)), self._split_heads(self.value(memory_BSD)))

    def forward(
        self, x_BTD: Tensor, memory: KeyValue, mask: Tensor | None = None, *, causal: bool = False
    ) -> Tensor:
        """Attend from ``x_BTD`` to ``memory``.

        Args:
            x_BTD: what the queries are projected from.
            memory: projected keys and values.
            mask: broadcastable to (B, H, T, S), True where attention is allowed.
            causal: position t sees positions up to t alone; excludes ``mask``.

        Returns:
            output_BTD.
        """
        if not self._fused_kernel_pays(x_BTD):
            output_BTD, _ = self.forward_with_weights(x_BTD, memory, mask, causal=causal)
            return output_BTD
        query_BHTE = self._split_heads(self.query(x_BTD))
        query_BHTE, memory, mask, causal = self._placed(query_BHTE, memory, mask, causal=causal)
        return self._merge_heads(self.fused(query_BHTE, memory, mask, causal=causal))

    def forward_with_weights(
        self, x_BTD: Tensor, memory: KeyValue, mask: Tensor | None = None, *, causal: bool = False
    ) -> tuple[Tensor, Tensor]:
        """As ``forward``, through the reference; returns output_BTD and weights_BHTS (before dropout)."""
        query_BHTE = self._split_heads(self.query(x_BTD))
        query_BHTE, memory, mask, causal = self._placed(query_BHTE, memory, mask, causal=causal)
        if causal:
            mask = causal_mask(query_BHTE.size(2), x_BTD.device)
        context_BHTE, weights_BHTS = self.reference(query_BHTE, memory, mask)
        if self.training and self.dropout.p > 0:
            context_BHTE = self.dropout(weights_BHTS) @ memory.value_BHSE
        return self._merge_heads(context_BHTE), weights_BHTS

    def forward_apart(
        self,
        x_N1D: Tensor,
        n_rows: Sequence[int],
        memories: Sequence[KeyValue],
        masks: Sequence[Tensor | None],
        *,
        with_weights: bool = False,
    ) -> tuple[Tensor, list[Tensor]]:
        """Attend from groups of rows to the memory of each group, without gradients.

        Args:
            x_N1D: the rows of all groups.
            n_rows: how many rows each group has: as many for each of the B entries of its memory.
            memories: projected keys and values of each group.
            masks: of each group, broadcastable to (B, H, rows of an entry, S).
            with_weights: give the weights too.

        Returns:
            output_N1D, and for each group weights_BHQS if they were asked for.
        """
        contexts: list[Tensor] = []
        weights: list[Tensor] = []
        queries = torch.split(self.query(x_N1D), list(n_rows))
        for query_N1D, memory, mask in zip(queries, memories, masks, strict=True):
            query_BHQE = self._split_heads(query_N1D.view(memory.key_BHSE.size(0), -1, query_N1D.size(2)))
            query_BHQE, memory, mask, _ = self._placed(query_BHQE, memory, mask)
            if with_weights:
                context_BHQE, weights_BHQS = self.reference(query_BHQE, memory, mask)
                weights.append(weights_BHQS)
            else:
                context_BHQE = self.fused(query_BHQE, memory, mask)
            contexts.append(context_BHQE.transpose(1, 2).reshape(query_N1D.shape))
        output_N1D: Tensor = self.output(torch.cat(contexts))
        return output_N1D, weights

    def reference(self, query_BHTE: Tensor, memory: KeyValue, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """context_BHTE and weights_BHTS of the heads, as the paper writes it."""
        return scaled_dot_product_attention(query_BHTE, *memory, mask)

    def fused(
        self, query_BHTE: Tensor, memory: KeyValue, mask: Tensor | None, *, causal: bool = False
    ) -> Tensor:
        """context_BHTE alone, by torch's kernel."""
        return F.scaled_dot_product_attention(query_BHTE, *memory, attn_mask=mask, is_causal=causal)

    def _placed(
        self, query_BHTE: Tensor, memory: KeyValue, mask: Tensor | None, *, causal: bool = False
    ) -> tuple[Tensor, KeyValue, Tensor | None, bool]:
        """Queries, keys, mask and ``causal`` with relative positions in them; a bias takes the mask in."""
        if self.relative is None:
            return query_BHTE, memory, mask, causal
        query_BHTE, key_BHSE, bias_HTS = self.relative.place(query_BHTE, memory.key_BHSE)
        memory = memory._replace(key_BHSE=key_BHSE)
        if bias_HTS is None:
            return query_BHTE, memory, mask, causal
        if causal:
            mask = causal_mask(query_BHTE.size(2), query_BHTE.device)
        if mask is not None:
            bias_HTS = bias_HTS.masked_fill(~mask, -math.inf)
        return query_BHTE, memory, bias_HTS, False

    def _fused_kernel_pays(self, x_BTD: Tensor) -> bool:
        """Not for our dropout, which it does not know, nor for gradients on a CPU.

        There its backward pass takes five times as long as plain products in bf16, and as long in fp32
        (batch 256 x 16 and 64 x 64 tokens, 4 heads of 64).
        """
        if self.training and self.dropout.p > 0:
            return False
        return x_BTD.device.type != "cpu" or not torch.is_grad_enabled()

    def _split_heads(self, x_BTD: Tensor) -> Tensor:
        B, T, D = x_BTD.shape
        return x_BTD.view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)  # BHTE

    def _merge_heads(self, context_BHTE: Tensor) -> Tensor:
        output_BTD: Tensor = self.output(context_BHTE.transpose(1, 2).flatten(2))
        return output_BTD


def causal_mask(length: int, device: torch.device | str = "cpu") -> Tensor:
    """(T, T) bool mask, True where key position <= query position."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
