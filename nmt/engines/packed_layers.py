"""The layers of a Transformer with their weights laid out for decoding on a CPU.

Query, key and value are one product; ReLU and residual additions are part of theirs where the kernel can. The
encoder computes with the tokens of sentences and not with what pads them, attention aside.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T tokens read, D d_model, H heads, E per
head, W numbers that attention reads of a row, M tokens of all sentences, rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines.kernels import Precision, dtype_of, pack
from nmt.engines.packed_state import PackedState
from nmt.engines.parts import Sublayer
from nmt.layers.attention import MultiHeadAttention
from nmt.layers.feed_forward import FeedForward
from nmt.models.transformer import DecoderLayer, EncoderLayer, Residual


@dataclass(frozen=True)
class Tokens:
    """Where the tokens of a batch of sentences stand: one after another in M rows, or padded to (B, S)."""

    size: tuple[int, int]
    """B and S."""
    mask_B11S: Tensor | None
    """What attention adds to scores of the source: -inf at padding; None where nothing is padded."""
    places_M: Tensor | None
    """Where each token stands among B*S; None where nothing is padded."""
    rows_BS: Tensor | None
    """The row of each place, flat; at padding that of some token."""

    @classmethod
    def of(cls, mask_BS: Tensor, dtype: torch.dtype) -> Tokens:
        """Of sentences whose tokens ``mask_BS`` tells from padding."""
        size = mask_BS.size(0), mask_BS.size(1)
        if bool(mask_BS.all()):
            return cls(size, None, None, None)
        mask_B11S = torch.zeros(mask_BS.shape, dtype=dtype).masked_fill_(~mask_BS, -torch.inf)
        flat_BS = mask_BS.flatten()
        # at padding: the row of the last token before it
        rows_BS = flat_BS.cumsum(0).sub_(1).clamp_(min=0)
        return cls(size, mask_B11S[:, None, None], flat_BS.nonzero().squeeze(1), rows_BS)

    def packed(self, x_BSD: Tensor) -> Tensor:
        """(B, S, D) -> a row for each token."""
        x_MD = x_BSD.flatten(0, 1)
        return x_MD if self.places_M is None else x_MD.index_select(0, self.places_M)

    def padded(self, x_MD: Tensor) -> Tensor:
        """(M, D) -> (B, S, D); padding has numbers of some token."""
        B, S = self.size
        x_BSD = x_MD[: B * S] if self.rows_BS is None else x_MD.index_select(0, self.rows_BS)
        return x_BSD.view(B, S, -1)


class _Attention:
    """What stands around an attention: its maps, norm and residual addition."""

    def __init__(
        self,
        read: Sequence[nn.Linear],
        attention: MultiHeadAttention,
        residual: Residual,
        precision: Precision,
    ) -> None:
        self._in = pack(read, precision)
        self._out = pack([attention.output], precision)
        self._norm = Sublayer(residual, dtype_of(precision))
        self._n_heads = attention.n_heads
        self.d_inner = attention.query.out_features

    def enter(self, x_ND: Tensor) -> Tensor:
        """What attention reads of each row, side by side."""
        return self._in(self._norm.before(x_ND))

    def leave(self, context_ND: Tensor, x_ND: Tensor) -> Tensor:
        """What was found, mapped and added to the residual stream."""
        return self._norm.after(self._out(context_ND, add_NF=x_ND))


class _SelfAttention(_Attention):
    """It reads query, key and value of each row."""

    def __init__(self, attention: MultiHeadAttention, residual: Residual, precision: Precision) -> None:
        read = [attention.query, attention.key, attention.value]
        super().__init__(read, attention, residual, precision)

    def over_source(self, x_MD: Tensor, tokens: Tokens) -> Tensor:
        """All positions of sentences at once, for the encoder."""
        qkv_BSW = tokens.padded(self.enter(x_MD))
        context_BSD = self._over_sentence(qkv_BSW, tokens.mask_B11S)
        return self.leave(_beside([tokens.packed(context_BSD)], x_MD.size(0), self.d_inner), x_MD)

    def over_target(self, x_MD: Tensor, size: tuple[int, int]) -> Tensor:
        """All positions of sentences at once, each seeing those before it; ``size`` is (B, T)."""
        qkv_BTW = self.enter(x_MD)[: size[0] * size[1]].view(*size, -1)
        context_BTD = self._over_sentence(qkv_BTW, causal=True)
        return self.leave(_beside([context_BTD], x_MD.size(0), self.d_inner), x_MD)

    def _over_sentence(
        self, qkv_BSW: Tensor, mask_B11S: Tensor | None = None, *, causal: bool = False
    ) -> Tensor:
        qkv_BS3HE = qkv_BSW.view(*qkv_BSW.shape[:2], 3, self._n_heads, self._d_head)
        query, key, value = qkv_BS3HE.permute(2, 0, 3, 1, 4).unbind()
        context_BHSE = F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask_B11S, is_causal=causal
        )
        return context_BHSE.transpose(1, 2).flatten(2)

    def over_past(self, qkv_NW: Tensor, state: PackedState, index: int) -> Tensor:
        """The decoder's: each row sees what it has read; its keys and values are those of layer ``index``."""
        contexts = []
        row = 0
        for group in state.groups:
            N = group.past.n_rows
            query_NHE, *new = qkv_NW[row : row + N].view(N, 3, self._n_heads, self._d_head).unbind(1)
            row += N
            group.past.write(index, *new)
            key_NHTE, value_NHTE = (part.to(query_NHE.dtype) for part in group.past.in_order(index))
            contexts.append(F.scaled_dot_product_attention(query_NHE.unsqueeze(2), key_NHTE, value_NHTE))
        return _beside(contexts, qkv_NW.size(0), self.d_inner)

    @property
    def heads(self) -> tuple[int, int]:
        """How many, and how many numbers each has."""
        return self._n_heads, self._d_head

    @property
    def _d_head(self) -> int:
        return self.d_inner // self._n_heads


class _CrossAttention(_Attention):
    """It reads the query of each row; keys and values are those of the source."""

    def __init__(self, attention: MultiHeadAttention, residual: Residual, precision: Precision) -> None:
        super().__init__([attention.query], attention, residual, precision)
        self._memory = pack([attention.key, attention.value], precision)

    def memory(self, memory_MD: Tensor, tokens: Tokens) -> tuple[Tensor, Tensor]:
        """Keys_BHSE and values_BHSE of the source."""
        both_BSW = tokens.padded(self._memory(memory_MD))
        both_BS2HE = both_BSW.view(*tokens.size, 2, self._n_heads, self.d_inner // self._n_heads)
        key, value = both_BS2HE.permute(2, 0, 3, 1, 4).contiguous().unbind()
        return key, value

    def over_memory(self, query_ND: Tensor, state: PackedState, index: int) -> Tensor:
        """The K rows of a sentence are K queries on its one memory."""
        contexts = []
        row = 0
        for group in state.groups:
            size = group.n_sentences, state.beam_size
            layers, mask_B11S = group.memory.in_order()
            contexts.append(self._attend(query_ND[row:], size, layers[index], mask_B11S))
            row += size[0] * size[1]
        return _beside(contexts, query_ND.size(0), self.d_inner)

    def over_target(
        self, x_MD: Tensor, size: tuple[int, int], memory: tuple[Tensor, Tensor], mask_B11S: Tensor | None
    ) -> Tensor:
        """The same for a forced pass: the T positions of a sentence are T queries; ``size`` is (B, T)."""
        context = self._attend(self.enter(x_MD), size, memory, mask_B11S)
        return self.leave(_beside([context], x_MD.size(0), self.d_inner), x_MD)

    def _attend(
        self, query_ND: Tensor, size: tuple[int, int], memory: tuple[Tensor, Tensor], mask_B11S: Tensor | None
    ) -> Tensor:
        """Context_BKHE of the first B*K rows; ``size`` is (B, K)."""
        query_BKHE = query_ND[: size[0] * size[1]].view(*size, self._n_heads, -1)
        context_BHKE = F.scaled_dot_product_attention(
            query_BKHE.transpose(1, 2), *memory, attn_mask=mask_B11S
        )
        return context_BHKE.transpose(1, 2)


class _FeedForward:
    def __init__(self, feed_forward: FeedForward, residual: Residual, precision: Precision) -> None:
        self._up, self._down = pack([feed_forward.up], precision), pack([feed_forward.down], precision)
        self._norm = Sublayer(residual, dtype_of(precision))
        self._activation = None if feed_forward.activation is torch.relu else feed_forward.activation

    def __call__(self, x_ND: Tensor) -> Tensor:
        y_NF = self._up(self._norm.before(x_ND), relu=self._activation is None)
        if self._activation is not None:
            y_NF = self._activation(y_NF)
        return self._norm.after(self._down(y_NF, add_NF=x_ND))


class PackedEncoderLayer:
    """Self-attention over the source, feed-forward."""

    def __init__(self, layer: EncoderLayer, precision: Precision) -> None:
        self._attention = _SelfAttention(layer.self_attention, layer.around_attention, precision)
        self._feed_forward = _FeedForward(layer.feed_forward, layer.around_feed_forward, precision)

    def __call__(self, x_MD: Tensor, tokens: Tokens) -> Tensor:
        """All tokens of all sentences at once."""
        return self._feed_forward(self._attention.over_source(x_MD, tokens))


class PackedDecoderLayer:
    """Self-attention over the past, cross-attention, feed-forward."""

    def __init__(self, layer: DecoderLayer, precision: Precision) -> None:
        self.self_attention = _SelfAttention(layer.self_attention, layer.around_self_attention, precision)
        self.cross_attention = _CrossAttention(layer.cross_attention, layer.around_cross_attention, precision)
        self._feed_forward = _FeedForward(layer.feed_forward, layer.around_feed_forward, precision)

    def step(self, x_ND: Tensor, state: PackedState, index: int) -> Tensor:
        """A token of each row; what is read and kept is that of layer ``index``."""
        past, memory = self.self_attention, self.cross_attention
        x_ND = past.leave(past.over_past(past.enter(x_ND), state, index), x_ND)
        x_ND = memory.leave(memory.over_memory(memory.enter(x_ND), state, index), x_ND)
        return self._feed_forward(x_ND)

    def over_target(
        self, x_MD: Tensor, size: tuple[int, int], memory: tuple[Tensor, Tensor], mask_B11S: Tensor | None
    ) -> Tensor:
        """A forced pass: T tokens of each sentence at once; ``size`` is (B, T)."""
        x_MD = self.self_attention.over_target(x_MD, size)
        return self._feed_forward(self.cross_attention.over_target(x_MD, size, memory, mask_B11S))


def _beside(contexts: Sequence[Tensor], n_rows: int, width: int) -> Tensor:
    """What heads have found for all groups, one row each, and rows of zeros to make ``n_rows``."""
    if len(contexts) == 1 and contexts[0].numel() == n_rows * width:
        return contexts[0].reshape(n_rows, width)
    rows = [context.reshape(-1, width) for context in contexts]
    missing = n_rows - sum(part.size(0) for part in rows)
    return torch.cat([*rows, rows[0].new_zeros(missing, width)])
