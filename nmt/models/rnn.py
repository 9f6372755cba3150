"""RNN encoder-decoder with attention (Bahdanau et al. 2015) or without (Sutskever et al. 2014).

Attention may know what it has read already (Tu et al. 2016, ``nmt.layers.coverage``).

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, M annotation size,
Q d_hidden, G embedding size, C coverage size, V vocabulary. Masks are True at real tokens.

Here we differ from the papers: both models are single-layer GRUs with a bidirectional encoder, so that
attention is the only difference between them (Sutskever et al. stack four LSTMs and reverse the source);
without attention, the fixed-size vector is the decoder's first state and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.batch import Batch
from nmt.errors import ConfigError
from nmt.layers.additive_attention import AdditiveAttention
from nmt.layers.coverage import Coverage
from nmt.layers.dropout import Dropout
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.layers.multiplicative_attention import RecurrentAttention
from nmt.models.interface import Step


class Memory(NamedTuple):
    """What attention reads, one for each sentence: annotations, their projected keys, and the mask."""

    annotations_BSM: Tensor
    keys_BSA: Tensor
    mask_BS: Tensor
    prepared_BSP: Tensor | None = None
    """What coverage reads of the annotations; None without coverage."""


class RnnState(NamedTuple):
    """Everything that decoding has read so far."""

    hidden_NQ: Tensor
    memory: Memory | None
    """None without attention: the sentence is in ``hidden_NQ`` alone."""
    beam_size: int
    coverage_NSC: Tensor | None = None
    """What of each source position has been read; None without coverage."""


class Encoder(nn.Module):
    """Bidirectional GRU (Bahdanau et al. 2015, section 3.2).

    Its annotations have M = 2 d_hidden numbers; another ``d_annotation`` is reached by a linear map, which a
    dot product with the decoder's state needs.
    """

    def __init__(self, d_embedding: int, d_hidden: int, d_annotation: int, dropout: float) -> None:
        super().__init__()
        self.gru = nn.GRU(d_embedding, d_hidden, batch_first=True, bidirectional=True)
        self.annotate = (
            nn.Identity() if d_annotation == 2 * d_hidden else nn.Linear(2 * d_hidden, d_annotation)
        )
        self.first_state = nn.Linear(2 * d_hidden, d_hidden)
        self.dropout = Dropout(dropout)

    def forward(self, x_BSG: Tensor, mask_BS: Tensor) -> tuple[Tensor, Tensor]:
        """Return annotations_BSM and the decoder's first state_BQ = tanh(W [forward; backward] final)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            x_BSG, mask_BS.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False
        )
        packed, final_2BQ = self.gru(packed)
        annotations_BSM, _ = nn.utils.rnn.pad_packed_sequence(
            packed, batch_first=True, total_length=x_BSG.size(1)
        )
        state_BQ = torch.tanh(self.first_state(torch.cat((final_2BQ[0], final_2BQ[1]), dim=-1)))
        return self.dropout(self.annotate(annotations_BSM)), state_BQ


class Readout(nn.Module):
    """Deep output (Bahdanau et al. 2015, section A.2.2): maxout over state, previous word and context."""

    def __init__(self, d_hidden: int, d_embedding: int, d_context: int, dropout: float) -> None:
        super().__init__()
        self.maxout = nn.Linear(d_hidden + d_embedding + d_context, 2 * d_embedding)
        self.dropout = Dropout(dropout)

    def forward(self, state_ntQ: Tensor, word_ntG: Tensor, context_ntM: Tensor | None) -> Tensor:
        """Any leading shape; returns (..., G): the larger of each pair of units."""
        parts = (state_ntQ, word_ntG) if context_ntM is None else (state_ntQ, word_ntG, context_ntM)
        pairs: Tensor = self.maxout(torch.cat(parts, dim=-1)).unflatten(-1, (-1, 2))
        hidden_ntG: Tensor = self.dropout(pairs.amax(dim=-1))
        return hidden_ntG


class RnnEncoderDecoder(nn.Module):
    """GRU encoder and decoder; ``attention`` None leaves the fixed-size bottleneck in place."""

    def __init__(
        self,
        source_embedding: ScaledEmbedding,
        target_embedding: ScaledEmbedding,
        encoder: Encoder,
        attention: RecurrentAttention | None,
        readout: Readout,
        output: OutputProjection,
        *,
        d_context: int,
        dropout: float,
        coverage: Coverage | None = None,
    ) -> None:
        super().__init__()
        d_hidden, d_embedding = encoder.gru.hidden_size, target_embedding.weight_VD.size(1)
        self.source_embedding = source_embedding
        self.target_embedding = target_embedding
        self.encoder = encoder
        self.attention = attention
        self.coverage = coverage
        self.decoder = nn.GRU(d_embedding + d_context, d_hidden, batch_first=True)
        self.readout = readout
        self.output = output
        self.dropout = Dropout(dropout)

    def forward(self, batch: Batch) -> Tensor:
        """Teacher-forced logits_BTV."""
        readout_BTG, _ = self.decode(batch)
        logits_BTV: Tensor = self.output(readout_BTG)
        return logits_BTV

    def forward_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced logits_BTV and attention_BTS (None without attention).

        Raises:
            ConfigError: a layer or head other than 0 is asked for: there is a single attention.
        """
        if layer not in (None, 0, -1) or any(head != 0 for head in heads or ()):
            raise ConfigError(f"layer {layer}, heads {heads}: an RNN has one attention, layer 0, head 0")
        readout_BTG, weights_BTS = self.decode(batch)
        return self.output(readout_BTG), weights_BTS

    def start(self, source: Batch, beam_size: int) -> RnnState:
        """Encode the source; each of a sentence's K rows begins in the same state."""
        state = self._encode(source)
        hidden_NQ, coverage_NSC = (
            None if tensor is None else tensor.repeat_interleave(beam_size, dim=0)
            for tensor in (state.hidden_NQ, state.coverage_NSC)
        )
        assert hidden_NQ is not None
        return state._replace(hidden_NQ=hidden_NQ, coverage_NSC=coverage_NSC, beam_size=beam_size)

    def step(self, state: RnnState, tokens_N: Tensor) -> tuple[Step, RnnState]:
        """Read one token for each row and predict the next."""
        word_NG = self.target_embedding(tokens_N)
        state, context_NM, weights_NS = self._advance(state, word_NG)
        logits_NV = self.output(self.readout(state.hidden_NQ, word_NG, context_NM))
        return Step(logits_NV.float().log_softmax(dim=-1), weights_NS), state

    def reorder(self, state: RnnState, rows_N: Tensor) -> RnnState:
        """Move rows of hidden state and coverage; the memory moves only when whole sentences leave."""
        state = state._replace(
            hidden_NQ=state.hidden_NQ.index_select(0, rows_N),
            coverage_NSC=_select(state.coverage_NSC, rows_N),
        )
        sentences_B = rows_N[:: state.beam_size].div(state.beam_size, rounding_mode="floor")
        if state.memory is None or len(sentences_B) == state.memory.mask_BS.size(0):
            return state
        return state._replace(memory=Memory(*(_select(tensor, sentences_B) for tensor in state.memory)))  # type: ignore[arg-type]

    def merge(self, first: RnnState, second: RnnState) -> RnnState:
        """The sentences of both, those of ``first`` first; a row's state and coverage are all it has read."""
        merged = first._replace(hidden_NQ=torch.cat([first.hidden_NQ, second.hidden_NQ]))
        if first.memory is None or second.memory is None:
            return merged
        width = max(first.memory.mask_BS.size(1), second.memory.mask_BS.size(1))
        memory = Memory(*(_joined(*pair, width) for pair in zip(first.memory, second.memory, strict=True)))  # type: ignore[arg-type]
        return merged._replace(
            memory=memory, coverage_NSC=_joined(first.coverage_NSC, second.coverage_NSC, width)
        )

    def _encode(self, source: Batch) -> RnnState:
        x_BSG = self.dropout(self.source_embedding(source.source_BS))
        annotations_BSM, hidden_BQ = self.encoder(x_BSG, source.source_mask_BS)
        if self.attention is None:
            return RnnState(hidden_BQ, None, beam_size=1)
        memory = Memory(annotations_BSM, self.attention.project_keys(annotations_BSM), source.source_mask_BS)
        if self.coverage is None:
            return RnnState(hidden_BQ, memory, beam_size=1)
        memory = memory._replace(prepared_BSP=self.coverage.prepare(annotations_BSM))
        none_BSC = annotations_BSM.new_zeros(*annotations_BSM.shape[:2], self.coverage.size)
        return RnnState(hidden_BQ, memory, beam_size=1, coverage_NSC=none_BSC)

    def decode(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced pass: readout_BTG and weights_BTS. Without attention one fused GRU call does it."""
        if batch.target_in_BT is None:
            raise ValueError("a teacher-forced pass needs the target side of the batch")
        state = self._encode(batch)
        word_BTG = self.dropout(self.target_embedding(batch.target_in_BT))
        if self.attention is None:
            hidden_BTQ, _ = self.decoder(word_BTG, state.hidden_NQ.unsqueeze(0))
            return self.readout(hidden_BTQ, word_BTG, None), None
        hiddens, contexts, weights = [], [], []
        for word_BG in word_BTG.unbind(dim=1):
            state, context_BM, weights_BS = self._advance(state, word_BG)
            hiddens.append(state.hidden_NQ)
            contexts.append(context_BM)
            weights.append(weights_BS)
        readout_BTG = self.readout(torch.stack(hiddens, 1), word_BTG, torch.stack(contexts, 1))  # type: ignore[arg-type]
        return readout_BTG, torch.stack(weights, 1)  # type: ignore[arg-type]

    def _advance(self, state: RnnState, word_NG: Tensor) -> tuple[RnnState, Tensor | None, Tensor | None]:
        """s_i = GRU([y_{i-1}; c_i], s_{i-1}), c_i from s_{i-1}: the next state, context_NM, weights_NS."""
        context_NM, weights_NS, read_NG = None, None, word_NG
        if self.attention is not None and state.memory is not None:
            context_NM, weights_NS, coverage_NSC = self._attend(state, state.memory)
            state = state._replace(coverage_NSC=coverage_NSC)
            read_NG = torch.cat((word_NG, context_NM), dim=-1)
        _, hidden_1NQ = self.decoder(read_NG.unsqueeze(1), state.hidden_NQ.unsqueeze(0))
        return state._replace(hidden_NQ=hidden_1NQ.squeeze(0)), context_NM, weights_NS

    def _attend(self, state: RnnState, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        """Context_NM, weights_NS, and coverage_NSC with them."""
        assert self.attention is not None
        reads = (state.hidden_NQ, memory.keys_BSA, memory.annotations_BSM, memory.mask_BS)
        if self.coverage is None or state.coverage_NSC is None or memory.prepared_BSP is None:
            return *self.attention(*reads), None
        assert isinstance(self.attention, AdditiveAttention)
        context_NM, weights_NS = self.attention(*reads, self.coverage.score(state.coverage_NSC))
        coverage_NSC = self.coverage.update(
            state.coverage_NSC, weights_NS, memory.prepared_BSP, state.hidden_NQ
        )
        return context_NM, weights_NS, coverage_NSC


def _select(tensor: Tensor | None, rows: Tensor) -> Tensor | None:
    return None if tensor is None else tensor.index_select(0, rows)


def _joined(first: Tensor | None, second: Tensor | None, width: int) -> Tensor | None:
    """Rows of both, (., S, ...), with S padded to ``width``."""
    if first is None or second is None:
        return None
    parts = (pad(part, (*(0, 0) * (part.dim() - 2), 0, width - part.size(1))) for part in (first, second))
    return torch.cat(list(parts))
