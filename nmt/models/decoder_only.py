"""A translator that is a decoder alone (Radford et al. 2018, section 3.1, with translation as its task).

    x1 x2 x3 EOS BOS y1 y2      one sequence: source, separator (EOS BOS), target; the loss is on the target
                  |   |  |
                  y1 y2 EOS     what is predicted

There is no encoder and no cross-attention: each token attends to those before it, source and target alike.

Sources are padded on the left, so that the target begins in one column for all, and every distance in a row
is that of the sentence alone. Positions are relative (``rotary``, ``alibi``) or none: padding shifts nothing,
and states of sentences that have read different numbers of tokens merge by more padding.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, L = S + T columns,
D d_model, H heads, V vocabulary. Masks are True at real tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.batch import Batch
from nmt.errors import ConfigError
from nmt.layers.attention import KeyValue, MultiHeadAttention, causal_mask
from nmt.layers.dropout import Dropout
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.layers.feed_forward import FeedForward
from nmt.models.interface import Step
from nmt.models.transformer import Residual


class CausalLayer(nn.Module):
    """Masked self-attention, then feed-forward, pre-norm."""

    def __init__(
        self, attention: MultiHeadAttention, feed_forward: FeedForward, residuals: Sequence[Residual]
    ) -> None:
        super().__init__()
        self.self_attention = attention
        self.feed_forward = feed_forward
        self.around_attention, self.around_feed_forward = residuals

    def forward(
        self, x_NTD: Tensor, past: KeyValue | None, mask_N1TL: Tensor, *, with_weights: bool = False
    ) -> tuple[Tensor, KeyValue, Tensor | None]:
        """Read T new columns after ``past``: output_NTD, keys and values of all, weights_NHTL or None."""
        y_NTD = self.around_attention.enter(x_NTD)
        present = self.self_attention.project(y_NTD)
        if past is not None:
            present = KeyValue(*(torch.cat(pair, dim=2) for pair in zip(past, present, strict=True)))
        weights_NHTL = None
        if with_weights:
            y_NTD, weights_NHTL = self.self_attention.forward_with_weights(y_NTD, present, mask_N1TL)
        else:
            y_NTD = self.self_attention(y_NTD, present, mask_N1TL)
        x_NTD = self.around_attention.leave(x_NTD, y_NTD)
        y_NTD = self.feed_forward(self.around_feed_forward.enter(x_NTD))
        return self.around_feed_forward.leave(x_NTD, y_NTD), present, weights_NHTL


class DecoderOnlyState(NamedTuple):
    """Everything read so far; a row's real columns are its last ones."""

    past: tuple[KeyValue, ...]
    """For each layer."""
    mask_NL: Tensor
    n_source_N: Tensor
    """Source tokens of each row, EOS counted."""
    source_width: int
    """S: of the attention that a step shows."""
    beam_size: int

    def select(self, rows_N: Tensor) -> DecoderOnlyState:
        """Only ``rows_N``, moved."""
        past = tuple(KeyValue(*(t.index_select(0, rows_N) for t in layer)) for layer in self.past)
        mask_NL, n_source_N = (t.index_select(0, rows_N) for t in (self.mask_NL, self.n_source_N))
        return self._replace(past=past, mask_NL=mask_NL, n_source_N=n_source_N)


class DecoderOnly(nn.Module):
    """A stack of causal layers over one embedding table, which is the output projection as well."""

    def __init__(
        self,
        embedding: ScaledEmbedding,
        layers: Sequence[CausalLayer],
        output: OutputProjection,
        *,
        d_model: int,
        dropout: float,
        alignment_layer: int,
    ) -> None:
        super().__init__()
        self.source_embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.output = output
        self.dropout = Dropout(dropout)
        self.alignment_layer = alignment_layer % len(layers)

    def forward(self, batch: Batch) -> Tensor:
        """Teacher-forced logits_BTV of the target."""
        hidden_BTD, _ = self.decode(batch)
        logits_BTV: Tensor = self.output(hidden_BTD)
        return logits_BTV

    def decode(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced pass: hidden_BTD of the target columns."""
        hidden_BTD, _ = self._forced_pass(batch, None)
        return hidden_BTD, None

    def forward_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Teacher-forced logits_BTV and attention_BTS; errors as ``decode_with_attention``."""
        hidden_BTD, attention_BTS = self.decode_with_attention(batch, layer, heads)
        return self.output(hidden_BTD), attention_BTS

    def decode_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Teacher-forced hidden_BTD, and what a layer's heads pay to the source, as shares: attention_BTS.

        Raises:
            ConfigError: the model has no such layer or head.
        """
        layer = self.alignment_layer if layer is None else layer
        if not -len(self.layers) <= layer < len(self.layers):
            raise ConfigError(f"layer {layer}: the model has decoder layers 0 to {len(self.layers) - 1}")
        hidden_BTD, weights_BHTL = self._forced_pass(batch, layer % len(self.layers))
        assert weights_BHTL is not None
        n_heads = weights_BHTL.size(1)
        for head in heads or ():
            if not 0 <= head < n_heads:
                raise ConfigError(f"head {head}: each layer has heads 0 to {n_heads - 1}")
        shown_BTL = (
            weights_BHTL[:, list(range(n_heads)) if heads is None else list(heads)].float().mean(dim=1)
        )
        n_source_B, S = batch.source_mask_BS.sum(dim=1), batch.source_BS.size(1)
        return hidden_BTD, source_shares(shown_BTL, S - n_source_B, n_source_B, S)

    def start(self, source: Batch, beam_size: int) -> DecoderOnlyState:
        """Read the source once, then repeat it for the beam."""
        ids_BS, mask_BS = padded_left(source.source_BS, source.source_mask_BS)
        _, past, _ = self._read(ids_BS, (None,) * len(self.layers), prefix_mask(mask_BS), None)
        state = DecoderOnlyState(past, mask_BS, mask_BS.sum(dim=1), mask_BS.size(1), beam_size)
        rows_N = torch.arange(source.size, device=mask_BS.device).repeat_interleave(beam_size)
        return state.select(rows_N)

    def step(self, state: DecoderOnlyState, tokens_N: Tensor) -> tuple[Step, DecoderOnlyState]:
        """Read one token for each row and predict the next."""
        mask_NL = pad(state.mask_NL, (0, 1), value=True)
        hidden_N1D, past, weights_NH1L = self._read(
            tokens_N.unsqueeze(1), state.past, mask_NL[:, None, None], self.alignment_layer
        )
        assert weights_NH1L is not None
        first_N = mask_NL.size(1) - mask_NL.sum(dim=1)
        shown_N1L = weights_NH1L.float().mean(dim=1)
        attention_NS = source_shares(shown_N1L, first_N, state.n_source_N, state.source_width).squeeze(1)
        log_probs_NV = self.output(hidden_N1D.squeeze(1)).float().log_softmax(dim=-1)
        return Step(log_probs_NV, attention_NS), state._replace(past=past, mask_NL=mask_NL)

    def reorder(self, state: DecoderOnlyState, rows_N: Tensor) -> DecoderOnlyState:
        """Move rows of the past."""
        return state.select(rows_N)

    def merge(self, first: DecoderOnlyState, second: DecoderOnlyState) -> DecoderOnlyState:
        """The sentences of both, those of ``first`` first, padded on the left to one length."""
        most = max(first.mask_NL.size(1), second.mask_NL.size(1))

        def longer(tensor: Tensor, dim: int) -> Tensor:
            after = (0, 0) * (tensor.dim() - 1 - dim)
            return pad(tensor, (*after, most - tensor.size(dim), 0))

        past = tuple(
            KeyValue(*(torch.cat([longer(t, 2) for t in pair]) for pair in zip(*layers, strict=True)))
            for layers in zip(first.past, second.past, strict=True)
        )
        return DecoderOnlyState(
            past,
            torch.cat([longer(state.mask_NL, 1) for state in (first, second)]),
            torch.cat((first.n_source_N, second.n_source_N)),
            max(first.source_width, second.source_width),
            first.beam_size,
        )

    def _forced_pass(self, batch: Batch, weights_of_layer: int | None) -> tuple[Tensor, Tensor | None]:
        """hidden_BTD, and weights_BHTL of a layer or None, of the target columns."""
        if batch.target_in_BT is None:
            raise ValueError("a teacher-forced pass needs the target side of the batch")
        ids_BS, mask_BS = padded_left(batch.source_BS, batch.source_mask_BS)
        mask_BL = pad(
            mask_BS, (0, batch.target_in_BT.size(1)), value=True
        )  # padding comes after what is real
        hidden_BLD, _, weights_BHLL = self._read(
            torch.cat((ids_BS, batch.target_in_BT), dim=1),
            (None,) * len(self.layers),
            prefix_mask(mask_BL),
            weights_of_layer,
        )
        S = ids_BS.size(1)
        return hidden_BLD[:, S:], None if weights_BHLL is None else weights_BHLL[:, :, S:]

    def _read(
        self,
        ids_NT: Tensor,
        past: Sequence[KeyValue | None],
        mask_N1TL: Tensor,
        weights_of_layer: int | None,
    ) -> tuple[Tensor, tuple[KeyValue, ...], Tensor | None]:
        """Push T columns through the stack."""
        x_NTD = self.dropout(self.source_embedding(ids_NT))
        present: list[KeyValue] = []
        shown: Tensor | None = None
        for index, layer in enumerate(self.layers):
            x_NTD, key_value, weights_NHTL = layer(
                x_NTD, past[index], mask_N1TL, with_weights=index == weights_of_layer
            )
            present.append(key_value)
            shown = shown if weights_NHTL is None else weights_NHTL
        return self.norm(x_NTD), tuple(present), shown


def padded_left(ids_BS: Tensor, mask_BS: Tensor) -> tuple[Tensor, Tensor]:
    """Rows padded on the right -> the same padded on the left, and their mask."""
    S = mask_BS.size(1)
    column_BS = torch.arange(S, device=mask_BS.device) - (S - mask_BS.sum(dim=1, keepdim=True))
    return ids_BS.gather(1, column_BS % max(S, 1)), column_BS >= 0


def prefix_mask(mask_BL: Tensor) -> Tensor:
    """(B, 1, L, L): each column sees the real ones before it, and itself; padding sees itself alone."""
    L = mask_BL.size(1)
    itself_LL = torch.eye(L, dtype=torch.bool, device=mask_BL.device)
    return ((causal_mask(L, mask_BL.device) & mask_BL[:, None, :]) | itself_LL).unsqueeze(1)


def source_shares(weights_NTL: Tensor, first_N: Tensor, n_source_N: Tensor, width: int) -> Tensor:
    """Attention to the source, scaled to sum to 1: attention_NTS, padded on the right.

    Args:
        weights_NTL: attention over all columns.
        first_N: the column of each row's first source token.
        n_source_N: how many source tokens it has.
        width: S.
    """
    place_S = torch.arange(width, device=weights_NTL.device)
    column_NS = (first_N.unsqueeze(1) + place_S).clamp(max=max(weights_NTL.size(2) - 1, 0))
    paid_NTS = weights_NTL.gather(2, column_NS.unsqueeze(1).expand(-1, weights_NTL.size(1), -1))
    tiny = torch.finfo(paid_NTS.dtype).tiny
    paid_NTS = paid_NTS.clamp_min(tiny) * (place_S < n_source_N.unsqueeze(1)).unsqueeze(1)
    return paid_NTS / paid_NTS.sum(dim=2, keepdim=True)
