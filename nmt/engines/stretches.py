"""What a decoder step computes between its attentions, as one structure.

A step is: enter, then for each layer self-attention, between, cross-attention, feed. So what lies between can
be computed call by call, as here, or compiled ahead of time (``nmt.engines.ahead``).

Dimensions: N rows, some of them only there to make a round number; D d_model; W numbers that attention reads
of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from nmt.engines.kernels import Precision, dtype_of, padded_rows
from nmt.engines.packed_layers import PackedDecoderLayer
from nmt.engines.parts import Norm


class Stretches(Protocol):
    """What a step computes between its attentions."""

    dtype: torch.dtype
    """Of the residual stream."""

    def n_rows(self, n_rows: int) -> int:
        """How many rows to compute with so that ``n_rows`` fit."""
        ...

    def enter(self, x_ND: Tensor) -> Tensor:
        """Embeddings -> query, key and value of the first layer."""
        ...

    def between(self, index: int, context_NW: Tensor, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """What self-attention of a layer has found -> residual stream, query of its cross-attention."""
        ...

    def feed(self, index: int, context_NW: Tensor, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """What cross-attention has found -> residual stream, and what is read next.

        That is query, key and value of the next layer; of the last one, what is projected to the vocabulary.
        """
        ...


class PackedStretches:
    """``Stretches`` of packed layers, call by call."""

    def __init__(self, layers: Sequence[PackedDecoderLayer], norm: Norm, precision: Precision) -> None:
        self.dtype = dtype_of(precision)
        self._layers, self._norm, self._precision = layers, norm, precision

    def n_rows(self, n_rows: int) -> int:
        """See ``padded_rows``."""
        return padded_rows(n_rows, self._precision)

    def enter(self, x_ND: Tensor) -> Tensor:
        """See ``Stretches``."""
        return self._layers[0].self_attention.enter(x_ND)

    def between(self, index: int, context_NW: Tensor, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """See ``Stretches``."""
        layer = self._layers[index]
        x_ND = layer.self_attention.leave(context_NW, x_ND)
        return x_ND, layer.cross_attention.enter(x_ND)

    def feed(self, index: int, context_NW: Tensor, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """See ``Stretches``."""
        layer = self._layers[index]
        x_ND = layer.feed_forward(layer.cross_attention.leave(context_NW, x_ND))
        if index == len(self._layers) - 1:
            return x_ND, self._norm(x_ND)
        return x_ND, self._layers[index + 1].self_attention.enter(x_ND)
