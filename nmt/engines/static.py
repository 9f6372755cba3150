"""A Transformer whose decoder step has fixed shapes, so that a GPU can replay it as a CUDA graph.

A step of a small model is some hundred kernels of microseconds each, and launching them from Python takes
longer than running them. Here every size is rounded up to a bucket (``nmt.engines.static_memory``), each row
has a position of its own, so that sentences that started at different times need no step of their own, and
all that a step reads and writes stays in place. On a GPU the step is captured once for a bucket and
replayed; on a CPU it is called, which is slower than ``nmt.engines.packed`` and there to be tested.

Like all engines but eager it exposes no attention. A state is used once: ``step``, ``reorder`` and ``merge``
change what they are given.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, D d_model, H heads, E
per head, W numbers kept of a token, V vocabulary. B, S and T are those of the bucket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.batch import Batch
from nmt.engines.graphs import Recorder
from nmt.engines.parts import Embedding, Norm, Sublayer
from nmt.engines.static_memory import Bucket, Lease, Place, Places, Widths
from nmt.layers.attention import MultiHeadAttention
from nmt.models.interface import Step
from nmt.models.transformer import DecoderLayer, Transformer


@dataclass
class StaticState:
    """Sentences in the first rows of a place."""

    lease: Lease
    n_read: list[int]
    """Tokens that each sentence has read."""

    @property
    def place(self) -> Place:
        """Where they are."""
        return self.lease.place

    @property
    def n_rows(self) -> int:
        """Rows that live."""
        return len(self.n_read) * self.place.bucket.beam_size


class StaticTransformer:
    """A ``MergingDecoder`` made from a model in evaluation mode, on the model's device.

    Args:
        model: left as it is.
        dtype: float32, or bfloat16 for products and what is kept; totals and logits are float32.
    """

    def __init__(self, model: Transformer, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self._model = model
        self._device = model.output.weight_VD.device
        self._recorder = Recorder() if self._device.type == "cuda" else None
        self._layers = [_Layer(cast(DecoderLayer, layer), dtype) for layer in model.decoder_layers]
        self._norm = Norm(model.decoder_norm, dtype)
        self._output_VD = model.output.weight_VD.detach().to(dtype)
        self._embedding = Embedding(model.target_embedding, model.positions)
        past = sum(layer.past_width for layer in self._layers)
        memory = sum(layer.memory_width for layer in self._layers)
        self._widths = Widths(past, memory, self._output_VD.size(0))
        self._places = Places(self._place)

    def start(self, source: Batch, beam_size: int) -> StaticState:
        """Encode, and project keys and values of the source for all steps."""
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self.dtype == torch.bfloat16):
            memory_BSD = self._model.encode(source).to(self.dtype)
        B, S = source.source_BS.shape
        lease = self._places.take(Bucket.around(B, beam_size, S, 0))
        place = lease.place
        place.memory_BSW[:B, :S] = torch.cat([layer.memory(memory_BSD) for layer in self._layers], dim=2)
        place.mask_B11S[:B] = -torch.inf
        place.mask_B11S[:B, 0, 0, :S].masked_fill_(source.source_mask_BS, 0.0)
        return StaticState(lease, [0] * B)

    def step(self, state: StaticState, tokens_N: Tensor) -> tuple[Step, StaticState]:
        """Read one token for each row and predict the next; logits, with what normalises them.

        Raises:
            ValueError: a row has as many tokens as the model has positions.
        """
        most = max(state.n_read) + 1
        self._embedding.check(most)
        if most > state.place.bucket.target:
            self._move(state, range(len(state.n_read)))
        place, n_rows = state.place, state.n_rows
        place.tokens_N[:n_rows] = tokens_N
        place.run()
        state.n_read = [read + 1 for read in state.n_read]
        return Step(place.logits_NV[:n_rows], None, place.log_totals_N[:n_rows]), state

    def reorder(self, state: StaticState, rows_N: Tensor) -> StaticState:
        """Move rows; where half of the sentences have left, into a smaller place."""
        place, K = state.place, state.place.bucket.beam_size
        if rows_N.numel() == state.n_rows:
            if K > 1:
                place.receive_rows(place, rows_N, slice(0, state.n_rows))
            return state
        sentences = rows_N[::K].div(K, rounding_mode="floor").tolist()
        self._move(state, sentences, rows_N)
        return state

    def merge(self, first: StaticState, second: StaticState) -> StaticState:
        """The sentences of both, those of ``first`` first, whatever each has read."""
        one, other = first.place.bucket, second.place.bucket
        assert one.beam_size == other.beam_size, "the sentences of a batch have beams of one size"
        n_read = [*first.n_read, *second.n_read]
        lease = self._places.take(
            Bucket.around(len(n_read), one.beam_size, max(one.source, other.source), max(n_read) + 1)
        )
        done = 0
        for state in (first, second):
            sentences_B = torch.arange(len(state.n_read), device=self._device)
            lease.place.receive(state.place, sentences_B, self._rows(sentences_B, one.beam_size), done)
            done += len(state.n_read)
        return StaticState(lease, n_read)

    def _move(self, state: StaticState, sentences: Sequence[int], rows_N: Tensor | None = None) -> None:
        """Keep some sentences, in their own place if it is still the right one."""
        place = state.place
        n_read = [state.n_read[sentence] for sentence in sentences]
        bucket = Bucket.around(len(n_read), place.bucket.beam_size, place.bucket.source, max(n_read) + 1)
        sentences_B = torch.tensor(sentences, device=self._device)
        if rows_N is None:
            rows_N = self._rows(sentences_B, place.bucket.beam_size)
        lease = state.lease if bucket == place.bucket else self._places.take(bucket)
        lease.place.receive(place, sentences_B, rows_N)
        state.lease, state.n_read = lease, n_read

    def _rows(self, sentences_B: Tensor, beam_size: int) -> Tensor:
        """All rows of sentences."""
        return (sentences_B[:, None] * beam_size + torch.arange(beam_size, device=self._device)).flatten()

    def _place(self, bucket: Bucket) -> Place:
        place = Place.make(bucket, self._widths, self._device, self.dtype)
        compute = partial(self._compute, place)
        place.run = compute if self._recorder is None else self._recorder.captured(compute)
        place.clear()
        return place

    def _compute(self, place: Place) -> None:
        """The step itself, of fixed shapes, without a word to the CPU."""
        T, positions_N = place.bucket.target, place.positions_N
        positions_N.clamp_(max=min(T, self._embedding.n_positions) - 1)  # of rows that have died, which go on
        x_ND = self._embedding.read_at(place.tokens_N, positions_N).to(self.dtype)
        later_NT = torch.arange(T, device=self._device) > positions_N[:, None]
        mask_N11T = torch.zeros_like(later_NT, dtype=self.dtype).masked_fill_(later_NT, -torch.inf)
        past, memory = 0, 0
        for layer in self._layers:
            past_NTW = place.past_NTW[:, :, past : past + layer.past_width]
            memory_BSW = place.memory_BSW[:, :, memory : memory + layer.memory_width]
            x_ND = layer.over_past(x_ND, past_NTW, positions_N, mask_N11T[:, None, None])
            x_ND = layer.over_memory(x_ND, memory_BSW, place.mask_B11S)
            x_ND = layer.feed_forward(x_ND)
            past, memory = past + layer.past_width, memory + layer.memory_width
        logits_NV = F.linear(self._norm(x_ND), self._output_VD)
        place.logits_NV.copy_(logits_NV)
        place.log_totals_N.copy_(place.logits_NV.logsumexp(dim=1))
        positions_N.add_(1)


class _Linear:
    """Linear maps side by side as one."""

    def __init__(self, maps: Sequence[nn.Linear], dtype: torch.dtype) -> None:
        self._weight_FD = torch.cat([linear.weight.detach() for linear in maps]).to(dtype)
        self._bias_F = torch.cat([linear.bias.detach() for linear in maps]).to(dtype)

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self._weight_FD, self._bias_F)


class _Around(Sublayer):
    """A sub-layer's normalisation and residual addition."""

    def leave(self, x_ND: Tensor, y_ND: Tensor) -> Tensor:
        return self.after(x_ND + y_ND)


class _Layer:
    """A decoder layer over a place."""

    def __init__(self, layer: DecoderLayer, dtype: torch.dtype) -> None:
        own, cross = layer.self_attention, layer.cross_attention
        self._own_heads, self._cross_heads = own.n_heads, cross.n_heads
        self._own_in = _Linear([own.query, own.key, own.value], dtype)
        self._own_out, self._cross_out = _Linear([own.output], dtype), _Linear([cross.output], dtype)
        self._cross_in, self.memory = _Linear([cross.query], dtype), _Linear([cross.key, cross.value], dtype)
        self._up = _Linear([layer.feed_forward.up], dtype)
        self._down = _Linear([layer.feed_forward.down], dtype)
        self._activation = layer.feed_forward.activation
        self._around_own = _Around(layer.around_self_attention, dtype)
        self._around_cross = _Around(layer.around_cross_attention, dtype)
        self._around_feed_forward = _Around(layer.around_feed_forward, dtype)
        self.past_width, self.memory_width = _width(own), _width(cross)

    def over_past(self, x_ND: Tensor, past_NTW: Tensor, positions_N: Tensor, mask_N11T: Tensor) -> Tensor:
        """Write each row's key and value at its position, and let it see what it has read."""
        N, T, W = past_NTW.shape
        query_ND, new_NW = torch.split(self._own_in(self._around_own.before(x_ND)), [W // 2, W], dim=1)
        past_NTW[torch.arange(N, device=x_ND.device), positions_N] = new_NW
        key, value = past_NTW.view(N, T, 2, self._own_heads, -1).permute(2, 0, 3, 1, 4).unbind()
        query_NH1E = query_ND.view(N, self._own_heads, 1, -1)
        context_NH1E = F.scaled_dot_product_attention(query_NH1E, key, value, attn_mask=mask_N11T)
        return self._around_own.leave(x_ND, self._own_out(context_NH1E.reshape(N, W // 2)))

    def over_memory(self, x_ND: Tensor, memory_BSW: Tensor, mask_B11S: Tensor) -> Tensor:
        """The K rows of a sentence are K queries on its one memory."""
        (B, S, W), N = memory_BSW.shape, x_ND.size(0)
        query_ND = self._cross_in(self._around_cross.before(x_ND))
        query_BHKE = query_ND.view(B, N // B, self._cross_heads, -1).transpose(1, 2)
        key, value = memory_BSW.view(B, S, 2, self._cross_heads, -1).permute(2, 0, 3, 1, 4).unbind()
        context_BHKE = F.scaled_dot_product_attention(query_BHKE, key, value, attn_mask=mask_B11S)
        return self._around_cross.leave(
            x_ND, self._cross_out(context_BHKE.transpose(1, 2).reshape(N, W // 2))
        )

    def feed_forward(self, x_ND: Tensor) -> Tensor:
        """Each row by itself."""
        y_ND = self._down(self._activation(self._up(self._around_feed_forward.before(x_ND))))
        return self._around_feed_forward.leave(x_ND, y_ND)


def _width(attention: MultiHeadAttention) -> int:
    """Of key and value."""
    return attention.key.out_features + attention.value.out_features
