"""The encoder-decoder Transformer (Vaswani et al. 2017), pre-norm by default (Xiong et al. 2020).

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, D d_model, H heads,
E per head, V vocabulary. Masks are True at real tokens. In training K is 1 and N is B.

The model is its own eager ``StepDecoder``: a state holds each layer's projected keys and values, and
cross-attention lets the K rows of a sentence share one copy of its memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.batch import Batch
from nmt.config import Sources
from nmt.errors import ConfigError
from nmt.layers.attention import KeyValue, MultiHeadAttention
from nmt.layers.document_context import DocumentContext
from nmt.layers.dropout import Dropout
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.layers.feed_forward import FeedForward
from nmt.layers.hierarchical_attention import source_masks, source_numbers
from nmt.layers.positional_encoding import PositionalEncoding
from nmt.models.interface import Step
from nmt.models.transformer_state import Group, TransformerState

NormPlace = Literal["pre", "post"]


class Residual(nn.Module):
    """Where normalisation stands: x + f(norm(x)) (pre) or norm(x + f(x)) (post, the paper)."""

    def __init__(self, d_model: int, dropout: float, norm: NormPlace) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)
        self.pre = norm == "pre"

    def enter(self, x_NTD: Tensor) -> Tensor:
        """Input of the sub-layer."""
        y_NTD: Tensor = self.norm(x_NTD) if self.pre else x_NTD
        return y_NTD

    def leave(self, x_NTD: Tensor, y_NTD: Tensor) -> Tensor:
        """Add the sub-layer's output ``y`` to its input ``x``."""
        sum_NTD = x_NTD + self.dropout(y_NTD)
        result_NTD: Tensor = sum_NTD if self.pre else self.norm(sum_NTD)
        return result_NTD


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward (section 3.1)."""

    def __init__(
        self, attention: MultiHeadAttention, feed_forward: FeedForward, residuals: Sequence[Residual]
    ) -> None:
        super().__init__()
        self.self_attention = attention
        self.feed_forward = feed_forward
        self.around_attention, self.around_feed_forward = residuals

    def forward(self, x_BSD: Tensor, mask_B11S: Tensor) -> Tensor:
        """(B, S, D) -> (B, S, D)."""
        y_BSD = self.around_attention.enter(x_BSD)
        y_BSD = self.self_attention(y_BSD, self.self_attention.project(y_BSD), mask_B11S)
        x_BSD = self.around_attention.leave(x_BSD, y_BSD)
        y_BSD = self.feed_forward(self.around_feed_forward.enter(x_BSD))
        return self.around_feed_forward.leave(x_BSD, y_BSD)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, then feed-forward (section 3.1)."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        residuals: Sequence[Residual],
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.around_self_attention, self.around_cross_attention, self.around_feed_forward = residuals

    def forward(
        self,
        x_NTD: Tensor,
        past: KeyValue | None,
        memory: KeyValue,
        memory_mask_B11S: Tensor,
        *,
        with_weights: bool = False,
    ) -> tuple[Tensor, KeyValue, Tensor | None]:
        """Read T new positions after ``past``.

        Returns:
            output_NTD, keys and values of past and new positions, cross-attention weights_NHTS or None.
        """
        assert past is None or x_NTD.size(1) == 1, "after the first read, tokens come one at a time"
        y_NTD = self.around_self_attention.enter(x_NTD)
        present = self.self_attention.project(y_NTD)
        if past is not None:
            present = KeyValue(*(torch.cat(pair, dim=2) for pair in zip(past, present, strict=True)))
        y_NTD = self.self_attention(y_NTD, present, causal=x_NTD.size(1) > 1)
        x_NTD = self.around_self_attention.leave(x_NTD, y_NTD)

        y_NTD, weights_NHTS = self._cross_attend(
            self.around_cross_attention.enter(x_NTD), memory, memory_mask_B11S, with_weights=with_weights
        )
        x_NTD = self.around_cross_attention.leave(x_NTD, y_NTD)

        y_NTD = self.feed_forward(self.around_feed_forward.enter(x_NTD))
        return self.around_feed_forward.leave(x_NTD, y_NTD), present, weights_NHTS

    def forward_apart(
        self, x_N1D: Tensor, state: TransformerState, index: int, *, with_weights: bool = False
    ) -> tuple[Tensor, list[KeyValue], Tensor | None]:
        """One token of groups that have each read a different number; the layer is the ``index``-th.

        Returns:
            output_N1D, for each group keys and values, cross-attention weights_NH1S or None.
        """
        groups, n_rows = state.groups, state.n_rows
        y_N1D = self.around_self_attention.enter(x_N1D)
        new = (torch.split(tensor_NH1E, n_rows) for tensor_NH1E in self.self_attention.project(y_N1D))
        present = [
            KeyValue(key, value)
            if (past := group.past[index]) is None
            else KeyValue(torch.cat([past.key_BHSE, key], dim=2), torch.cat([past.value_BHSE, value], dim=2))
            for group, key, value in zip(groups, *new, strict=True)
        ]
        y_N1D, _ = self.self_attention.forward_apart(y_N1D, n_rows, present, [None] * len(groups))
        x_N1D = self.around_self_attention.leave(x_N1D, y_N1D)

        y_N1D, weights = self.cross_attention.forward_apart(
            self.around_cross_attention.enter(x_N1D),
            n_rows,
            [group.memory[index] for group in groups],
            [group.memory_mask_B11S for group in groups],
            with_weights=with_weights,
        )
        x_N1D = self.around_cross_attention.leave(x_N1D, y_N1D)

        y_N1D = self.feed_forward(self.around_feed_forward.enter(x_N1D))
        return self.around_feed_forward.leave(x_N1D, y_N1D), present, _rows_of(weights) if weights else None

    def _cross_attend(
        self, y_NTD: Tensor, memory: KeyValue, mask_B11S: Tensor, *, with_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """The K rows of a sentence become K*T queries on its single memory: nothing is repeated for beams."""
        N, T, D = y_NTD.shape
        B = memory.key_BHSE.size(0)
        y_BQD = y_NTD.reshape(B, N // B * T, D)
        if not with_weights:
            return self.cross_attention(y_BQD, memory, mask_B11S).view(N, T, D), None
        y_BQD, weights_BHQS = self.cross_attention.forward_with_weights(y_BQD, memory, mask_B11S)
        H, S = weights_BHQS.size(1), weights_BHQS.size(3)
        weights_NHTS = weights_BHQS.view(B, H, N // B, T, S).transpose(1, 2).reshape(N, H, T, S)
        return y_BQD.view(N, T, D), weights_NHTS


def _rows_of(weights: Sequence[Tensor]) -> Tensor:
    """Weights_BHKS of groups -> weights_NH1S of all rows, as wide as the longest source."""
    width = max(weights_BHKS.size(3) for weights_BHKS in weights)
    return torch.cat(
        [
            functional.pad(weights_BHKS.transpose(1, 2), (0, width - weights_BHKS.size(3))).flatten(0, 1)
            for weights_BHKS in weights
        ]
    ).unsqueeze(2)


class Transformer(nn.Module):
    """Encoder and decoder stacks over shared or separate embeddings."""

    def __init__(
        self,
        source_embedding: ScaledEmbedding,
        target_embedding: ScaledEmbedding,
        positions: PositionalEncoding,
        encoder_layers: Sequence[EncoderLayer],
        decoder_layers: Sequence[DecoderLayer],
        output: OutputProjection,
        *,
        d_model: int,
        dropout: float,
        norm: NormPlace,
        alignment_layer: int,
        token_before_bos: int | None = None,
        sources: Sources = "one",
        separator: int = 4,
        context: DocumentContext | None = None,
    ) -> None:
        super().__init__()
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self.positions = positions
        self.dropout = Dropout(dropout)
        self.encoder_layers = nn.ModuleList(encoder_layers)
        self.decoder_layers = nn.ModuleList(decoder_layers)
        # post-norm leaves each layer normalised; pre-norm needs one more at the top of each stack
        self.encoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.output = output
        self.alignment_layer = alignment_layer % len(decoder_layers)
        self.token_before_bos = token_before_bos
        self.sources = sources
        self.separator = separator
        self.context = context

    def encode(self, source: Batch) -> Tensor:
        """Source ids -> memory_BSD."""
        mask = self.encoder_mask(source)
        x_BSD = self.dropout(self.positions(self.source_embedding(source.source_BS)))
        for layer in self.encoder_layers:
            x_BSD = layer(x_BSD, mask)
        return self.memory(x_BSD, source)

    def encoder_mask(self, source: Batch) -> Tensor:
        """Mask of each source word: all, (B, 1, 1, S); of several sources its own, (B, 1, S, S)."""
        if self.sources == "one":
            return source.source_mask_BS[:, None, None, :]
        number_BS = source_numbers(source.source_BS, self.separator)
        same_BSS = number_BS.unsqueeze(1) == number_BS.unsqueeze(2)
        # padding after the last source is of that source, so that each row sees something
        return (same_BSS & source.source_mask_BS.unsqueeze(1)).unsqueeze(1)

    def memory(self, x_BSD: Tensor, source: Batch) -> Tensor:
        """memory_BSD of the last encoder layer's output: normalised, with what the sentences before tell."""
        memory_BSD: Tensor = self.encoder_norm(x_BSD)
        if self.context is None:
            return memory_BSD
        number_BS = source_numbers(source.source_BS, self.separator)
        is_before_BS = source.source_mask_BS & (number_BS < number_BS[:, -1:])
        return self.context(memory_BSD, source_masks(number_BS, is_before_BS))  # type: ignore[no-any-return]

    def memory_mask(self, source: Batch) -> Tensor:
        """Mask of the decoder: all, (B, 1, 1, S); each source, (B, 1, K, S); or the last one."""
        mask_BS = source.source_mask_BS
        if self.sources in ("hierarchical", "document"):
            number_BS = source_numbers(source.source_BS, self.separator)
            if self.sources == "hierarchical":
                return source_masks(number_BS, mask_BS)
            mask_BS = mask_BS & (number_BS == number_BS[:, -1:])
        return mask_BS[:, None, None, :]

    def decode(self, batch: Batch, *, weights_of_layer: int | None = None) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced pass: hidden_BTD and cross-attention weights_BHTS of one layer, or None."""
        _, hidden_BTD, weights_BHTS = self._forced_pass(batch, weights_of_layer)
        return hidden_BTD, weights_BHTS

    def states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Teacher-forced pass up to the states: memory_BSD and hidden_BTD."""
        memory_BSD, hidden_BTD, _ = self._forced_pass(batch, None)
        return memory_BSD, hidden_BTD

    def forward(self, batch: Batch) -> Tensor:
        """Teacher-forced logits_BTV."""
        hidden_BTD, _ = self.decode(batch)
        logits_BTV: Tensor = self.output(hidden_BTD)
        return logits_BTV

    def forward_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced logits_BTV and cross-attention_BTS; errors as ``decode_with_attention``."""
        hidden_BTD, attention_BTS = self.decode_with_attention(batch, layer, heads)
        return self.output(hidden_BTD), attention_BTS

    def decode_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Teacher-forced hidden_BTD and cross-attention_BTS, averaged over ``heads`` of ``layer``.

        Raises:
            ConfigError: the model has no such layer or head.
        """
        layer = self.alignment_layer if layer is None else self._checked_layer(layer)
        hidden_BTD, weights_BHTS = self.decode(batch, weights_of_layer=layer)
        assert weights_BHTS is not None
        if heads is not None:
            weights_BHTS = weights_BHTS[:, self._checked_heads(heads, weights_BHTS.size(1))]
        return hidden_BTD, weights_BHTS.float().mean(dim=1)

    def start(self, source: Batch, beam_size: int) -> TransformerState:
        """Encode and project the memory once for all steps."""
        state = self._project_memory(self.encode(source), self.memory_mask(source), beam_size)
        if self.token_before_bos is not None:
            first_N1 = source.source_BS.new_full((source.size * beam_size, 1), self.token_before_bos)
            _, state, _ = self._read(state, first_N1, None)
        return state

    def step(self, state: TransformerState, tokens_N: Tensor) -> tuple[Step, TransformerState]:
        """Read one token for each row and predict the next."""
        hidden_ND, attention_NS, state = self.step_hidden(state, tokens_N)
        return Step(self.output(hidden_ND).float().log_softmax(dim=-1), attention_NS), state

    def step_hidden(
        self, state: TransformerState, tokens_N: Tensor
    ) -> tuple[Tensor, Tensor, TransformerState]:
        """``step`` up to what ``output`` projects: hidden_ND, cross-attention_NS, the next state."""
        hidden_N1D, state, weights_NH1S = self._read(state, tokens_N.unsqueeze(1), self.alignment_layer)
        assert weights_NH1S is not None
        return hidden_N1D.squeeze(1), weights_NH1S.float().mean(dim=1).squeeze(1), state

    def reorder(self, state: TransformerState, rows_N: Tensor) -> TransformerState:
        """Move rows of the past; the memory moves only when whole sentences leave."""
        return state.select(rows_N)

    def merge(self, first: TransformerState, second: TransformerState) -> TransformerState:
        """The sentences of both, those of ``first`` first, whatever each has read."""
        assert first.beam_size == second.beam_size, "the sentences of a batch have beams of one size"
        return TransformerState(first.groups + second.groups, first.beam_size)

    def _forced_pass(
        self, batch: Batch, weights_of_layer: int | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """memory_BSD, hidden_BTD and cross-attention weights_BHTS of a layer, or None."""
        target_BT = batch.target_in_BT
        if target_BT is None:
            raise ValueError("a teacher-forced pass needs the target side of the batch")
        memory_BSD = self.encode(batch)
        state = self._project_memory(memory_BSD, self.memory_mask(batch), beam_size=1)
        if self.token_before_bos is not None:
            target_BT = functional.pad(target_BT, (1, 0), value=self.token_before_bos)
        hidden_BTD, _, weights_BHTS = self._read(state, target_BT, weights_of_layer)
        if self.token_before_bos is not None:
            hidden_BTD = hidden_BTD[:, 1:]
            weights_BHTS = None if weights_BHTS is None else weights_BHTS[:, :, 1:]
        return memory_BSD, hidden_BTD, weights_BHTS

    def _project_memory(self, memory_BSD: Tensor, mask: Tensor, beam_size: int) -> TransformerState:
        group = Group(
            memory=tuple(layer.cross_attention.project(memory_BSD) for layer in self._decoder_layers()),
            memory_mask_B11S=mask,
            past=(None,) * len(self.decoder_layers),
            position=0,
        )
        return TransformerState((group,), beam_size)

    def _read(
        self, state: TransformerState, tokens_NT: Tensor, weights_of_layer: int | None
    ) -> tuple[Tensor, TransformerState, Tensor | None]:
        """Push T tokens for each row through the decoder stack."""
        if len(state.groups) > 1:
            return self._read_apart(state, tokens_NT, weights_of_layer)
        (group,) = state.groups
        x_NTD = self.dropout(self.positions(self.target_embedding(tokens_NT), group.position))
        present: list[KeyValue] = []
        shown_NHTS: Tensor | None = None
        for index, layer in enumerate(self._decoder_layers()):
            x_NTD, key_value, weights_NHTS = layer(
                x_NTD,
                group.past[index],
                group.memory[index],
                group.memory_mask_B11S,
                with_weights=index == weights_of_layer,
            )
            present.append(key_value)
            shown_NHTS = shown_NHTS if weights_NHTS is None else weights_NHTS
        group = group._replace(past=tuple(present), position=group.position + tokens_NT.size(1))
        return self.decoder_norm(x_NTD), state._replace(groups=(group,)), shown_NHTS

    def _read_apart(
        self, state: TransformerState, tokens_N1: Tensor, weights_of_layer: int | None
    ) -> tuple[Tensor, TransformerState, Tensor | None]:
        """The same for one token of each row of several groups."""
        most = max(group.position for group in state.groups)
        lags = torch.tensor([most - group.position for group in state.groups])
        lag_N = lags.repeat_interleave(torch.tensor(state.n_rows)).to(tokens_N1.device)
        x_N1D = self.positions(self.target_embedding(tokens_N1), most, lag_B=lag_N)
        present: list[list[KeyValue]] = []
        shown_NH1S: Tensor | None = None
        for index, layer in enumerate(self._decoder_layers()):
            x_N1D, key_values, weights_NH1S = layer.forward_apart(
                x_N1D, state, index, with_weights=index == weights_of_layer
            )
            present.append(key_values)
            shown_NH1S = shown_NH1S if weights_NH1S is None else weights_NH1S
        groups = tuple(
            group._replace(past=past, position=group.position + 1)
            for group, past in zip(state.groups, zip(*present, strict=True), strict=True)
        )
        return self.decoder_norm(x_N1D), state._replace(groups=groups), shown_NH1S

    def _decoder_layers(self) -> list[DecoderLayer]:
        return list(self.decoder_layers)  # type: ignore[arg-type]

    def _checked_layer(self, layer: int) -> int:
        if not -len(self.decoder_layers) <= layer < len(self.decoder_layers):
            raise ConfigError(
                f"layer {layer}: the model has decoder layers 0 to {len(self.decoder_layers) - 1}"
            )
        return layer % len(self.decoder_layers)

    def _checked_heads(self, heads: Sequence[int], n_heads: int) -> list[int]:
        for head in heads:
            if not 0 <= head < n_heads:
                raise ConfigError(f"head {head}: each layer has heads 0 to {n_heads - 1}")
        return list(heads)
