"""One forced pass that keeps everything: the attention of every head, and the states of every layer.

The model's own layers are run through the readable reference (``MultiHeadAttention.forward_with_weights``),
in the order of ``nmt.models.transformer``. A test holds the two to the same hidden states.

Dimensions: B sentences, S source length with EOS, T target length with EOS (or BOS), D d_model, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from nmt.alignment.attention_maps import BEGIN, END, MOST_CELLS, HeadMaps, Heads
from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.models.build import Model
from nmt.models.mixture import MixtureModel
from nmt.models.transformer import DecoderLayer, EncoderLayer, Transformer
from nmt.tokenizer import Piece

AttentionKind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[AttentionKind, ...] = get_args(AttentionKind)


class AttentionMaps(NamedTuple):
    """Maps of one forced pass; padding attends and is attended to where the masks let it."""

    encoder: tuple[Tensor, ...]
    """weights_BHSS of each encoder layer."""
    decoder: tuple[Tensor, ...]
    """weights_BHTT of each decoder layer."""
    cross: tuple[Tensor, ...]
    """weights_BHTS of each decoder layer."""
    encoder_states: tuple[Tensor, ...]
    """states_BSD: the embeddings without positions, then after each layer; the last one normalised."""
    hidden_BTD: Tensor
    """Input of the output projection."""

    def of(self, kind: AttentionKind) -> tuple[Tensor, ...]:
        """The weights of one kind, by layer."""
        weights: tuple[Tensor, ...] = getattr(self, kind)
        return weights


@torch.no_grad()
def attention_maps(model: Model, batch: Batch) -> AttentionMaps:
    """Run ``model`` over a batch with both sides; others have one cross-attention of one head, or none."""
    if batch.target_in_BT is None:
        raise ValueError("maps need the target side of the batch")
    if isinstance(model, MixtureModel):
        model = model.translator
    if not isinstance(model, Transformer):
        hidden_BTD, weights_BTS = model.decode_with_attention(batch)
        cross = () if weights_BTS is None else (weights_BTS.unsqueeze(1),)
        return AttentionMaps((), (), cross, (model.source_embedding(batch.source_BS),), hidden_BTD)
    embedded_BSD = model.source_embedding(batch.source_BS)
    x_BSD = model.positions(embedded_BSD)
    encoder_mask, mask_B11S = model.encoder_mask(batch), model.memory_mask(batch)
    encoder, states = [], [embedded_BSD]
    for encoder_layer in model.encoder_layers:
        x_BSD, weights_BHSS = _encoder_layer(encoder_layer, x_BSD, encoder_mask)  # type: ignore[arg-type]
        encoder.append(weights_BHSS)
        states.append(x_BSD)
    states[-1] = memory_BSD = model.memory(x_BSD, batch)
    x_BTD = model.positions(model.target_embedding(batch.target_in_BT))
    decoder, crossed = [], []
    for decoder_layer in model.decoder_layers:
        x_BTD, weights_BHTT, weights_BHTS = _decoder_layer(decoder_layer, x_BTD, memory_BSD, mask_B11S)  # type: ignore[arg-type]
        decoder.append(weights_BHTT)
        crossed.append(weights_BHTS)
    return AttentionMaps(
        tuple(encoder), tuple(decoder), tuple(crossed), tuple(states), model.decoder_norm(x_BTD)
    )


def _encoder_layer(layer: EncoderLayer, x_BSD: Tensor, mask_B11S: Tensor) -> tuple[Tensor, Tensor]:
    attention = layer.self_attention
    y_BSD = layer.around_attention.enter(x_BSD)
    y_BSD, weights_BHSS = attention.forward_with_weights(y_BSD, attention.project(y_BSD), mask_B11S)
    x_BSD = layer.around_attention.leave(x_BSD, y_BSD)
    y_BSD = layer.feed_forward(layer.around_feed_forward.enter(x_BSD))
    return layer.around_feed_forward.leave(x_BSD, y_BSD), weights_BHSS


def _decoder_layer(
    layer: DecoderLayer, x_BTD: Tensor, memory_BSD: Tensor, mask_B11S: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    attention, crossing = layer.self_attention, layer.cross_attention
    y_BTD = layer.around_self_attention.enter(x_BTD)
    y_BTD, weights_BHTT = attention.forward_with_weights(y_BTD, attention.project(y_BTD), causal=True)
    x_BTD = layer.around_self_attention.leave(x_BTD, y_BTD)
    y_BTD = layer.around_cross_attention.enter(x_BTD)
    y_BTD, weights_BHTS = crossing.forward_with_weights(y_BTD, crossing.project(memory_BSD), mask_B11S)
    x_BTD = layer.around_cross_attention.leave(x_BTD, y_BTD)
    y_BTD = layer.feed_forward(layer.around_feed_forward.enter(x_BTD))
    return layer.around_feed_forward.leave(x_BTD, y_BTD), weights_BHTT, weights_BHTS


def head_maps(
    model: Model,
    source: Sequence[Piece],
    target: Sequence[Piece],
    special: SpecialIds,
    device: torch.device | str = "cpu",
    *,
    most_cells: int = MOST_CELLS,
) -> HeadMaps | None:
    """The maps of one sentence pair, given as pieces; None if they would have more than ``most_cells``."""
    if n_cells(model, len(source) + 1, len(target) + 1) > most_cells:
        return None
    batch = Batch.from_ids(
        [[piece.id for piece in source]], [[piece.id for piece in target]], special=special
    )
    maps = attention_maps(model, batch.to(device))
    written = tuple(piece.text for piece in target)
    return HeadMaps(
        source=(*(piece.text for piece in source), END),
        read=(BEGIN, *written),
        written=(*written, END),
        encoder=_rounded(maps.encoder),
        decoder=_rounded(maps.decoder),
        cross=_rounded(maps.cross),
    )


def n_cells(model: Model, n_source: int, n_target: int) -> int:
    """How many numbers the maps of a sentence pair hold, EOS counted in its lengths."""
    if isinstance(model, MixtureModel):
        model = model.translator
    if not isinstance(model, Transformer):
        return n_source * n_target
    of_source = sum(layer.self_attention.n_heads for layer in model.encoder_layers)  # type: ignore[union-attr, misc]
    of_target = sum(layer.self_attention.n_heads for layer in model.decoder_layers)  # type: ignore[union-attr, misc]
    crossing = sum(layer.cross_attention.n_heads for layer in model.decoder_layers)  # type: ignore[union-attr, misc]
    total: int = of_source * n_source**2 + of_target * n_target**2 + crossing * n_source * n_target
    return total


def _rounded(layers: Sequence[Tensor]) -> Heads:
    """Weights_1HTS of each layer as numbers of three decimals."""
    return tuple(
        tuple(
            tuple(tuple(round(share, 3) for share in row) for row in head)
            for head in weights_1HTS[0].float().cpu().tolist()
        )
        for weights_1HTS in layers
    )
