"""A Transformer laid out for decoding on a CPU: the function of ``Transformer.step`` in a third of the calls.

- Its layers are in ``nmt.engines.packed_layers``, what it keeps between steps in ``packed_state``.
- Next tokens are given as logits with the logarithm of their sum of exponentials, so that nobody writes V
  normalised numbers of which 2K are read.
- It exposes no attention: that comes from a forced pass of the model itself. ``states`` is a forced pass
  for the link scorer, which needs none.

A state is used once: ``step``, ``reorder`` and ``merge`` change what they are given and return it.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T tokens read, D d_model, V vocabulary, W
numbers that attention reads of a row, M tokens of all sentences, rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.engines.cache import ROOM, Cache
from nmt.engines.encoded import EncodedSources
from nmt.engines.encoder_call import EncoderCall
from nmt.engines.keeping import KeptIn
from nmt.engines.kernels import Precision, dtype_of, padded_rows
from nmt.engines.memory import Memory
from nmt.engines.packed_layers import PackedDecoderLayer, PackedEncoderLayer, Tokens
from nmt.engines.packed_state import Group, PackedState
from nmt.engines.parts import Embedding, Norm
from nmt.engines.projection import Projection, ShortProjection, VocabularyShortlist
from nmt.engines.single_calls import SingleCalls
from nmt.engines.threads import StepThreads
from nmt.engines.whole import Words
from nmt.extensions import Rank, best_of_blocks
from nmt.models.interface import Living, Step
from nmt.models.transformer import DecoderLayer, EncoderLayer, Transformer

LONGER = 125
"""Few translations have more tokens than so many percent of the longest source of their batch."""


class PackedTransformer:
    """A ``MergingDecoder`` made from a model in evaluation mode, which it leaves as it is.

    Args:
        model: on the CPU.
        layers: precision of the layers' products.
        output: precision of the projection to the vocabulary.
        shortlist: leaves each sentence the pieces of its list; None: all, the exact function.
        single_calls: steps that are one call; None: there are none.
        encoder_call: the encoder as one call, for layers in bfloat16; None: there is none.
        rank: finds the best extensions of a beam.
    """

    def __init__(
        self,
        model: Transformer,
        *,
        layers: Precision,
        output: Precision,
        shortlist: VocabularyShortlist | None = None,
        single_calls: SingleCalls | None = None,
        encoder_call: EncoderCall | None = None,
        rank: Rank = best_of_blocks,
    ) -> None:
        self.rank = rank
        self.dtype = dtype_of(layers)
        self._precision = layers
        self._source = Embedding(model.source_embedding, model.positions)
        self._target = Embedding(model.target_embedding, model.positions)
        self._encoder = [
            PackedEncoderLayer(cast(EncoderLayer, layer), layers) for layer in model.encoder_layers
        ]
        self._decoder = [
            PackedDecoderLayer(cast(DecoderLayer, layer), layers) for layer in model.decoder_layers
        ]
        self._encoder_norm = Norm(model.encoder_norm, self.dtype)
        self._decoder_norm = Norm(model.decoder_norm, self.dtype)
        self._single_calls = single_calls
        self._kept: KeptIn = single_calls.kept if single_calls is not None else _as_it_is(layers)
        self._encoder_call = encoder_call
        self._project = Projection(model.output.weight_VD.detach(), output)
        self._shortlist = shortlist
        self._vocab_size = model.output.weight_VD.size(0)
        self._words: dict[tuple[int, ...], Words] = {}
        self._encoded = EncodedSources()
        self._threads, self._encoder_threads = StepThreads(), StepThreads()
        self._step_weights = step_weights(model)
        self._encoder_weights = sum(weight.numel() for weight in model.encoder_layers.parameters())
        self._heads = [layer.self_attention.heads for layer in self._decoder]

    def start(self, source: Batch, beam_size: int) -> PackedState:
        """Encode, and project keys and values of the source for all steps."""
        tokens = Tokens.of(source.source_mask_BS, self.dtype)
        embedded_MD = self._embedded(source, tokens)
        n_tokens = len(embedded_MD)
        encode = partial(self._memory, embedded_MD, tokens, source.source_mask_BS)
        memory_MD, memory = self._encoder_threads.take(n_tokens, n_tokens * self._encoder_weights, encode)
        self._encoded.keep(source, tokens.padded(memory_MD))
        may_stay = self._single_calls is not None
        expected = source.source_BS.size(1) * LONGER // 100 if may_stay else ROOM  # else all of it is moved
        past = Cache(source.size, beam_size, self._heads, self._kept, may_stay=may_stay, expected=expected)
        group = Group(memory, past)
        if self._shortlist is not None:
            group.short = ShortProjection.build(self._project, self._vocab_size, self._shortlist, source)
        return PackedState([group], beam_size)

    def states(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """A teacher-forced pass as ``Transformer.states``: memory_BSD and hidden_BTD, of ``dtype``.

        Sentences that were searched lately are not encoded again.
        """
        if batch.target_in_BT is None:
            raise ValueError("a teacher-forced pass needs the target side of the batch")
        B, T = batch.target_in_BT.shape
        tokens = Tokens.of(batch.source_mask_BS, self.dtype)
        known_BSD = self._encoded.find(batch)
        if known_BSD is None:
            memory_MD = self._encode(self._embedded(batch, tokens), tokens)
        else:
            memory_MD = self._for_layers(tokens.packed(known_BSD))
        x_MD = self._for_layers(self._target.read(batch.target_in_BT, range(T)).view(B * T, -1))
        for layer in self._decoder:
            memory = layer.cross_attention.memory(memory_MD, tokens)
            x_MD = layer.over_target(x_MD, (B, T), memory, tokens.mask_B11S)
        hidden_MD = self._decoder_norm(x_MD)
        return tokens.padded(memory_MD), hidden_MD[: B * T].view(B, T, -1)

    def step(self, state: PackedState, tokens_N: Tensor) -> tuple[Step, PackedState]:
        """Read one token for each row and predict the next; logits, with what normalises them."""
        n_rows = tokens_N.numel()
        take = partial(self._step, state, tokens_N)
        return self._threads.take(n_rows, n_rows * self._step_weights, take), state

    def step_without(
        self,
        state: PackedState,
        tokens_N: Tensor,
        forbidden: tuple[int, ...],
        living: Living | None = None,
    ) -> tuple[Step, PackedState] | None:
        """``step`` with the best tokens or extensions, by none of ``forbidden``, where it is one call."""
        n_rows = tokens_N.numel()
        if self._single_calls is None or not self._single_calls.take(state.groups, n_rows):
            return None
        take = partial(self._single_call, state.groups[0], tokens_N, forbidden, living)
        return self._threads.take(n_rows, n_rows * self._step_weights, take), state

    def _single_call(
        self, group: Group, tokens_N: Tensor, forbidden: tuple[int, ...], living: Living | None = None
    ) -> Step:
        assert self._single_calls is not None
        if (words := self._words.get(forbidden)) is None:
            words = self._words[forbidden] = self._target.words(forbidden)
        group.past.grow()
        self._target.check(group.past.n_tokens)
        return self._single_calls(tokens_N, group, words, living)

    def _step(self, state: PackedState, tokens_N: Tensor) -> Step:
        groups, n_rows = state.groups, tokens_N.numel()
        if self._single_calls is not None and self._single_calls.take(groups, n_rows):
            return self._single_call(groups[0], tokens_N, ())._replace(best=None, forbidden_V=None)
        for group in groups:
            group.past.grow()
        positions = [group.past.n_tokens - 1 for group in groups]
        if len(groups) == 1:
            x_ND = self._target.read(tokens_N, range(positions[0], positions[0] + 1))
        else:
            place_N = torch.tensor(positions).repeat_interleave(torch.tensor(state.n_rows))
            x_ND = self._target.read_at(tokens_N, place_N)
        x_ND = self._for_layers(x_ND)
        for index, layer in enumerate(self._decoder):
            x_ND = layer.step(x_ND, state, index)
        x_ND = self._decoder_norm(x_ND)
        if self._shortlist is not None:
            return self._short_step(state, x_ND)
        logits_NV, log_totals_N = self._project(x_ND)
        return Step(logits_NV[:n_rows], None, log_totals_N[:n_rows])

    def reorder(self, state: PackedState, rows_N: Tensor) -> PackedState:
        """Move rows; a group of which no sentence is left is gone."""
        groups, n_following = state.groups, rows_N.numel()
        n_now = sum([group.past.n_rows for group in groups])
        if n_following == n_now and rows_N.tolist() == list(range(n_now)):
            return state
        if len(groups) == 1:
            groups[0].select(rows_N, state.beam_size)
            return state
        n_rows = state.n_rows
        ends_G = torch.tensor(n_rows).cumsum(0)
        # sentences keep their order, so the first rows of those that stay are sorted by group
        places = torch.searchsorted(rows_N[:: state.beam_size].contiguous(), ends_G).tolist()
        staying: list[Group] = []
        first, first_row = 0, 0
        for group, count, place in zip(groups, n_rows, places, strict=True):
            end = place * state.beam_size
            if end > first:
                group.select(rows_N[first:end] - first_row, state.beam_size)
                staying.append(group)
            first, first_row = end, first_row + count
        return replace(state, groups=staying)

    def _embedded(self, source: Batch, tokens: Tokens) -> Tensor:
        """Source ids -> a row for each token, in float32."""
        return tokens.packed(self._source.read(source.source_BS, range(source.source_BS.size(1))))

    def _memory(self, embedded_MD: Tensor, tokens: Tokens, mask_BS: Tensor) -> tuple[Tensor, Memory]:
        """-> memory_MD, and keys and values of it for each layer of the decoder."""
        if self._encoder_call is not None and self._encoder_call.takes(embedded_MD):
            return self._encoder_call(embedded_MD, mask_BS)
        memory_MD = self._encode(embedded_MD, tokens)
        layers = [layer.cross_attention.memory(memory_MD, tokens) for layer in self._decoder]
        return memory_MD, Memory.of(layers, tokens.mask_B11S)

    def _encode(self, embedded_MD: Tensor, tokens: Tokens) -> Tensor:
        """-> memory_MD."""
        x_MD = self._for_layers(embedded_MD)
        for layer in self._encoder:
            x_MD = layer(x_MD, tokens)
        return self._encoder_norm(x_MD)

    def _short_step(self, state: PackedState, h_ND: Tensor) -> Step:
        """Each group projects to the lists of its own sentences."""
        parts = []
        first = 0
        for group, n_rows in zip(state.groups, state.n_rows, strict=True):
            assert group.short is not None
            own_ND = h_ND if len(state.groups) == 1 else self._for_layers(h_ND[first : first + n_rows])
            parts.append(group.short(own_ND, n_rows))
            first += n_rows
        logits, log_totals = zip(*parts, strict=True)
        return Step(_joined(logits), None, _joined(log_totals))

    def _for_layers(self, x_ND: Tensor) -> Tensor:
        """In the layers' precision, with rows of zeros up to ``padded_rows``."""
        n_rows = padded_rows(x_ND.size(0), self._precision)
        if n_rows == x_ND.size(0):
            return x_ND.to(self.dtype)
        wide_ND = x_ND.new_zeros(n_rows, x_ND.size(1), dtype=self.dtype)
        wide_ND[: x_ND.size(0)] = x_ND
        return wide_ND

    def merge(self, first: PackedState, second: PackedState) -> PackedState:
        """The sentences of both, those of ``first`` first, whatever each has read."""
        assert first.beam_size == second.beam_size, "the sentences of a batch have beams of one size"
        groups = [*first.groups, *second.groups]
        if self._single_calls is not None and self._single_calls.join(groups):
            group, *others = groups
            for other in others:
                group.join(other, self._kept)
            groups = [group]
        return PackedState(groups, first.beam_size)


def step_weights(model: Transformer) -> int:
    """How many numbers a step reads of a model."""
    read = (*model.decoder_layers.parameters(), model.output.weight_VD)
    return sum(weight.numel() for weight in read)


def _as_it_is(layers: Precision) -> Precision:
    """In what layers of a precision have keys and values."""
    return "bfloat16" if layers == "bfloat16" else "float32"


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))
