"""A whole decoder step of few rows as a single function, compiled ahead of time.

A step of few rows, as of one sentence, reads every weight and computes next to nothing with it, so what it
costs is memory, and calls. Here it is one call. Each weight is read once, converted to float32 in a register,
and multiplied there with all rows; so activations are not rounded, and int8 means weights alone. The number
of rows is fixed, for the loops over a weight are written out for it; how many sentences they belong to, and
how much of source and target there is, stays open.

A weight lies so that what is read is what is next in memory: LANES outputs beside each other, their weights
of one input after those of another. An addition waits for the one before it, so where rows are few, products
of neighbouring inputs are added to each other first, and only then to the sum.

The function has no weights of its own; what is compiled for one model serves all of its shape.

Dimensions: N rows, M of them that are rows of sentences, B sentences, T tokens of the target with the one
being read, S source length, H heads, E per head, D inputs of a product, F outputs, G groups of LANES outputs,
W numbers kept of a row and token (keys and values of all layers), V vocabulary.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines.between import NORM_EPS, Norm, Shape, Stretch, norms_in_order
from nmt.engines.kernels import Precision, dtype_of, int8_rows, side_by_side
from nmt.models.transformer import DecoderLayer, Transformer

LANES = 16
"""Numbers of float32 in the widest register."""
CHAINS = 8
"""Products that are computed side by side, at least: rows times neighbouring inputs."""


@dataclass(frozen=True)
class WholeShape(Shape):
    """All that the code depends on, but the number of rows; ``attention`` is also in what keys are kept."""

    n_heads: int
    n_layers: int
    vocab_size: int
    weights: Precision

    @classmethod
    def of(cls, model: Transformer, attention: torch.dtype, weights: Precision = "int8") -> WholeShape | None:
        """None where layers differ in width, as after pruning heads."""
        shape = Shape.of(model, attention)
        if shape is None:
            return None
        layers = [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
        return cls(
            **asdict(shape),
            n_heads=layers[0].self_attention.n_heads,
            n_layers=len(layers),
            vocab_size=model.output.weight_VD.size(0),
            weights=weights,
        )


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
            padded_FD.view(-1, LANES, D).transpose(1, 2).contiguous(),
            torch.cat([scale_F, scale_F.new_zeros(missing)]).view(-1, LANES),
            torch.cat([bias_F.float(), torch.zeros(missing)]).view(-1, LANES),
        )


class LayerWeights(NamedTuple):
    """Of a decoder layer, in the order that they are used."""

    own_in: Weights
    """Query, key and value of self-attention."""
    own_out: Weights
    own_norm: Norm
    """Behind self-attention's residual addition."""
    cross_in: Weights
    """The query."""
    cross_out: Weights
    cross_norm: Norm
    up: Weights
    down: Weights
    norm: Norm
    """Behind the feed-forward network's."""


class StepWeights(NamedTuple):
    """All that a step reads besides what it keeps; ``norm``, before all layers, is empty if post-norm."""

    norm: Norm | tuple[()]
    layers: list[LayerWeights]
    output: Weights

    @classmethod
    def of(cls, model: Transformer, precision: Precision) -> StepWeights:
        """Of a model's decoder."""
        layers = [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
        first, norms = norms_in_order(model)

        def of(*linears: nn.Linear) -> Weights:
            return Weights.of(*side_by_side(linears), precision)

        return cls(
            first,
            [
                LayerWeights(
                    of(layer.self_attention.query, layer.self_attention.key, layer.self_attention.value),
                    of(layer.self_attention.output),
                    norms[3 * index],
                    of(layer.cross_attention.query),
                    of(layer.cross_attention.output),
                    norms[3 * index + 1],
                    of(layer.feed_forward.up),
                    of(layer.feed_forward.down),
                    norms[3 * index + 2],
                )
                for index, layer in enumerate(layers)
            ],
            Weights.of(model.output.weight_VD.detach(), None, precision),
        )


for _structure in (Weights, LayerWeights, StepWeights):
    torch.utils._pytree._register_namedtuple(
        _structure, serialized_type_name=f"{_structure.__module__}.{_structure.__qualname__}"
    )


class WholeStep(Stretch):
    """The function."""

    def __init__(self, shape: WholeShape) -> None:
        super().__init__(shape)
        self._shape = shape

    def forward(
        self,
        x_ND: Tensor,
        past_TMW: Tensor,
        memory: list[tuple[Tensor, Tensor]],
        mask_B11S: Tensor,
        places: tuple[Tensor, Tensor],
        weights: StepWeights,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Embeddings -> logits_NV, the logarithm of each row's sum of exponentials, and what is to be kept.

        Args:
            x_ND: of the tokens being read, float32.
            past_TMW: keys and values so far; the last are not there yet, and not read.
            memory: for each layer keys_BHSE and values_BHSE of the sources.
            mask_B11S: what to add to the scores of the sources.
            places: row_N of ``past_TMW`` and sentence_N of each row.
            weights: of the model.
        """
        shape, (row_N, sentence_N) = self._shape, places
        N, T, heads = x_ND.size(0), past_TMW.size(0), (shape.n_heads, -1)
        is_last_T11 = (torch.arange(T) == T - 1)[:, None, None]
        mask_N1S = mask_B11S[sentence_N].squeeze(1).float()
        read_ND = F.layer_norm(x_ND, (shape.d_model,), *weights.norm, NORM_EPS) if weights.norm else x_ND
        new = []
        pasts = past_TMW.tensor_split(shape.n_layers, dim=2)
        for layer, past_TMw, (key_BHSE, value_BHSE) in zip(weights.layers, pasts, memory, strict=True):
            query_NW, new_Nw = linear(read_ND, layer.own_in, 3 * shape.d_inner).tensor_split(
                [shape.d_inner], dim=1
            )
            new.append(new_Nw)
            kept_TNw = torch.where(is_last_T11, new_Nw.to(past_TMw.dtype), past_TMw[:, row_N])
            key_TNW, value_TNW = kept_TNw.float().chunk(2, dim=2)
            context_NHE = attend(
                query_NW.view(N, *heads, 1).transpose(2, 3),
                key_TNW.reshape(T, N, *heads).permute(1, 2, 0, 3),
                value_TNW.reshape(T, N, *heads).permute(1, 2, 0, 3),
            )
            y_ND = linear(context_NHE.reshape(N, -1), layer.own_out, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.own_norm)
            query_NW = linear(read_ND, layer.cross_in, shape.d_inner)
            context_NHE = attend(
                query_NW.view(N, *heads, 1).transpose(2, 3),
                key_BHSE[sentence_N].float(),
                value_BHSE[sentence_N].float(),
                mask_N1S,
            )
            y_ND = linear(context_NHE.reshape(N, -1), layer.cross_out, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.cross_norm)
            y_ND = linear(self.activation(linear(read_ND, layer.up, shape.d_ff)), layer.down, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.norm)
        logits_NV = linear(read_ND, weights.output, shape.vocab_size)
        return logits_NV, logits_NV.logsumexp(dim=1), torch.cat(new, dim=1).to(past_TMW.dtype)


def linear(x_ND: Tensor, weights: Weights, n_out: int) -> Tensor:
    """y_NF, of ``n_out`` outputs, in float32: a loop over the weight in which all rows are."""
    # the compiler computes what is read this way beforehand, and not again for each group of outputs
    x_ND = x_ND.contiguous().as_strided(x_ND.shape, (x_ND.size(1), 1))
    n_beside = math.gcd(x_ND.size(1), max(1, CHAINS // x_ND.size(0)))
    weight_GDL = weights.weight_GDL.float()
    rows = []
    for x_D in x_ND.unbind():
        y_GL = torch.addcmul(weights.bias_GL, _sums(weight_GDL, x_D, n_beside), weights.scale_GL)
        rows.append(y_GL.flatten()[:n_out])
    return torch.stack(rows)


def _sums(weight_GDL: Tensor, x_D: Tensor, n_beside: int) -> Tensor:
    """Of products with one row, (G, L); ``n_beside`` neighbours are added before they join the sum."""
    weight_GdnL = weight_GDL.view(len(weight_GDL), -1, n_beside, LANES)
    inputs = zip(weight_GdnL.unbind(2), x_D.view(-1, n_beside).unbind(1), strict=True)
    first, *others = (weight_GdL * x_d[:, None] for weight_GdL, x_d in inputs)
    return sum(others, start=first).sum(dim=1)


def attend(
    query_NH1E: Tensor, key_NHTE: Tensor, value_NHTE: Tensor, mask_N1T: Tensor | None = None
) -> Tensor:
    """What heads find, (N, H, E): scaled dot-product attention of one query, as sums of products."""
    scores_NHT = (query_NH1E * key_NHTE).sum(dim=3) * query_NH1E.size(3) ** -0.5
    if mask_N1T is not None:
        scores_NHT = scores_NHT + mask_N1T
    context_NHE: Tensor = (scores_NHT.softmax(dim=2).unsqueeze(3) * value_NHTE).sum(dim=2)
    return context_NHE
