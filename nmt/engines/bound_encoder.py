"""The encoder of one model as a single function, compiled ahead of time with its weights in it.

For one sentence an encoder computes little and is a hundred calls. Here it is one, with what the decoder
attends to: the keys and values of the source, for all steps, which it writes where they stay
(``nmt.engines.memory``). Its products are in bfloat16 on matrix units (AMX), else in int8 (AVX-512 VNNI) or
in float32.

Dimensions: M tokens of B sentences, P sentences that have a place in the memory, K places of a sentence, R
the same in whole registers, L those of the longest sentence that has a place in the memory, H heads, E per
head, D d_model, W numbers of query, key and value side by side.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

import safetensors.torch
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt import compiler
from nmt.compiler import computed_first
from nmt.engines import arithmetic, bound_maps, encoder_attention, keeping, shapes
from nmt.engines.bound_maps import (
    BoundMap,
    compile_with_weights,
    digest,
    load_with_many,
    map_of,
    program_of,
    with_many,
)
from nmt.engines.cpu import Int8Inputs
from nmt.engines.encoder_attention import BESIDE, attend
from nmt.engines.keeping import Kept, KeptIn, empty, has_scales, kept
from nmt.engines.kernels import Precision, dtype_of, side_by_side
from nmt.engines.packages import Program, Run, folder_for
from nmt.engines.shapes import Norm, OverLayers, Shape, ShapeWithWeights, norms_in_order
from nmt.extensions import LANES
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
    kept: KeptIn
    """In what keys and values of the source are kept."""

    @classmethod
    def of_model(
        cls, model: Transformer, weights: Precision, kept: KeptIn, inputs: Int8Inputs = "int8"
    ) -> EncoderShape | None:
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
            kept=kept,
            weights=weights,
            inputs=inputs,
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


class BoundEncoder(OverLayers):
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

    def forward(
        self,
        x_MD: Tensor,
        places_M: Tensor,
        rows_BR: Tensor,
        mask_B11K: Tensor,
        kept_rows_BL: Tensor,
        kept_places_B: Tensor,
        memory: list[tuple[Kept, Kept]],
    ) -> tuple[Tensor]:
        """Embeddings of the tokens -> memory_MD, in what attention computes in.

        Args:
            x_MD: float32.
            places_M: of each token among B*K.
            rows_BR: the token at each place; of those that are none any one.
            mask_B11K: what to add to the scores of a place, in what attention computes in.
            kept_rows_BL: as ``rows_BR``.
            kept_places_B: of each sentence in ``memory``.
            memory: of each decoder layer keys and values (``nmt.engines.memory.LaidOut``), which are written
                for these sentences.
        """
        norms = [Norm(*norm) for norm in self.norms]
        read_MD = x_MD
        if self.pre:
            first, *norms = norms
            read_MD = F.layer_norm(x_MD, (x_MD.size(1),), *first, shapes.NORM_EPS)
        for index, module in enumerate(self.layers):
            layer = cast(_Layer, module)
            context_MD = self._attend(layer.into(read_MD), rows_BR, mask_B11K)[places_M]
            x_MD, read_MD = self.add(x_MD, layer.out(context_MD), norms[2 * index])
            y_MD = layer.down(self.activation(layer.up(read_MD)))
            x_MD, read_MD = self.add(x_MD, y_MD, norms[2 * index + 1])
        widths = self._shape.memory_widths
        for (n_heads, _), project, parts in zip(widths, self.memory, memory, strict=True):
            both_BL2HE = project(read_MD)[kept_rows_BL].view(*kept_rows_BL.shape, 2, n_heads, -1)
            key_BHLE, value_BHLE = computed_first(both_BL2HE.permute(2, 0, 3, 1, 4)).unbind()
            key_BHEL = computed_first(key_BHLE.transpose(2, 3))
            own = kept(key_BHEL, self._shape.kept, dim=2), kept(value_BHLE, self._shape.kept)
            for part, new in zip(chain(*parts), chain(*own), strict=True):
                part[kept_places_B] = new
        return (read_MD.to(self.attention),)

    def _attend(self, qkv_MW: Tensor, rows_BR: Tensor, mask_B11K: Tensor) -> Tensor:
        """A row for each of B*K places."""
        n_heads = self._shape.n_heads
        if self.attention == torch.float32:
            # else each number is found by a division where it is read, and there are no vectors of that
            return computed_first(attend(qkv_MW, rows_BR, mask_B11K, n_heads))
        rows_BK = rows_BR[:, : mask_B11K.size(3)]
        qkv_BK3HE = qkv_MW.to(self.attention)[rows_BK].view(*rows_BK.shape, 3, n_heads, -1)
        query, key, value = qkv_BK3HE.permute(2, 0, 3, 1, 4).unbind()
        context_BHKE = F.scaled_dot_product_attention(query, key, value, attn_mask=mask_B11K)
        return context_BHKE.transpose(1, 2).flatten(2).flatten(0, 1)


def folder_of(shape: EncoderShape, model: Transformer) -> Path:
    """Where the encoder of ``model`` stands on this machine, or would."""
    read_by = arithmetic, bound_maps, compiler, encoder_attention, keeping, shapes
    sources = map(inspect.getsource, (sys.modules[__name__], *read_by))
    crossed = [layer.cross_attention for layer in _decoder_layers(model)]
    read = [linear for attention in crossed for linear in (attention.key, attention.value)]
    weights = digest(model.encoder_layers, model.encoder_norm, *read)
    return folder_for("encoder", sorted(asdict(shape).items()), weights, LANES, *sources)


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
    def program(own: EncoderShape) -> Program:
        encoder = BoundEncoder(own)
        encoder.load_state_dict(safetensors.torch.load(weights))
        return program_of(encoder.eval().requires_grad_(False), _example(own), _open_sizes(own), own)

    return with_many(NAME, shape, program)


def _example(shape: EncoderShape) -> tuple[Any, ...]:
    n_tokens, n_sentences, n_places = 24, 3, 2 * LANES - BESIDE

    def of_tokens(*size: int) -> Tensor:
        return torch.zeros(size, dtype=torch.long)

    def layer(n_heads: int, width: int) -> tuple[Kept, Kept]:
        size = n_sentences + 2, n_heads, 3 * LANES, width // n_heads
        return empty(size, shape.kept, beneath=True), empty(size, shape.kept)

    return (
        torch.zeros(n_tokens, shape.d_model),
        of_tokens(n_tokens),
        of_tokens(n_sentences, 2 * LANES),
        torch.zeros(n_sentences, 1, 1, n_places, dtype=getattr(torch, shape.attention)),
        of_tokens(n_sentences, 3 * LANES),
        of_tokens(n_sentences),
        [layer(*sizes) for sizes in shape.memory_widths],
    )


def _open_sizes(shape: EncoderShape) -> tuple[Any, ...]:
    names = "tokens", "sentences", "kept", "fours", "registers", "registers_kept"
    tokens, B, P, *of_places = (torch.export.Dim(name, min=1, max=MOST_LENGTH) for name in names)
    M = shape.rows_beside * tokens
    K, R, L = (n * count for n, count in zip((BESIDE, LANES, LANES), of_places, strict=True))
    of_key, of_value, of_scale = {0: P, 3: L}, {0: P, 2: L}, {0: P, 2: L}
    n_parts = 2 if has_scales(shape.kept) else 1
    layers = [((of_key, of_scale)[:n_parts], (of_value, of_scale)[:n_parts])] * len(shape.memory_widths)
    return {0: M}, {0: M}, {0: B, 1: R}, {0: B, 3: K}, {0: B, 1: L}, {0: B}, layers


def load_encoder(folder: Path, shape: EncoderShape) -> tuple[Run, Run | None] | None:
    """The function, and that of many tokens where that is another; None where this machine has none there.

    Errors are those of ``load_with_many``.
    """
    run, many = load_with_many(folder, NAME, shape)
    return None if run is None else (run, many)


def _encoder_layers(model: Transformer) -> Sequence[EncoderLayer]:
    return [layer for layer in model.encoder_layers if isinstance(layer, EncoderLayer)]


def _decoder_layers(model: Transformer) -> Sequence[DecoderLayer]:
    return [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
