"""Products for a step of few rows: loops over the weights, written out by the compiler.

Each weight is read once, converted to float32 in a register, and multiplied there with all rows; so
activations are not rounded, and int8 means weights alone. The number of rows is fixed, for the loops over a
weight are written out for it.

A weight lies so that what is read is what is next in memory: LANES outputs beside each other, their weights
of one input after those of another. An addition waits for the one before it, so where rows are few, products
of neighbouring inputs are added to each other first, and only then to the sum.

The function has no weights of its own; what is compiled for one model serves all of its shape.

Dimensions: N rows, D inputs of a product, F outputs, G groups of LANES outputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from nmt.compiler import computed_first
from nmt.engines.kernels import Precision, dtype_of, int8_rows
from nmt.engines.whole import LayOut, StepWeights, WholeStep
from nmt.extensions import LANES
from nmt.models.transformer import Transformer

CHAINS = 8
"""Products that are computed side by side, at least: rows times neighbouring inputs."""


class Weights(NamedTuple):
    """A linear map; its outputs are rounded up to whole groups."""

    weight_GDL: Tensor
    """int8, bfloat16 or float32."""
    scale_GL: Tensor
    bias_GL: Tensor

    @classmethod
    def of(cls, weight_FD: Tensor, bias_F: Tensor | None, precision: Precision) -> Weights:
        """From a map as torch has it."""
        F, D = weight_FD.shape
        bias_F = weight_FD.new_zeros(F) if bias_F is None else bias_F
        if precision == "int8":
            weight_FD, scale_F = int8_rows(weight_FD.float())
        else:
            weight_FD, scale_F = weight_FD.to(dtype_of(precision)), torch.ones(F)
        missing = -F % LANES
        padded_FD = torch.cat([weight_FD, weight_FD.new_zeros(missing, D)])
        return cls(
            padded_FD.view(-1, LANES, padded_FD.size(1)).transpose(1, 2).contiguous(),
            torch.cat([scale_F, scale_F.new_zeros(missing)]).view(-1, LANES),
            torch.cat([bias_F.float(), torch.zeros(missing)]).view(-1, LANES),
        )


torch.utils._pytree._register_namedtuple(
    Weights, serialized_type_name=f"{Weights.__module__}.{Weights.__qualname__}"
)


class LoopStep(WholeStep[Weights]):
    """The step with these products."""

    def linear(self, x_ND: Tensor, weights: Weights, n_out: int) -> Tensor:
        """See ``WholeStep``."""
        return linear(x_ND, weights, n_out)


def lay_out_in(precision: Precision) -> LayOut[Weights]:
    """For ``StepWeights``: all linear maps in one precision."""
    return partial(Weights.of, precision=precision)


def loop_weights(model: Transformer, precision: Precision) -> StepWeights[Weights]:
    """Of a model's decoder."""
    return StepWeights.of(model, lay_out_in(precision))


def linear(x_ND: Tensor, weights: Weights, n_out: int) -> Tensor:
    """y_NF, of ``n_out`` outputs, in float32: a loop over the weight in which all rows are."""
    n_beside = max(1, CHAINS // x_ND.size(0))
    n_beside = math.gcd(x_ND.size(1), n_beside)
    weights_GdL = _neighbours(weights.weight_GDL.float(), n_beside)
    x_ND = computed_first(x_ND)  # not again for each group of outputs
    rows = []
    for x_D in x_ND.unbind():
        y_GL = torch.addcmul(weights.bias_GL, _sums(weights_GdL, x_D), weights.scale_GL)
        rows.append(y_GL.flatten()[:n_out])
    return torch.stack(rows)


def _sums(weights_GdL: Sequence[Tensor], x_D: Tensor) -> Tensor:
    """Of products with one row, (G, L); those of neighbours are added before they join the sum."""
    inputs = zip(weights_GdL, x_D.view(-1, len(weights_GdL)).unbind(1), strict=True)
    first, *others = (weight_GdL * x_d[:, None] for weight_GdL, x_d in inputs)
    return sum(others, start=first).sum(dim=1)


def _neighbours(weight_GDL: Tensor, n_beside: int) -> Sequence[Tensor]:
    """The first of each ``n_beside`` along D, the second of each, and so on."""
    return weight_GDL.view(len(weight_GDL), -1, n_beside, weight_GDL.size(2)).unbind(2)
