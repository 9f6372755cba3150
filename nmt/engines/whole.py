"""A whole decoder step as a single function, to be compiled ahead of time.

A step of a small model computes little and is many calls, each of which costs more than what it computes.
Here it is one call: attention, projection and the logarithm of its sum of exponentials included. How its
linear maps are computed is left open: by loops over the weights, for few rows (``nmt.engines.loops``), or by
the compiler's own matrix products, for any number of rows (``nmt.engines.bound``). How many sentences the
rows belong to, and how much of source and target there is, stays open too.

Dimensions: N rows, M rows that have a place in the past, P sentences that have one in the memory, T tokens of
the target with the one being read, L source length in whole registers, H heads, E per head, D d_model, F
outputs of a linear map, W numbers kept of a row and token (keys and values of all layers), V vocabulary, n
equal blocks of it, X positions that the model has, and U tokens that are never next.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Generic, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines.between import NORM_EPS, Norm, Shape, ShapeWithWeights, Stretch, decoder_norms
from nmt.engines.kernels import Precision, side_by_side
from nmt.models.transformer import DecoderLayer, Transformer

MapT = TypeVar("MapT")
"""The weights of a linear map."""
LayOut = Callable[[Tensor, Tensor | None], MapT]
"""Weight_FD and bias_F if there is one -> a linear map."""


@dataclass(frozen=True)
class WholeShape(ShapeWithWeights):
    """All that the code depends on, but the number of rows; ``attention`` is also in what keys are kept."""

    n_heads: int
    n_layers: int
    vocab_size: int
    n_positions: int
    scale: float
    """Of embeddings."""

    @classmethod
    def of(
        cls, model: Transformer, attention: torch.dtype, weights: Precision = "int8", *, signed: bool = True
    ) -> WholeShape | None:
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
            n_positions=model.positions.encoding_TD.size(0),
            scale=model.target_embedding.scale,
            weights=weights,
            signed=signed,
        )


class Words(NamedTuple):
    """What a step reads of its vocabulary."""

    embedding_VD: Tensor
    positions_XD: Tensor
    forbidden_V: Tensor
    """-inf for tokens that are never next, else 0."""
    forbidden_U: Tensor
    """Those tokens; or any one, where there are none."""


class LayerWeights(NamedTuple, Generic[MapT]):
    """Of a decoder layer, in the order that they are used."""

    own_in: MapT
    """Query, key and value of self-attention."""
    own_out: MapT
    own_norm: Norm
    """Behind self-attention's residual addition."""
    cross_in: MapT
    """The query."""
    cross_out: MapT
    cross_norm: Norm
    up: MapT
    down: MapT
    norm: Norm
    """Behind the feed-forward network's."""


class StepWeights(NamedTuple, Generic[MapT]):
    """All that a step reads besides what it keeps; ``norm``, before all layers, is empty if post-norm."""

    norm: Norm | tuple[()]
    layers: list[LayerWeights[MapT]]
    output: MapT

    @classmethod
    def of(cls, model: Transformer, lay_out: LayOut[MapT]) -> StepWeights[MapT]:
        """Of a model's decoder, linear maps as ``lay_out`` makes them."""
        layers = [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
        first, norms = decoder_norms(model)

        def of(*linears: nn.Linear) -> MapT:
            return lay_out(*side_by_side(linears))

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
            lay_out(model.output.weight_VD.detach(), None),
        )

    @classmethod
    def zeros(cls, shape: WholeShape, lay_out: LayOut[MapT]) -> StepWeights[MapT]:
        """Of no model, to be filled or to compile with; no tensor is there twice."""
        D = shape.d_model

        def of(n_in: int, n_out: int) -> MapT:
            return lay_out(torch.zeros(n_out, n_in), torch.zeros(n_out))

        def norm() -> Norm:
            return Norm(torch.ones(D), torch.zeros(D))

        def layer() -> LayerWeights[MapT]:
            return LayerWeights(
                of(D, 3 * shape.d_inner),
                of(shape.d_inner, D),
                norm(),
                of(D, shape.d_inner),
                of(shape.d_inner, D),
                norm(),
                of(D, shape.d_ff),
                of(shape.d_ff, D),
                norm(),
            )

        return cls(
            norm() if shape.norm == "pre" else (),
            [layer() for _ in range(shape.n_layers)],
            lay_out(torch.zeros(shape.vocab_size, D), None),
        )


for _structure in (Words, LayerWeights, StepWeights):
    torch.utils._pytree._register_namedtuple(
        _structure, serialized_type_name=f"{_structure.__module__}.{_structure.__qualname__}"
    )


class WholeStep(Stretch, Generic[MapT]):
    """The function."""

    def __init__(self, shape: WholeShape) -> None:
        super().__init__(shape)
        self._shape = shape

    def forward(
        self,
        tokens_N: Tensor,
        past_TMW: Tensor,
        memory: list[tuple[Tensor, Tensor]],
        mask_P11L: Tensor,
        places: tuple[Tensor, Tensor],
        words: Words,
        weights: StepWeights[MapT],
    ) -> tuple[Tensor, ...]:
        """Tokens -> logits_NV and what is told of them.

        Args:
            tokens_N: being read.
            past_TMW: keys and values so far; the last are written.
            memory: for each layer keys_PHEL and values_PHLE of the sources (``nmt.engines.memory``).
            mask_P11L: what to add to the scores of the sources.
            places: rows_TN of ``past_TMW`` where what each row has read stands, and of each row sentence_N,
                where its source does.
            words: of the model, and what is never next.
            weights: of the model.

        Returns:
            Of ``Step`` logits_NV, log_totals_N, maxima_Nn and the best; what is kept is in ``past_TMW``.
        """
        shape, (rows_TN, sentence_N) = self._shape, places
        N, T, heads = tokens_N.size(0), past_TMW.size(0), (shape.n_heads, -1)
        times_T = torch.arange(T)
        position_1D = words.positions_XD[times_T[-1:]]
        x_ND = torch.add(position_1D, words.embedding_VD[tokens_N], alpha=shape.scale)
        is_last_T11 = (times_T == T - 1)[:, None, None]
        sizes = N, past_TMW.size(1), mask_P11L.size(0)
        is_alone = all(isinstance(size, int) and size == 1 for size in sizes)  # a size that is open is none
        mask_N1L = (mask_P11L if is_alone else mask_P11L[sentence_N]).flatten(1).unsqueeze(1).float()
        read_ND = F.layer_norm(x_ND, (shape.d_model,), *weights.norm, NORM_EPS) if weights.norm else x_ND
        new = []
        pasts = past_TMW.tensor_split(shape.n_layers, dim=2)
        for layer, past_TMw, read in zip(weights.layers, pasts, memory, strict=True):
            all_NW = self.once(self.linear(read_ND, layer.own_in, 3 * shape.d_inner))
            query_NW, new_Nw = all_NW.tensor_split([shape.d_inner], dim=1)
            new.append(new_Nw)
            kept_TNw = past_TMw if is_alone else past_TMw[times_T[:, None], rows_TN]
            past = _pair(part.reshape(T, N, *heads) for part in kept_TNw.chunk(2, dim=2))
            own = _pair(part.view(N, *heads) for part in new_Nw.to(past_TMw.dtype).chunk(2, dim=1))
            context_NHE = attend_past(query_NW.view(N, *heads), past, own, is_last_T11)
            y_ND = self.linear(context_NHE.reshape(N, -1), layer.own_out, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.own_norm)
            query_NW = self.once(self.linear(read_ND, layer.cross_in, shape.d_inner))
            key_NHEL, value_NHLE = read if is_alone else (part[sentence_N] for part in read)
            context_NHE = attend(query_NW.view(N, *heads), (key_NHEL, value_NHLE), mask_N1L)
            y_ND = self.linear(context_NHE.reshape(N, -1), layer.cross_out, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.cross_norm)
            inner_NF = self.activation(self.linear(read_ND, layer.up, shape.d_ff))
            y_ND = self.linear(inner_NF, layer.down, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.norm)
        logits_NV = self.linear(read_ND, weights.output, shape.vocab_size)
        past_TMW[times_T[-1:], rows_TN[-1]] = torch.cat(new, dim=1).to(past_TMW.dtype)
        return logits_NV, *told(logits_NV, words)

    def once(self, y_NF: Tensor) -> Tensor:
        """What ``linear`` gives, not computed anew for each number that is added up of it."""
        return y_NF

    @abstractmethod
    def linear(self, x_ND: Tensor, weights: MapT, n_out: int) -> Tensor:
        """y_NF, of ``n_out`` outputs, in float32."""


def _pair(parts: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    key, value = parts
    return key, value


LARGEST_BLOCK = 64
"""Of logits whose largest is told."""


def n_beside(vocab_size: int) -> int:
    """Logits in each block."""
    return math.gcd(vocab_size, LARGEST_BLOCK)


def told(logits_NV: Tensor, words: Words) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """log_totals_N, and of what is allowed maxima_Nn, the largest_N and the tokens_N that have it.

    All logits are read twice: for the largest, and for their exponentials.
    """
    N, V = logits_NV.shape
    blocks = -1, n_beside(V)
    blocks_NnX, forbidden_nX = logits_NV.view(N, *blocks), words.forbidden_V.view(blocks)
    maxima_Nn = computed_first((blocks_NnX + forbidden_nX).amax(dim=2))
    highest_N = torch.maximum(maxima_Nn.amax(dim=1), logits_NV[:, words.forbidden_U].amax(dim=1))
    highest_N = computed_first(highest_N)
    log_totals_N = exponential(logits_NV - highest_N.unsqueeze(1)).sum(dim=1).log() + highest_N
    best_N = computed_first(maxima_Nn.argmax(dim=1))
    best_NX = computed_first(blocks_NnX[torch.arange(N), best_N] + forbidden_nX[best_N])
    tokens_N = best_N * blocks[1] + best_NX.argmax(dim=1)
    return log_totals_N, maxima_Nn, best_NX.amax(dim=1), tokens_N


def attend(query_NHE: Tensor, read: tuple[Tensor, Tensor], mask_N1L: Tensor) -> Tensor:
    """What heads find in the source, (N, H, E): scaled dot-product attention of one query, no matrix product.

    Places of the source fill registers in the scores, numbers of a value in what is found.
    """
    key_NHEL, value_NHLE = read
    query_NHE = computed_first(query_NHE * query_NHE.size(2) ** -0.5)
    scores_NHL = computed_first((query_NHE.unsqueeze(3) * key_NHEL.float()).sum(dim=2)) + mask_N1L
    weights_NHL = _exponentials(scores_NHL, 2)
    context_NHE: Tensor = (weights_NHL.unsqueeze(3) * value_NHLE.float()).sum(dim=2)
    return context_NHE / weights_NHL.sum(dim=2).unsqueeze(2)


def attend_past(
    query_NHE: Tensor,
    read_TNHE: tuple[Tensor, Tensor],
    own_NHE: tuple[Tensor, Tensor],
    is_last_T11: Tensor,
) -> Tensor:
    """The same in what a row has read, and at the last time in its own key and value."""
    (key_TNHE, value_TNHE), (own_key_NHE, own_value_NHE) = read_TNHE, own_NHE
    scores_TNH = computed_first((query_NHE * key_TNHE.float()).sum(dim=3))
    own_score_NH = computed_first((query_NHE * own_key_NHE.float()).sum(dim=2))
    scores_TNH = torch.where(is_last_T11, own_score_NH, scores_TNH) * query_NHE.size(2) ** -0.5
    weights_TNH = _exponentials(scores_TNH, 0)
    # not multiplied by 0: whatever stands there may be no number
    value_TNHE = torch.where(is_last_T11.unsqueeze(3), 0.0, value_TNHE.float())
    context_NHE = (weights_TNH.unsqueeze(3) * value_TNHE).sum(dim=0)
    context_NHE = context_NHE + weights_TNH[-1].unsqueeze(2) * own_value_NHE.float()
    found_NHE: Tensor = context_NHE / weights_TNH.sum(dim=0).unsqueeze(2)
    return found_NHE


def _exponentials(scores: Tensor, dim: int) -> Tensor:
    """A softmax that is still to be divided by its sum."""
    # not with keepdim: the compiler would see a softmax, and test each score for infinity
    return computed_first(exponential(scores - scores.amax(dim=dim).unsqueeze(dim)))


LEAST_EXPONENT = -87.0
"""What is raised to less is 1e-38: nothing beside the 1 that is in each sum of exponentials."""
POWER_OF_TWO = (1.0, 0.69314718, 0.24022646, 0.05550329, 0.00961852, 0.00133999, 0.00015338)
"""What 1, x, x ** 2 and so on are multiplied with to give 2 ** x, for x from -0.5 to 0.5, to 1e-7 of it.

Fitted at Chebyshev nodes.
"""
EXPONENT_BIAS, FRACTION = 127.0, 2.0**23
"""Of float32."""


def exponential(x: Tensor) -> Tensor:
    """Euler's number to the power of ``x``, at most 0: to 1e-7 of it near 0 and 2e-6 of it at -30; NaN stays.

    The C library's is a call for each register, which takes twice as long.
    """
    x = x.clamp(min=LEAST_EXPONENT) * math.log2(math.e)
    whole = x.round()
    rest = x - whole
    *lower, second, first = POWER_OF_TWO
    power = rest * first + second
    for factor in reversed(lower):
        power = power * rest + factor
    # an exponent in its place among the bits of float32 is two to the power of it
    return power * ((whole + EXPONENT_BIAS) * FRACTION).to(torch.int32).view(torch.float32)


def computed_first(x: Tensor) -> Tensor:
    """``x``, which the compiler then computes once and writes to memory, in this order.

    Else it computes what few read anew for each of them, and for each number that they add up.
    """
    strides = [1]
    for size in reversed(x.shape[1:]):
        strides.insert(0, strides[0] * size)
    return x.contiguous().as_strided(x.shape, strides)
