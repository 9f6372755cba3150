"""The encoder of one model as a single function, compiled ahead of time with its weights in it.

For one sentence an encoder computes little and is a hundred calls. Here it is one, with what the decoder
attends to: the keys and values of the source, for all steps. Its products are in bfloat16 on matrix units
(AMX), else in int8 (AVX-512 VNNI).

Dimensions: B sentences, S source length, M tokens of all sentences, H heads, E per head, D d_model, W numbers
of query, key and value side by side.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import cast

import safetensors.torch
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines import between, bound_maps
from nmt.engines.between import Norm, Shape, ShapeWithWeights, Stretch, norms_in_order
from nmt.engines.bound_maps import BoundMap, compile_with_weights, digest, load_bound, map_of, program_of
from nmt.engines.kernels import Precision, dtype_of, side_by_side
from nmt.engines.packages import Program, Run, folder_for
from nmt.models.transformer import DecoderLayer, EncoderLayer, Transformer

NAME = "encoder"
MOST_LENGTH = 1 << 16


@dataclass(frozen=True)
class EncoderShape(ShapeWithWeights):
    """All that the code depends on."""

    n_heads: int
    n_layers: int
    memory_widths: tuple[tuple[int, int], ...]
    """Of each layer of the decoder: heads of cross-attention, and the width of all together."""

    @classmethod
    def of_model(cls, model: Transformer, weights: Precision) -> EncoderShape | None:
        """None where layers of the encoder differ in width, as after pruning heads."""
        layers = _encoder_layers(model)
        attended = [(layer, layer.self_attention) for layer in layers]
        shape = Shape.of_layers(attended, dtype_of(weights))
        if shape is None:
            return None
        return cls(
            **asdict(shape),
            n_heads=layers[0].self_attention.n_heads,
            n_layers=len(layers),
            memory_widths=tuple(
                (layer.cross_attention.n_heads, layer.cross_attention.key.out_features)
                for layer in _decoder_layers(model)
            ),
            weights=weights,
            signed=weights != "int8",
        )


class _Layer(nn.Module):
    """The weights of a layer; of no model, to be filled."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.into = _map(shape, shape.d_model, 3 * shape.d_inner)
        self.out = _map(shape, shape.d_inner, shape.d_model)
        self.up = _map(shape, shape.d_model, shape.d_ff)
        self.down = _map(shape, shape.d_ff, shape.d_model)


def _map(shape: EncoderShape, n_in: int, n_out: int) -> BoundMap:
    return map_of(shape)(torch.zeros(n_out, n_in), torch.zeros(n_out))


class BoundEncoder(Stretch):
    """The function with its weights; of zeros if not made ``of`` a model."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__(shape)
        self._shape = shape
        self.layers = nn.ModuleList(_Layer(shape) for _ in range(shape.n_layers))
        n_norms = 2 * shape.n_layers + self.pre
        self.norms = nn.ParameterList(torch.zeros(2, shape.d_model) for _ in range(n_norms))
        self.memory = nn.ModuleList(_map(shape, shape.d_model, 2 * width) for _, width in shape.memory_widths)

    @classmethod
    def of(cls, shape: EncoderShape, model: Transformer) -> BoundEncoder:
        """Of a model of ``shape``."""
        encoder, laid_out = cls(shape), map_of(shape)
        layers = _encoder_layers(model)
        for own, layer in zip(encoder.layers, layers, strict=True):
            attention, fed = layer.self_attention, layer.feed_forward
            own.into = laid_out(*side_by_side([attention.query, attention.key, attention.value]))
            own.out, own.up, own.down = (
                laid_out(*side_by_side([linear])) for linear in (attention.output, fed.up, fed.down)
            )
        residuals = [
            around for layer in layers for around in (layer.around_attention, layer.around_feed_forward)
        ]
        first, norms = norms_in_order(residuals, model.encoder_norm)
        for own, norm in zip(encoder.norms, [*([first] if first else []), *norms], strict=True):
            own.data = torch.stack(list(norm))
        for index, decoder_layer in enumerate(_decoder_layers(model)):
            crossed = decoder_layer.cross_attention
            encoder.memory[index] = laid_out(*side_by_side([crossed.key, crossed.value]))
        return encoder.eval().requires_grad_(False)

    def forward(self, x_MD: Tensor, places_M: Tensor, rows_BS: Tensor, mask_B11S: Tensor) -> list[Tensor]:
        """Embeddings of the tokens -> memory_MD, and for each decoder layer keys_BHSE and values_BHSE.

        All in what attention computes in.

        Args:
            x_MD: float32.
            places_M: of each token among B*S.
            rows_BS: the row of each place; at padding that of some token.
            mask_B11S: what to add to the scores of the source, in what attention computes in.
        """
        norms = [Norm(*norm) for norm in self.norms]
        read_MD = x_MD
        if self.pre:
            first, *norms = norms
            read_MD = F.layer_norm(x_MD, (x_MD.size(1),), *first, between.NORM_EPS)
        for index, module in enumerate(self.layers):
            layer = cast(_Layer, module)
            qkv_BSW = layer.into(read_MD).to(self.attention)[rows_BS]
            context_MW = self._attend(qkv_BSW, mask_B11S)[places_M]
            x_MD, read_MD = self.add(x_MD, layer.out(context_MW), norms[2 * index])
            y_MD = layer.down(self.activation(layer.up(read_MD)))
            x_MD, read_MD = self.add(x_MD, y_MD, norms[2 * index + 1])
        memory = [read_MD.to(self.attention)]
        for (n_heads, _), project in zip(self._shape.memory_widths, self.memory, strict=True):
            both_BSW = project(read_MD).to(self.attention)[rows_BS]
            both_BS2HE = both_BSW.view(*rows_BS.shape, 2, n_heads, -1)
            memory += [part.contiguous() for part in both_BS2HE.permute(2, 0, 3, 1, 4).unbind()]
        return memory

    def _attend(self, qkv_BSW: Tensor, mask_B11S: Tensor) -> Tensor:
        """A row for each place of B*S."""
        B, S, _ = qkv_BSW.shape
        query, key, value = qkv_BSW.view(B, S, 3, self._shape.n_heads, -1).permute(2, 0, 3, 1, 4).unbind()
        context_BHSE = F.scaled_dot_product_attention(query, key, value, attn_mask=mask_B11S)
        return context_BHSE.transpose(1, 2).reshape(B * S, -1)


def folder_of(shape: EncoderShape, model: Transformer) -> Path:
    """Where the encoder of ``model`` stands on this machine, or would."""
    sources = map(inspect.getsource, (sys.modules[__name__], between, bound_maps))
    crossed = [layer.cross_attention for layer in _decoder_layers(model)]
    read = [linear for attention in crossed for linear in (attention.key, attention.value)]
    weights = digest(model.encoder_layers, model.encoder_norm, *read)
    return folder_for("encoder", sorted(asdict(shape).items()), weights, *sources)


def compile_encoder(shape: EncoderShape, model: Transformer) -> Path:
    """Compile the encoder of ``model``, unless it is there.

    Returns:
        Where it stands.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(shape, model)
    compile_with_weights(folder, partial(BoundEncoder.of, shape, model), partial(_programs, shape))
    return folder


def _programs(shape: EncoderShape, weights: bytes) -> dict[str, Program]:
    encoder = BoundEncoder(shape)
    encoder.load_state_dict(safetensors.torch.load(weights))
    encoder.eval().requires_grad_(False)
    return {NAME: program_of(encoder, _example(shape), _open_sizes(), shape.weights)}


def _example(shape: EncoderShape) -> tuple[Tensor, ...]:
    n_tokens, size = 20, (3, 7)
    return (
        torch.zeros(n_tokens, shape.d_model),
        torch.zeros(n_tokens, dtype=torch.long),
        torch.zeros(size, dtype=torch.long),
        torch.zeros(size[0], 1, 1, size[1], dtype=getattr(torch, shape.attention)),
    )


def _open_sizes() -> tuple[dict[int, object], ...]:
    M, B, S = (torch.export.Dim(name, min=1, max=MOST_LENGTH) for name in "MBS")
    return {0: M}, {0: M}, {0: B, 1: S}, {0: B, 3: S}


def load_encoder(folder: Path) -> Run | None:
    """The function; None where this machine has none there. Errors are those of ``load_bound``."""
    return load_bound(folder, NAME)


def _encoder_layers(model: Transformer) -> Sequence[EncoderLayer]:
    return [layer for layer in model.encoder_layers if isinstance(layer, EncoderLayer)]


def _decoder_layers(model: Transformer) -> Sequence[DecoderLayer]:
    return [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
