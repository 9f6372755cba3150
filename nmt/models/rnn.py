"""RNN encoder-decoder with attention (Bahdanau et al. 2015) or without (Sutskever et al. 2014).

Attention may know what it has read already (``nmt.layers.coverage``, ``last_attention``), read one position
alone (``hard_attention``) or go through the source one way (``monotonic_attention``).

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
from nmt.layers.coverage import Coverage
from nmt.layers.dropout import Dropout
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.layers.hard_attention import HardAttention, read_chosen
from nmt.layers.monotonic_attention import MonotonicAttention
from nmt.layers.multiplicative_attention import RecurrentAttention
from nmt.models.interface import Step


class Memory(NamedTuple):
    """Memory that attention reads, one for each sentence: annotations, their projected keys, and the mask."""

    annotations_BSM: Tensor
    keys_BSA: Tensor
    mask_BS: Tensor
    prepared_BSP: Tensor | None = None
    """Input of coverage from the annotations; None without coverage."""


class RnnState(NamedTuple):
    """Everything that decoding has read so far."""

    hidden_NQ: Tensor
    memory: Memory | None
    """None without attention: the sentence is in ``hidden_NQ`` alone."""
    beam_size: int
    coverage_NSC: Tensor | None = None
    """Coverage of each source position; None without coverage."""
    last_NS: Tensor | None = None
    """The last step's attention, where monotonic attention goes on; None with any other."""


class Attended(NamedTuple):
    """Context that a step has read of the source."""

    context_NM: Tensor
    weights_NS: Tensor
    choice_N: Tensor | None = None
    """The positions of hard attention; None with any other."""


class ForcedPass(NamedTuple):
    """Outputs of a teacher-forced pass."""

    readout_BTG: Tensor
    weights_BTS: Tensor | None
    """None without attention."""
    choice_BT: Tensor | None = None
    """The positions of hard attention; None with any other."""


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
        """Teacher-forced logits_BTV and attention_BTS; errors as ``decode_with_attention``."""
        readout_BTG, weights_BTS = self.decode_with_attention(batch, layer, heads)
        return self.output(readout_BTG), weights_BTS

    def decode_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced readout_BTG and attention_BTS (None without attention).

        Raises:
            ConfigError: a layer or head other than 0 is asked for: there is a single attention.
        """
        if layer not in (None, 0, -1) or any(head != 0 for head in heads or ()):
            raise ConfigError(f"layer {layer}, heads {heads}: an RNN has one attention, layer 0, head 0")
        return self.decode(batch)

    def start(self, source: Batch, beam_size: int) -> RnnState:
        """Encode the source; each of a sentence's K rows begins in the same state."""
        state = self._encode(source)
        hidden_NQ, coverage_NSC, last_NS = (
            None if tensor is None else tensor.repeat_interleave(beam_size, dim=0)
            for tensor in (state.hidden_NQ, state.coverage_NSC, state.last_NS)
        )
        assert hidden_NQ is not None
        return RnnState(hidden_NQ, state.memory, beam_size, coverage_NSC, last_NS)

    def step(self, state: RnnState, tokens_N: Tensor) -> tuple[Step, RnnState]:
        """Read one token for each row and predict the next."""
        readout_NG, weights_NS, state = self.step_hidden(state, tokens_N)
        return Step(self.output(readout_NG).float().log_softmax(dim=-1), weights_NS), state

    def step_hidden(self, state: RnnState, tokens_N: Tensor) -> tuple[Tensor, Tensor | None, RnnState]:
        """``step`` up to what ``output`` projects: readout_NG, attention_NS or None, the next state."""
        word_NG = self.target_embedding(tokens_N)
        state, attended = self._advance(state, word_NG)
        if attended is None:
            return self.readout(state.hidden_NQ, word_NG, None), None, state
        return self.readout(state.hidden_NQ, word_NG, attended.context_NM), attended.weights_NS, state

    def reorder(self, state: RnnState, rows_N: Tensor) -> RnnState:
        """Move rows of hidden state and coverage; the memory moves only when whole sentences leave."""
        state = state._replace(
            hidden_NQ=state.hidden_NQ.index_select(0, rows_N),
            coverage_NSC=_select(state.coverage_NSC, rows_N),
            last_NS=_select(state.last_NS, rows_N),
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
            memory=memory,
            coverage_NSC=_joined(first.coverage_NSC, second.coverage_NSC, width),
            last_NS=_joined(first.last_NS, second.last_NS, width),
        )

    def _encode(self, source: Batch) -> RnnState:
        x_BSG = self.dropout(self.source_embedding(source.source_BS))
        annotations_BSM, hidden_BQ = self.encoder(x_BSG, source.source_mask_BS)
        if self.attention is None:
            return RnnState(hidden_BQ, None, beam_size=1)
        memory = Memory(annotations_BSM, self.attention.project_keys(annotations_BSM), source.source_mask_BS)
        if isinstance(self.attention, MonotonicAttention):
            return RnnState(hidden_BQ, memory, 1, last_NS=self.attention.begin(source.source_mask_BS))
        if self.coverage is None:
            return RnnState(hidden_BQ, memory, beam_size=1)
        memory = memory._replace(prepared_BSP=self.coverage.prepare(annotations_BSM))
        none_BSC = annotations_BSM.new_zeros(*annotations_BSM.shape[:2], self.coverage.size)
        return RnnState(hidden_BQ, memory, beam_size=1, coverage_NSC=none_BSC)

    def decode(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced pass: readout_BTG and weights_BTS."""
        forced = self.forced_pass(batch)
        return forced.readout_BTG, forced.weights_BTS

    def forced_pass(self, batch: Batch) -> ForcedPass:
        """Teacher-forced pass. Without attention one fused GRU call does it."""
        if batch.target_in_BT is None:
            raise ValueError("a teacher-forced pass needs the target side of the batch")
        state = self._encode(batch)
        word_BTG = self.dropout(self.target_embedding(batch.target_in_BT))
        if self.attention is None:
            hidden_BTQ, _ = self.decoder(word_BTG, state.hidden_NQ.unsqueeze(0))
            return ForcedPass(self.readout(hidden_BTQ, word_BTG, None), None)
        hiddens: list[Tensor] = []
        steps: list[Attended] = []
        for word_BG in word_BTG.unbind(dim=1):
            state, attended = self._advance(state, word_BG)
            assert attended is not None
            hiddens.append(state.hidden_NQ)
            steps.append(attended)
        context_BTM = torch.stack([step.context_NM for step in steps], 1)
        choices = [step.choice_N for step in steps if step.choice_N is not None]
        return ForcedPass(
            self.readout(torch.stack(hiddens, 1), word_BTG, context_BTM),
            torch.stack([step.weights_NS for step in steps], 1),
            torch.stack(choices, 1) if choices else None,
        )

    def _advance(self, state: RnnState, word_NG: Tensor) -> tuple[RnnState, Attended | None]:
        """s_i = GRU([y_{i-1}; c_i], s_{i-1}), c_i from s_{i-1}: the next state, and what was read for it."""
        attended, read_NG = None, word_NG
        if state.memory is not None:
            attended = self._attend(state, state.memory)
            read_NG = torch.cat((word_NG, attended.context_NM), dim=-1)
            state = self._remember(state, state.memory, attended.weights_NS)
        _, hidden_1NQ = self.decoder(read_NG.unsqueeze(1), state.hidden_NQ.unsqueeze(0))
        return state._replace(hidden_NQ=hidden_1NQ.squeeze(0)), attended

    def _attend(self, state: RnnState, memory: Memory) -> Attended:
        """Read the memory from s_{i-1}."""
        assert self.attention is not None
        reads = (state.hidden_NQ, memory.keys_BSA, memory.annotations_BSM, memory.mask_BS)
        if isinstance(self.attention, MonotonicAttention):
            assert state.last_NS is not None
            return Attended(*self.attention(*reads, state.last_NS))
        if self.coverage is not None and state.coverage_NSC is not None:
            return Attended(*self.attention(*reads, self.coverage.score(state.coverage_NSC)))
        context_NM, weights_NS = self.attention(*reads)
        if not isinstance(self.attention, HardAttention):
            return Attended(context_NM, weights_NS)
        choice_N = self.attention.choose(weights_NS)
        return Attended(read_chosen(memory.annotations_BSM, choice_N, context_NM), weights_NS, choice_N)

    def _remember(self, state: RnnState, memory: Memory, weights_NS: Tensor) -> RnnState:
        """State with what the next step's attention knows of this one's."""
        if isinstance(self.attention, MonotonicAttention):
            return state._replace(last_NS=weights_NS)
        if self.coverage is None or state.coverage_NSC is None or memory.prepared_BSP is None:
            return state
        coverage_NSC = self.coverage.update(
            state.coverage_NSC, weights_NS, memory.prepared_BSP, state.hidden_NQ
        )
        return state._replace(coverage_NSC=coverage_NSC)


def _select(tensor: Tensor | None, rows: Tensor) -> Tensor | None:
    return None if tensor is None else tensor.index_select(0, rows)


def _joined(first: Tensor | None, second: Tensor | None, width: int) -> Tensor | None:
    """Rows of both, (., S, ...), with S padded to ``width``."""
    if first is None or second is None:
        return None
    parts = (pad(part, (*(0, 0) * (part.dim() - 2), 0, width - part.size(1))) for part in (first, second))
    return torch.cat(list(parts))
