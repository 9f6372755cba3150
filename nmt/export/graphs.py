"""The two functions that a decoder in another runtime needs, as modules of tensors alone.

    encode   source, mask                     -> keys and values of the source, for each decoder layer
    step     tokens, those, and of the past   -> log-probabilities, attention, keys and values with this token

``step`` takes the beam as a dimension of its own, so that keys and values of the source are never repeated
for it. Before the first token the past has length 0. Both compute what ``Transformer`` does, by its parts.

Dimensions: B sentences, K beam size, S source length, T tokens of the past, U = T + 1, L decoder layers, D
d_model, H heads, E per head, V vocabulary. The mask is True at real tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.export import Dim

from nmt.batch import Batch
from nmt.layers.attention import KeyValue, MultiHeadAttention, scaled_dot_product_attention
from nmt.layers.positional_encoding import TabledEncoding
from nmt.models.transformer import DecoderLayer, Transformer

Shapes = dict[str, object]


class EncodeGraph(nn.Module):
    """Source ids -> projected memory."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, source_BS: Tensor, mask_BS: Tensor) -> tuple[Tensor, ...]:
        """Int64 ids, EOS last, and bool mask -> key_BHSE and value_BHSE of layer 0, of layer 1 and so on."""
        memory_BSD = self.model.encode(Batch(source_BS, mask_BS))
        return tuple(
            tensor
            for layer in self.model.decoder_layers
            for tensor in layer.cross_attention.project(memory_BSD)  # type: ignore[operator, union-attr]
        )


class StepGraph(nn.Module):
    """One token for each row, after any number of others."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, tokens_BK: Tensor, mask_BS: Tensor, memory: Sequence[Tensor], past: Sequence[Tensor]
    ) -> tuple[Tensor, ...]:
        """Read one token.

        Args:
            tokens_BK: int64 ids, BOS first.
            mask_BS: of the source.
            memory: as ``EncodeGraph`` gives it.
            past: key_BKHTE and value_BKHTE of layer 0, of layer 1 and so on; T is 0 at first.

        Returns:
            log_probs_BKV, attention_BKS (the mean over heads of the alignment layer), and what is ``past`` at
            the next step, U long.
        """
        model = self.model
        x_BKD = model.positions(model.target_embedding(tokens_BK).unsqueeze(1), past[0].size(3)).squeeze(1)
        present: list[Tensor] = []
        attention_BKS = torch.empty(0)
        for index, layer in enumerate(cast(Iterable[DecoderLayer], model.decoder_layers)):
            tensors = slice(2 * index, 2 * index + 2)
            y_BKD = layer.around_self_attention.enter(x_BKD)
            y_BKD, *own = self_attend(layer.self_attention, y_BKD, *past[tensors])
            x_BKD = layer.around_self_attention.leave(x_BKD, y_BKD)
            present += own
            y_BKD, weights_BHKS = layer.cross_attention.forward_with_weights(
                layer.around_cross_attention.enter(x_BKD), KeyValue(*memory[tensors]), mask_BS[:, None, None]
            )
            x_BKD = layer.around_cross_attention.leave(x_BKD, y_BKD)
            if index == model.alignment_layer:
                attention_BKS = weights_BHKS.mean(dim=1)
            y_BKD = layer.feed_forward(layer.around_feed_forward.enter(x_BKD))
            x_BKD = layer.around_feed_forward.leave(x_BKD, y_BKD)
        log_probs_BKV = model.output(model.decoder_norm(x_BKD)).log_softmax(dim=-1)
        return log_probs_BKV, attention_BKS, *present


def self_attend(
    attention: MultiHeadAttention, x_BKD: Tensor, key_BKHTE: Tensor, value_BKHTE: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Attend from one token of each row to its past and itself; also keys and values with it."""

    def heads(linear: nn.Module) -> Tensor:
        x_BKH1E: Tensor = linear(x_BKD).unflatten(2, (attention.n_heads, -1)).unsqueeze(3)
        return x_BKH1E

    key_BKHUE = torch.cat((key_BKHTE, heads(attention.key)), dim=3)
    value_BKHUE = torch.cat((value_BKHTE, heads(attention.value)), dim=3)
    context_BKH1E, _ = scaled_dot_product_attention(heads(attention.query), key_BKHUE, value_BKHUE)
    return attention.output(context_BKH1E.squeeze(3).flatten(2)), key_BKHUE, value_BKHUE


def example(model: Transformer, special_bos: int) -> tuple[tuple[Tensor, ...], tuple[object, ...]]:
    """Inputs of both graphs, to trace them with: no dimension that may change is 0 or 1."""
    B, K, S, T = 2, 3, 5, 4
    source_BS = torch.full((B, S), special_bos)
    mask_BS = torch.arange(S) < torch.tensor([[S], [S - 1]])
    memory = EncodeGraph(model)(source_BS, mask_BS)
    past = tuple(
        torch.zeros(B, K, layer.self_attention.n_heads, T, _head_size(layer.self_attention))  # type: ignore[union-attr, arg-type]
        for layer in model.decoder_layers
        for _ in range(2)
    )
    return (source_BS, mask_BS), (torch.full((B, K), special_bos), mask_BS, list(memory), list(past))


def dynamic_shapes(model: Transformer) -> tuple[Shapes, Shapes]:
    """Which dimensions of the inputs of both graphs may change, and how far."""
    assert isinstance(model.positions, TabledEncoding)
    limit, n_tensors = model.positions.encoding_TD.size(0), 2 * len(model.decoder_layers)
    batch, beam = Dim("batch", max=1 << 16), Dim("beam", max=64)
    source, past = Dim("source", max=limit), Dim("past", max=limit - 1)
    encode: Shapes = {"source_BS": {0: batch, 1: source}, "mask_BS": {0: batch, 1: source}}
    step: Shapes = {
        "tokens_BK": {0: batch, 1: beam},
        "mask_BS": {0: batch, 1: source},
        "memory": [{0: batch, 2: source}] * n_tensors,
        "past": [{0: batch, 1: beam, 3: past}] * n_tensors,
    }
    return encode, step


def _head_size(attention: nn.Module) -> int:
    size: int = attention.query.out_features // attention.n_heads  # type: ignore[union-attr, assignment, operator]
    return size
