"""A Transformer laid out for decoding on a CPU: the function of ``Transformer.step`` in a third of the calls.

- Query, key and value are one product; ReLU and residual additions are part of theirs where the kernel can.
- The encoder computes with the tokens of sentences and not with what pads them, attention aside.
- Keys and values of the past stand in preallocated memory (``nmt.engines.cache``), those of the source are
  projected once, never repeated for beams, and move only when sentences leave.
- Next tokens are given as logits with the logarithm of their sum of exponentials, so that nobody writes V
  normalised numbers of which 2K are read.
- It exposes no attention: that comes from a forced pass of the model itself. ``states`` is a forced pass
  for the link scorer, which needs none.

A state is used once: ``step``, ``reorder`` and ``merge`` change what they are given and return it.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T tokens read, D d_model, H heads, E per
head, V vocabulary, W numbers cached of a row and token, M tokens of all sentences, rounded up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.batch import Batch
from nmt.engines.cache import Cache
from nmt.engines.encoded import EncodedSources
from nmt.engines.kernels import Precision, pack, padded_rows
from nmt.engines.projection import Projection, ShortProjection, VocabularyShortlist
from nmt.engines.threads import threads_for
from nmt.layers.attention import MultiHeadAttention
from nmt.layers.feed_forward import FeedForward
from nmt.models.interface import Step
from nmt.models.transformer import DecoderLayer, EncoderLayer, Residual, Transformer


@dataclass
class Group:
    """Sentences that started together: what is theirs alone."""

    memory: list[tuple[Tensor, Tensor]]
    """For each layer keys_BHSE and values_BHSE of the source."""
    memory_mask_B11S: Tensor | None
    """What to add to attention scores: 0, or -inf at padding; None where nothing is padded."""
    past: Cache
    n_sentences: int
    short: ShortProjection | None = None
    """The projection to the lists of these sentences, where a shortlist is used."""

    def select(self, rows_N: Tensor, beam_size: int) -> None:
        """Move rows of the past; the memory only when whole sentences leave."""
        if self.past.n_tokens:
            self.past.select(rows_N)
        else:
            self.past.n_rows = rows_N.numel()
        if rows_N.numel() == self.n_sentences * beam_size:
            return
        sentences_B = rows_N[::beam_size].div(beam_size, rounding_mode="floor")
        self.n_sentences = sentences_B.numel()
        if self.short is not None:
            self.short.select(sentences_B)
        self.memory = [
            (key.index_select(0, sentences_B), value.index_select(0, sentences_B))
            for key, value in self.memory
        ]
        if self.memory_mask_B11S is not None:
            self.memory_mask_B11S = self.memory_mask_B11S.index_select(0, sentences_B)


@dataclass
class PackedState:
    """Groups in the order of their rows."""

    groups: list[Group]
    beam_size: int

    @property
    def n_rows(self) -> list[int]:
        """Of each group."""
        return [group.n_sentences * self.beam_size for group in self.groups]


class PackedTransformer:
    """A ``MergingDecoder`` made from a model in evaluation mode, which it leaves as it is.

    Args:
        model: on the CPU.
        layers: precision of the layers' products.
        output: precision of the projection to the vocabulary.
        shortlist: leaves each sentence the pieces of its list; None: all, the exact function.
        stretches: what a step computes between its attentions; None: in the layers' precision, call by call.
    """

    def __init__(
        self,
        model: Transformer,
        *,
        layers: Precision,
        output: Precision,
        shortlist: VocabularyShortlist | None = None,
        stretches: Stretches | None = None,
    ) -> None:
        self.dtype = _dtype(layers)
        self._precision = layers
        self._source = _Embedding(model, model.source_embedding.weight_VD, model.source_embedding.scale)
        self._target = _Embedding(model, model.target_embedding.weight_VD, model.target_embedding.scale)
        self._encoder = [_EncoderLayer(cast(EncoderLayer, layer), layers) for layer in model.encoder_layers]
        self._decoder = [_DecoderLayer(cast(DecoderLayer, layer), layers) for layer in model.decoder_layers]
        self._encoder_norm = _Norm(model.encoder_norm, self.dtype)
        self._decoder_norm = _Norm(model.decoder_norm, self.dtype)
        self._stretches = stretches or PackedStretches(self._decoder, self._decoder_norm, layers)
        self._project = Projection(model.output.weight_VD.detach(), output)
        self._shortlist = shortlist
        self._vocab_size = model.output.weight_VD.size(0)
        self._encoded = EncodedSources()
        read = (*model.decoder_layers.parameters(), model.output.weight_VD)
        self._step_weights = sum(weight.numel() for weight in read)
        self._cache_width = sum(2 * layer.self_attention.d_inner for layer in self._decoder)

    def start(self, source: Batch, beam_size: int) -> PackedState:
        """Encode, and project keys and values of the source for all steps."""
        tokens = _Tokens.of(source, self.dtype)
        memory_MD = self._encode(source, tokens)
        self._encoded.keep(source, tokens.padded(memory_MD))
        group = Group(
            [layer.cross_attention.memory(memory_MD, tokens) for layer in self._decoder],
            tokens.mask_B11S,
            Cache(source.size * beam_size, self._cache_width, self.dtype),
            source.size,
        )
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
        tokens = _Tokens.of(batch, self.dtype)
        known_BSD = self._encoded.find(batch)
        if known_BSD is None:
            memory_MD = self._encode(batch, tokens)
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
        with threads_for(tokens_N.numel() * self._step_weights):
            return self._step(state, tokens_N), state

    def _step(self, state: PackedState, tokens_N: Tensor) -> Step:
        groups = state.groups
        for group in groups:
            group.past.grow()
        positions = [group.past.n_tokens - 1 for group in groups]
        if len(groups) == 1:
            x_ND = self._target.read(tokens_N, range(positions[0], positions[0] + 1))
        else:
            place_N = torch.tensor(positions).repeat_interleave(torch.tensor(state.n_rows))
            x_ND = self._target.read_at(tokens_N, place_N)
        n_rows, stretches = tokens_N.numel(), self._stretches
        x_ND = _widened(x_ND, stretches.n_rows(n_rows), stretches.dtype)
        y_NW = stretches.enter(x_ND)
        first = 0
        for index, layer in enumerate(self._decoder):
            context_NW = layer.self_attention.over_past(y_NW, state, first)
            x_ND, y_NW = stretches.between(index, context_NW, x_ND)
            context_NW = layer.cross_attention.over_memory(y_NW, state, index)
            x_ND, y_NW = stretches.feed(index, context_NW, x_ND)
            first += 2 * layer.self_attention.d_inner
        if self._shortlist is not None:
            return self._short_step(state, y_NW)
        logits_NV, log_totals_N = self._project(y_NW)
        return Step(logits_NV[:n_rows], None, log_totals_N[:n_rows])

    def reorder(self, state: PackedState, rows_N: Tensor) -> PackedState:
        """Move rows; a group of which no sentence is left is gone."""
        n_rows = state.n_rows
        if rows_N.numel() == sum(n_rows) and torch.equal(rows_N, torch.arange(rows_N.numel())):
            return state
        if len(n_rows) == 1:
            state.groups[0].select(rows_N, state.beam_size)
            return state
        ends_G = torch.tensor(n_rows).cumsum(0)
        # sentences keep their order, so the first rows of those that stay are sorted by group
        places = torch.searchsorted(rows_N[:: state.beam_size].contiguous(), ends_G).tolist()
        groups: list[Group] = []
        first, first_row = 0, 0
        for group, count, place in zip(state.groups, n_rows, places, strict=True):
            end = place * state.beam_size
            if end > first:
                group.select(rows_N[first:end] - first_row, state.beam_size)
                groups.append(group)
            first, first_row = end, first_row + count
        return replace(state, groups=groups)

    def _encode(self, source: Batch, tokens: _Tokens) -> Tensor:
        """Source ids -> memory_MD."""
        embedded_BSD = self._source.read(source.source_BS, range(source.source_BS.size(1)))
        x_MD = self._for_layers(tokens.packed(embedded_BSD))
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
        return _widened(x_ND, padded_rows(x_ND.size(0), self._precision), self.dtype)

    def merge(self, first: PackedState, second: PackedState) -> PackedState:
        """The sentences of both, those of ``first`` first, whatever each has read."""
        assert first.beam_size == second.beam_size, "the sentences of a batch have beams of one size"
        return PackedState([*first.groups, *second.groups], first.beam_size)


@dataclass(frozen=True)
class _Tokens:
    """Where the tokens of a batch of sentences stand: one after another in M rows, or padded to (B, S)."""

    size: tuple[int, int]
    """B and S."""
    mask_B11S: Tensor | None
    """What attention adds to scores of the source: -inf at padding; None where nothing is padded."""
    places_M: Tensor | None
    """Where each token stands among B*S; None where nothing is padded."""
    rows_BS: Tensor | None
    """The row of each place, flat; at padding that of some token."""

    @classmethod
    def of(cls, source: Batch, dtype: torch.dtype) -> _Tokens:
        """Of the source side."""
        mask_BS = source.source_mask_BS
        size = mask_BS.size(0), mask_BS.size(1)
        if bool(mask_BS.all()):
            return cls(size, None, None, None)
        mask_B11S = torch.zeros(mask_BS.shape, dtype=dtype).masked_fill_(~mask_BS, -torch.inf)
        flat_BS = mask_BS.flatten()
        # at padding: the row of the last token before it
        rows_BS = flat_BS.cumsum(0).sub_(1).clamp_(min=0)
        return cls(size, mask_B11S[:, None, None], flat_BS.nonzero().squeeze(1), rows_BS)

    def packed(self, x_BSD: Tensor) -> Tensor:
        """(B, S, D) -> a row for each token."""
        x_MD = x_BSD.flatten(0, 1)
        return x_MD if self.places_M is None else x_MD.index_select(0, self.places_M)

    def padded(self, x_MD: Tensor) -> Tensor:
        """(M, D) -> (B, S, D); padding has numbers of some token."""
        B, S = self.size
        x_BSD = x_MD[: B * S] if self.rows_BS is None else x_MD.index_select(0, self.rows_BS)
        return x_BSD.view(B, S, -1)


class _Embedding:
    """Vectors times a scale, plus positions."""

    def __init__(self, model: Transformer, weight_VD: Tensor, scale: float) -> None:
        self._weight_VD = weight_VD.detach()
        self._scale = scale
        self._positions_TD = model.positions.encoding_TD.detach()

    def read(self, tokens: Tensor, positions: range) -> Tensor:
        """(..., T) or (N,) tokens at consecutive positions, or all at one -> (..., D)."""
        if positions.stop > self._positions_TD.size(0):
            limit = self._positions_TD.size(0)
            raise ValueError(
                f"position {positions.stop - 1} is past the model's {limit} positions (max_positions)"
            )
        encoding = self._positions_TD[positions.start : positions.stop]
        return torch.add(encoding, F.embedding(tokens, self._weight_VD), alpha=self._scale)

    def read_at(self, tokens_N: Tensor, positions_N: Tensor) -> Tensor:
        """Each token at a position of its own."""
        encoding_ND = self._positions_TD[positions_N]
        return torch.add(encoding_ND, F.embedding(tokens_N, self._weight_VD), alpha=self._scale)


class _Norm:
    """Layer normalisation with weights in the precision of the layers; nothing where the model has none."""

    def __init__(self, norm: nn.Module, dtype: torch.dtype) -> None:
        self._norm = norm if isinstance(norm, nn.LayerNorm) else None
        if self._norm is not None:
            self._weight_D = self._norm.weight.detach().to(dtype)
            self._bias_D = self._norm.bias.detach().to(dtype)

    def __call__(self, x_ND: Tensor) -> Tensor:
        if self._norm is None:
            return x_ND
        return F.layer_norm(x_ND, self._weight_D.shape, self._weight_D, self._bias_D, self._norm.eps)


class _Sublayer:
    """Where a sub-layer's normalisation stands: before it, or after the residual addition."""

    def __init__(self, residual: Residual, dtype: torch.dtype) -> None:
        norm, none = _Norm(residual.norm, dtype), _Norm(nn.Identity(), dtype)
        self.before, self.after = (norm, none) if residual.pre else (none, norm)


class _Attention:
    """What stands around an attention: its maps, norm and residual addition."""

    def __init__(
        self,
        read: Sequence[nn.Linear],
        attention: MultiHeadAttention,
        residual: Residual,
        precision: Precision,
    ) -> None:
        self._in = pack(read, precision)
        self._out = pack([attention.output], precision)
        self._norm = _Sublayer(residual, _dtype(precision))
        self._n_heads = attention.n_heads
        self.d_inner = attention.query.out_features

    def enter(self, x_ND: Tensor) -> Tensor:
        """What attention reads of each row, side by side."""
        return self._in(self._norm.before(x_ND))

    def leave(self, context_ND: Tensor, x_ND: Tensor) -> Tensor:
        """What was found, mapped and added to the residual stream."""
        return self._norm.after(self._out(context_ND, add_NF=x_ND))


class _SelfAttention(_Attention):
    """It reads query, key and value of each row."""

    def __init__(self, attention: MultiHeadAttention, residual: Residual, precision: Precision) -> None:
        read = [attention.query, attention.key, attention.value]
        super().__init__(read, attention, residual, precision)

    def over_source(self, x_MD: Tensor, tokens: _Tokens) -> Tensor:
        """All positions of sentences at once, for the encoder."""
        qkv_BSW = tokens.padded(self.enter(x_MD))
        context_BSD = self._over_sentence(qkv_BSW, tokens.mask_B11S)
        return self.leave(_beside([tokens.packed(context_BSD)], x_MD.size(0), self.d_inner), x_MD)

    def over_target(self, x_MD: Tensor, size: tuple[int, int]) -> Tensor:
        """All positions of sentences at once, each seeing those before it; ``size`` is (B, T)."""
        qkv_BTW = self.enter(x_MD)[: size[0] * size[1]].view(*size, -1)
        context_BTD = self._over_sentence(qkv_BTW, causal=True)
        return self.leave(_beside([context_BTD], x_MD.size(0), self.d_inner), x_MD)

    def _over_sentence(
        self, qkv_BSW: Tensor, mask_B11S: Tensor | None = None, *, causal: bool = False
    ) -> Tensor:
        qkv_BS3HE = qkv_BSW.view(*qkv_BSW.shape[:2], 3, self._n_heads, self._d_head)
        query, key, value = qkv_BS3HE.permute(2, 0, 3, 1, 4).unbind()
        context_BHSE = F.scaled_dot_product_attention(
            query, key, value, attn_mask=mask_B11S, is_causal=causal
        )
        return context_BHSE.transpose(1, 2).flatten(2)

    def over_past(self, qkv_NW: Tensor, state: PackedState, first: int) -> Tensor:
        """The decoder's: each row sees what it has read; its keys and values are cached from ``first`` on."""
        contexts = []
        row = 0
        for group in state.groups:
            own_TNW = group.past.kept_TNW[:, :, first : first + 2 * self.d_inner]
            T, N, _ = own_TNW.shape
            query, new_NW = qkv_NW[row : row + N].split_with_sizes([self.d_inner, 2 * self.d_inner], dim=1)
            own_TNW[-1].copy_(new_NW)
            row += N
            key_NHTE, value_NHTE = (
                own_TNW.view(T, N, 2, self._n_heads, self._d_head).permute(2, 1, 3, 0, 4).unbind()
            )
            query_NH1E = query.view(N, self._n_heads, 1, self._d_head)
            contexts.append(F.scaled_dot_product_attention(query_NH1E, key_NHTE, value_NHTE))
        return _beside(contexts, qkv_NW.size(0), self.d_inner)

    @property
    def _d_head(self) -> int:
        return self.d_inner // self._n_heads


class _CrossAttention(_Attention):
    """It reads the query of each row; keys and values are those of the source."""

    def __init__(self, attention: MultiHeadAttention, residual: Residual, precision: Precision) -> None:
        super().__init__([attention.query], attention, residual, precision)
        self._memory = pack([attention.key, attention.value], precision)

    def memory(self, memory_MD: Tensor, tokens: _Tokens) -> tuple[Tensor, Tensor]:
        """Keys_BHSE and values_BHSE of the source."""
        both_BSW = tokens.padded(self._memory(memory_MD))
        both_BS2HE = both_BSW.view(*tokens.size, 2, self._n_heads, self.d_inner // self._n_heads)
        key, value = both_BS2HE.permute(2, 0, 3, 1, 4).contiguous().unbind()
        return key, value

    def over_memory(self, query_ND: Tensor, state: PackedState, index: int) -> Tensor:
        """The K rows of a sentence are K queries on its one memory."""
        contexts = []
        row = 0
        for group in state.groups:
            size = group.n_sentences, state.beam_size
            contexts.append(self._attend(query_ND[row:], size, group.memory[index], group.memory_mask_B11S))
            row += size[0] * size[1]
        return _beside(contexts, query_ND.size(0), self.d_inner)

    def over_target(
        self, x_MD: Tensor, size: tuple[int, int], memory: tuple[Tensor, Tensor], mask_B11S: Tensor | None
    ) -> Tensor:
        """The same for a forced pass: the T positions of a sentence are T queries; ``size`` is (B, T)."""
        context = self._attend(self.enter(x_MD), size, memory, mask_B11S)
        return self.leave(_beside([context], x_MD.size(0), self.d_inner), x_MD)

    def _attend(
        self, query_ND: Tensor, size: tuple[int, int], memory: tuple[Tensor, Tensor], mask_B11S: Tensor | None
    ) -> Tensor:
        """Context_BKHE of the first B*K rows; ``size`` is (B, K)."""
        query_BKHE = query_ND[: size[0] * size[1]].view(*size, self._n_heads, -1)
        context_BHKE = F.scaled_dot_product_attention(
            query_BKHE.transpose(1, 2), *memory, attn_mask=mask_B11S
        )
        return context_BHKE.transpose(1, 2)


class _FeedForward:
    def __init__(self, feed_forward: FeedForward, residual: Residual, precision: Precision) -> None:
        self._up, self._down = pack([feed_forward.up], precision), pack([feed_forward.down], precision)
        self._norm = _Sublayer(residual, _dtype(precision))
        self._activation = None if feed_forward.activation is torch.relu else feed_forward.activation

    def __call__(self, x_ND: Tensor) -> Tensor:
        y_NF = self._up(self._norm.before(x_ND), relu=self._activation is None)
        if self._activation is not None:
            y_NF = self._activation(y_NF)
        return self._norm.after(self._down(y_NF, add_NF=x_ND))


class _EncoderLayer:
    def __init__(self, layer: EncoderLayer, precision: Precision) -> None:
        self._attention = _SelfAttention(layer.self_attention, layer.around_attention, precision)
        self._feed_forward = _FeedForward(layer.feed_forward, layer.around_feed_forward, precision)

    def __call__(self, x_MD: Tensor, tokens: _Tokens) -> Tensor:
        return self._feed_forward(self._attention.over_source(x_MD, tokens))


class _DecoderLayer:
    def __init__(self, layer: DecoderLayer, precision: Precision) -> None:
        self.self_attention = _SelfAttention(layer.self_attention, layer.around_self_attention, precision)
        self.cross_attention = _CrossAttention(layer.cross_attention, layer.around_cross_attention, precision)
        self.feed_forward = _FeedForward(layer.feed_forward, layer.around_feed_forward, precision)

    def over_target(
        self, x_MD: Tensor, size: tuple[int, int], memory: tuple[Tensor, Tensor], mask_B11S: Tensor | None
    ) -> Tensor:
        """A forced pass: T tokens of each sentence at once; ``size`` is (B, T)."""
        x_MD = self.self_attention.over_target(x_MD, size)
        return self.feed_forward(self.cross_attention.over_target(x_MD, size, memory, mask_B11S))


class Stretches(Protocol):
    """What a step computes between its attentions.

    Dimensions: N rows, some of them only there to make a round number; W numbers that attention reads of one.
    """

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

    def __init__(self, layers: Sequence[_DecoderLayer], norm: _Norm, precision: Precision) -> None:
        self.dtype = _dtype(precision)
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


def _widened(x_ND: Tensor, n_rows: int, dtype: torch.dtype) -> Tensor:
    """In ``dtype``, with rows of zeros up to ``n_rows``."""
    if n_rows == x_ND.size(0):
        return x_ND.to(dtype)
    wide_ND = x_ND.new_zeros(n_rows, x_ND.size(1), dtype=dtype)
    wide_ND[: x_ND.size(0)] = x_ND
    return wide_ND


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts))


def _beside(contexts: Sequence[Tensor], n_rows: int, width: int) -> Tensor:
    """What heads have found for all groups, one row each, and rows of zeros to make ``n_rows``."""
    if len(contexts) == 1 and contexts[0].numel() == n_rows * width:
        return contexts[0].reshape(n_rows, width)
    rows = [context.reshape(-1, width) for context in contexts]
    missing = n_rows - sum(part.size(0) for part in rows)
    return torch.cat([*rows, rows[0].new_zeros(missing, width)])


def _dtype(precision: Precision) -> torch.dtype:
    return torch.bfloat16 if precision == "bfloat16" else torch.float32
