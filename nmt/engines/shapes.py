"""Functions over the layers of a model that are compiled ahead of time: what their code depends on.

A norm stands before each sub-layer (pre-norm) or after its residual addition (post-norm). Either way one
stands between two sub-layers; only what the residual stream goes on with differs.

Dimensions: N rows, D numbers of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines.cpu import Int8Inputs
from nmt.engines.kernels import Precision
from nmt.layers.attention import MultiHeadAttention
from nmt.models.transformer import DecoderLayer, EncoderLayer, Residual, Transformer

NORM_EPS = 1e-5
ROWS_BESIDE = 4
"""Rows that one loop over int8 weights multiplies with AVX2.

Eight are a twentieth faster where there are eight; mostly there are fewer, and all are computed.
"""


class Norm(NamedTuple):
    """Of layer normalisation."""

    weight_D: Tensor
    bias_D: Tensor

    @classmethod
    def of(cls, norm: nn.Module) -> Norm:
        """Of torch's module."""
        assert isinstance(norm, nn.LayerNorm)
        assert norm.eps == NORM_EPS
        return cls(norm.weight.detach().float(), norm.bias.detach().float())


def norms_in_order(residuals: Sequence[Residual], last: nn.Module) -> tuple[Norm | tuple[()], list[Norm]]:
    """That before all sub-layers, empty in a post-norm model, and those after each residual addition.

    Args:
        residuals: of all sub-layers.
        last: the norm after all of them in a pre-norm model.
    """
    norms = [Norm.of(residual.norm) for residual in residuals]
    return (norms[0], [*norms[1:], Norm.of(last)]) if residuals[0].pre else ((), norms)


def decoder_norms(model: Transformer) -> tuple[Norm | tuple[()], list[Norm]]:
    """Those of a model's decoder, in order."""
    residuals = [
        residual
        for layer in model.decoder_layers
        if isinstance(layer, DecoderLayer)
        for residual in (layer.around_self_attention, layer.around_cross_attention, layer.around_feed_forward)
    ]
    return norms_in_order(residuals, model.decoder_norm)


torch.utils._pytree._register_namedtuple(Norm, serialized_type_name=f"{Norm.__module__}.{Norm.__qualname__}")


@dataclass(frozen=True)
class Shape:
    """Widths and kinds of layers."""

    d_model: int
    d_inner: int
    """Of both attentions: heads times their width."""
    d_ff: int
    activation: Literal["relu", "gelu"]
    norm: Literal["pre", "post"]
    attention: Literal["bfloat16", "float32"]
    """In what attention computes."""

    @classmethod
    def of(cls, model: Transformer, attention: torch.dtype) -> Shape | None:
        """Of a model's decoder; None where layers differ in width, as after pruning heads."""
        layers = [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
        return cls.of_layers(
            [
                (layer, attended)
                for layer in layers
                for attended in (layer.self_attention, layer.cross_attention)
            ],
            attention,
        )

    @staticmethod
    def of_layers(
        layers: Sequence[tuple[EncoderLayer | DecoderLayer, MultiHeadAttention]], attention: torch.dtype
    ) -> Shape | None:
        """Of layers, each with an attention of it; None where they differ in width."""
        shapes = {
            Shape(
                d_model=layer.feed_forward.up.in_features,
                d_inner=attended.query.out_features,
                d_ff=layer.feed_forward.up.out_features,
                activation="relu" if layer.feed_forward.activation is torch.relu else "gelu",
                norm="pre" if layer.around_feed_forward.pre else "post",
                attention="bfloat16" if attention == torch.bfloat16 else "float32",
            )
            for layer, attended in layers
        }
        return shapes.pop() if len(shapes) == 1 else None


@dataclass(frozen=True)
class ShapeWithWeights(Shape):
    """For a function that depends on how its weights are stored too."""

    weights: Precision
    inputs: Int8Inputs
    """Of products with int8 weights."""

    @property
    def rows_beside(self) -> int:
        """Rows of a function compiled with its weights are a multiple of it (``bound_maps.LoopedInt8``)."""
        return ROWS_BESIDE if self.weights == "int8" and self.inputs == "int16" else 1

    @property
    def has_loops_of_gcc(self) -> bool:
        """Whether inputs are rounded in loops that g++ makes vectors of, and not the compiler."""
        return self.weights == "int8" and self.inputs in ("int16", "pairs")


class OverLayers(nn.Module):
    """A function that is compiled: what it has around its sub-layers."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.pre = shape.norm == "pre"
        self.activation = F.relu if shape.activation == "relu" else F.gelu
        self.attention = torch.bfloat16 if shape.attention == "bfloat16" else torch.float32

    def add(self, x_ND: Tensor, y_ND: Tensor, norm: Norm) -> tuple[Tensor, Tensor]:
        """Add a sub-layer's output ``y``: the residual stream, and what the next sub-layer reads."""
        sum_ND = x_ND + y_ND
        read_ND = F.layer_norm(sum_ND, (sum_ND.size(1),), *norm, NORM_EPS)
        return (sum_ND if self.pre else read_ND), read_ND
