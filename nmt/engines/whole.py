"""A whole decoder step as a single function, to be compiled ahead of time.

A step of a small model computes little and is many calls, each of which costs more than what it computes.
Here it is one call: attention, projection and the logarithm of its sum of exponentials included. How its
linear maps are computed is left open: by loops over the weights, for few rows (``nmt.engines.loops``), or by
the compiler's own matrix products, for any number of rows (``nmt.engines.bound``). How many sentences the
rows belong to, how much of source and target there is, and how much of the target each row has read, stays
open too.

Dimensions: N rows, K of a sentence, Q sentences that have a place in the past, P that have one in the memory,
T tokens of the target with the one being read, C that there is room for, L source length in whole registers,
H heads, E per head, D d_model, F outputs of a linear map, W numbers of query, key and value side by side, V
vocabulary, n blocks of it (Z, X and G of ``nmt.extensions.Blocks``), Y positions that the model has, and U
tokens that are never next.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Generic, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.compiler import computed_first
from nmt.engines.arithmetic import exponentials, largest, sum_of_exponentials
from nmt.engines.cpu import Int8Inputs
from nmt.engines.keeping import QUARTERS, Kept, KeptIn, kept, quarters
from nmt.engines.kernels import Precision, side_by_side
from nmt.engines.shapes import NORM_EPS, Norm, OverLayers, Shape, ShapeWithWeights, decoder_norms
from nmt.extensions import LANES, in_blocks
from nmt.models.transformer import DecoderLayer, Transformer

MapT = TypeVar("MapT")
"""The weights of a linear map."""
LayOut = Callable[[Tensor, Tensor | None], MapT]
"""Weight_FD and bias_F if there is one -> a linear map."""


@dataclass(frozen=True)
class WholeShape(ShapeWithWeights):
    """All that the code depends on, but the number of rows."""

    n_heads: int
    n_layers: int
    vocab_size: int
    n_positions: int
    scale: float
    """Of embeddings."""
    kept: KeptIn
    """In what keys and values are."""

    @classmethod
    def of_model(
        cls, model: Transformer, kept: KeptIn, weights: Precision = "int8", inputs: Int8Inputs = "int8"
    ) -> WholeShape | None:
        """None where layers differ in width, as after pruning heads."""
        shape = Shape.of(model, torch.float32)
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
            kept=kept,
            weights=weights,
            inputs=inputs,
        )


class Words(NamedTuple):
    """What a step reads of its vocabulary."""

    embedding_VD: Tensor
    positions_YD: Tensor
    forbidden_V: Tensor
    """-inf for tokens that are never next, else 0."""
    forbidden_U: Tensor
    """Those tokens; or any one, where there are none."""


class Places(NamedTuple):
    """What a step is told of its rows."""

    places_N: Tensor
    """Where what its sentence has read stands."""
    readers_NC: Tensor
    """Which of the K rows of the sentence has read that."""
    sentence_N: Tensor
    """Where its source stands."""
    behind_N: Tensor
    """How many tokens it has read less than there are times."""
    times_T: Tensor
    """0 to T - 1."""


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
    def zeros(
        cls, shape: WholeShape, lay_out: LayOut[MapT], of_output: LayOut[MapT] | None = None
    ) -> StepWeights[MapT]:
        """Of no model, to be filled or to compile with; no tensor is there twice.

        The projection to the vocabulary is as ``of_output`` makes it, if that is given.
        """
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
            (of_output or lay_out)(torch.zeros(shape.vocab_size, D), None),
        )


for _structure in (Words, Places, LayerWeights, StepWeights):
    torch.utils._pytree._register_namedtuple(
        _structure, serialized_type_name=f"{_structure.__module__}.{_structure.__qualname__}"
    )


class WholeStep(OverLayers, Generic[MapT]):
    """The function."""

    def __init__(self, shape: WholeShape) -> None:
        super().__init__(shape)
        self._shape = shape

    def forward(
        self,
        tokens_N: Tensor,
        past: list[tuple[Kept, Kept]],
        memory: list[tuple[Kept, Kept]],
        mask_P11L: Tensor,
        places: Places,
        words: Words,
        weights: StepWeights[MapT],
    ) -> tuple[Tensor, ...]:
        """Tokens -> logits_NV and what is told of them.

        Args:
            tokens_N: being read.
            past: for each layer keys (Q, H, C, K, E) and values so far; those of ``tokens_N`` are written.
            memory: for each layer keys and values of the sources (``nmt.engines.memory.LaidOut``).
            mask_P11L: what to add to the scores of the sources.
            places: where each row's sentence stands, and how much it has read.
            words: of the model, and what is never next.
            weights: of the model.

        Returns:
            Of ``Step`` logits_NV, log_totals_N, maxima_Nn and the best; what is kept is in ``past``.
        """
        logits_NV = self.logits(tokens_N, past, memory, mask_P11L, places, words, weights)
        log_totals_N, maxima_Nn = told(logits_NV, words)
        return logits_NV, log_totals_N, maxima_Nn, *best_allowed(logits_NV, maxima_Nn, words)

    def logits(
        self,
        tokens_N: Tensor,
        past: list[tuple[Kept, Kept]],
        memory: list[tuple[Kept, Kept]],
        mask_P11L: Tensor,
        places: Places,
        words: Words,
        weights: StepWeights[MapT],
    ) -> Tensor:
        """Logits_NV; arguments as ``forward``.

        Where past and memory have but one place, all rows are of one sentence and have read as much.
        """
        shape, sentence_N = self._shape, places.sentence_N
        N, heads = tokens_N.size(0), (shape.n_heads, -1)
        sizes = past[0][0][0].size(0), mask_P11L.size(0)
        is_alone = all(isinstance(size, int) and size == 1 for size in sizes)  # a size that is open is none
        times_T = torch.arange(places.times_T.size(0))  # which the compiler need not read
        now_N = times_T[-1:] if is_alone else times_T[-1:] - places.behind_N
        if is_alone:
            places = places._replace(places_N=torch.zeros(1, dtype=torch.long))
        later_N1T = None if is_alone else computed_first(_masked(times_T > now_N.unsqueeze(1))).unsqueeze(1)
        x_ND = torch.add(words.positions_YD[now_N], words.embedding_VD[tokens_N], alpha=shape.scale)
        mask_N1L = (mask_P11L if is_alone else mask_P11L[sentence_N]).flatten(1).unsqueeze(1)
        read_ND = F.layer_norm(x_ND, (shape.d_model,), *weights.norm, NORM_EPS) if weights.norm else x_ND
        for layer, own_past, read in zip(weights.layers, past, memory, strict=True):
            all_NW = self.once(self.linear(read_ND, layer.own_in, 3 * shape.d_inner))
            query_NHE, *new = all_NW.view(N, 3, *heads).unbind(1)
            key, value = (
                self.kept(parts, new_NHE, places, now_N.unsqueeze(1))
                for parts, new_NHE in zip(own_past, new, strict=True)
            )
            context_NHE = attend_past(query_NHE, key, value, later_N1T)
            y_ND = self.linear(computed_first(context_NHE.reshape(N, -1)), layer.own_out, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.own_norm)
            query_NW = self.once(self.linear(read_ND, layer.cross_in, shape.d_inner))
            key, value = read if is_alone else (tuple(part[sentence_N] for part in parts) for parts in read)
            context_NHE = attend(query_NW.view(N, *heads), key, value, mask_N1L)
            y_ND = self.linear(computed_first(context_NHE.reshape(N, -1)), layer.cross_out, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.cross_norm)
            inner_NF = self.activation(self.linear(read_ND, layer.up, shape.d_ff))
            y_ND = self.linear(inner_NF, layer.down, shape.d_model)
            x_ND, read_ND = self.add(x_ND, y_ND, layer.norm)
        return self.linear(read_ND, weights.output, shape.vocab_size)

    def kept(self, parts: Kept, new_NHE: Tensor, places: Places, now_N1: Tensor) -> Kept:
        """(N, H, T, E): what each row has read, after what is new is written where it belongs."""
        times_T, heads_H = torch.arange(places.times_T.size(0)), torch.arange(new_NHE.size(1))
        readers_NT, places_N1 = places.readers_NC[:, : times_T.size(0)], places.places_N.unsqueeze(1)
        last_N1 = readers_NT.gather(1, now_N1.expand(new_NHE.size(0), 1))
        for part, own in zip(parts, kept(new_NHE, self._shape.kept), strict=True):
            part[places_N1, heads_H, now_N1, last_N1] = own
        index = places_N1.unsqueeze(2), heads_H.unsqueeze(1), times_T, readers_NT.unsqueeze(1)
        return tuple(part[index] for part in parts)

    def once(self, y_NF: Tensor) -> Tensor:
        """What ``linear`` gives, not computed anew for each number that is added up of it."""
        return y_NF

    @abstractmethod
    def linear(self, x_ND: Tensor, weights: MapT, n_out: int) -> Tensor:
        """y_NF, of ``n_out`` outputs, in float32."""


def told(logits_NV: Tensor, words: Words) -> tuple[Tensor, Tensor]:
    """log_totals_N, and maxima_Nn of what is allowed.

    All logits are read twice: for the largest, and for their exponentials.
    """
    logits_NZXG, forbidden_ZXG = in_blocks(logits_NV), in_blocks(words.forbidden_V)
    maxima_Nn = computed_first(largest(logits_NZXG + forbidden_ZXG, dim=2)).flatten(1)
    forbidden_N = logits_NV[:, words.forbidden_U].amax(dim=1)
    highest_N = computed_first(torch.maximum(maxima_Nn.amax(dim=1), forbidden_N))
    return sum_of_exponentials(logits_NV, highest_N.unsqueeze(1)).log() + highest_N, maxima_Nn


def best_allowed(logits_NV: Tensor, maxima_Nn: Tensor, words: Words) -> tuple[Tensor, Tensor]:
    """The largest_N of what is allowed, and the tokens_N that have it."""
    logits_NZXG, forbidden_ZXG = in_blocks(logits_NV), in_blocks(words.forbidden_V)
    N, _, X, G = logits_NZXG.shape
    best_N = computed_first(maxima_Nn.argmax(dim=1))
    # G is a power of two, by which the compiler divides slowly
    group_N, lane_N = best_N >> G.bit_length() - 1, best_N & G - 1
    best_NX = computed_first(
        logits_NZXG[torch.arange(N), group_N, :, lane_N] + forbidden_ZXG[group_N, :, lane_N]
    )
    tokens_N = (group_N * X + best_NX.argmax(dim=1)) * G + lane_N
    return best_NX.amax(dim=1), tokens_N


def attend(query_NHE: Tensor, key: Kept, value: Kept, mask_N1L: Tensor) -> Tensor:
    """What heads find in the source, (N, H, E): scaled dot-product attention of one query, no matrix product.

    Places of the source fill registers in the scores, numbers of a value in what is found.
    """
    query_NHE1 = computed_first(query_NHE * query_NHE.size(2) ** -0.5).unsqueeze(3)
    keys = quarters(key[0])
    if len(keys) == 1 and keys[0].size(2) % QUARTERS == 0:  # sums that do not wait for each other
        keys = list(keys[0].chunk(QUARTERS, dim=2))
    first, *others = map(torch.mul, query_NHE1.chunk(len(keys), dim=2), keys)
    scores_NHL = sum(others, start=first).sum(dim=2)
    return _found(computed_first(_with_scales(scores_NHL, key) + mask_N1L), value)


def attend_past(query_NHE: Tensor, key: Kept, value: Kept, later_N1T: Tensor | None) -> Tensor:
    """The same in what a row has read, of which each number of a key stands beside the next."""
    query_NHE = computed_first(query_NHE * query_NHE.size(2) ** -0.5)
    keys = _registers(key[0])
    queries = torch.split(query_NHE.unsqueeze(2), keys[0].size(3), dim=3)
    first, *others = map(torch.mul, queries, keys)
    # a scale for each register, before the one sum across it: for many sums scales would be gathered
    scores_NHT = _with_scales(sum(others, start=first), key).sum(dim=3)
    return _found(computed_first(scores_NHT if later_N1T is None else scores_NHT + later_N1T), value)


def _masked(is_hidden: Tensor) -> Tensor:
    """What to add to scores."""
    return torch.where(is_hidden, -torch.inf, 0.0)


def _registers(numbers_NHTE: Tensor) -> Sequence[Tensor]:
    """Parts of E in float32, each a register if that fits: where one stands is then found once for all.

    Of int8x4 quarters, which stand in one place.
    """
    if numbers_NHTE.dtype == torch.int32:
        return quarters(numbers_NHTE)
    E = numbers_NHTE.size(3)
    return [part.float() for part in torch.split(numbers_NHTE, E if E % LANES else LANES, dim=3)]


def _with_scales(x: Tensor, parts: Kept) -> Tensor:
    """What is multiplied with each token's key, or with its value, (N, H, T) or (N, H, T, E)."""
    if len(parts) == 1:
        return x
    return x * (parts[1] if x.dim() == 3 else parts[1].unsqueeze(3))


def _found(scores_NHT: Tensor, value: Kept) -> Tensor:
    """(N, H, E): the mean of values, weighted by a softmax of their scores."""
    weights_NHT = computed_first(exponentials(scores_NHT, dim=2))
    shares_NHT1 = _with_scales(weights_NHT.unsqueeze(3), value)
    found = [(shares_NHT1 * part).sum(dim=2) for part in _registers(value[0])]
    return torch.cat(found, dim=2) / weights_NHT.sum(dim=2).unsqueeze(2)
