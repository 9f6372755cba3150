"""Copying with a gate (See et al. 2017, pointer-generator, section 2.2): write a word or copy one.

    p(w) = g p_vocabulary(w) + (1 - g) sum over j with x_j = w of a_j,   g = sigmoid(v' h + b)    (eqs. 8, 9)

a is the attention that the translator has anyway: no parameter but v and b is added. (Gu et al. 2016 score
copies apart and leave the choice to one softmax over both.)

Here we differ: the gate reads what the output layer reads, which comes of state, word and context; the paper
names the three. Sub-words spell any word, so the paper's extended vocabulary is not needed. In a Transformer
a is the mean over the heads of ``alignment_layer``.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, D hidden size, V
vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid, pad

from nmt.batch import Batch
from nmt.models.interface import Step
from nmt.models.mixture import MixtureModel, mix
from nmt.models.rnn import RnnEncoderDecoder
from nmt.models.transformer import Transformer


class CopyingState(NamedTuple):
    """The translator's state, and the words that may be copied."""

    inner: Any
    source_BS: Tensor
    beam_size: int


class CopyingModel(MixtureModel):
    """Points at the source with the translator's attention."""

    def __init__(self, translator: Transformer | RnnEncoderDecoder, d_hidden: int) -> None:
        super().__init__(translator)
        self.gate = nn.Linear(d_hidden, 1)

    def log_probs(self, batch: Batch) -> Tensor:
        """Teacher-forced log_probs_BTV."""
        hidden_BTD, attention_BTS = self.translator.decode_with_attention(batch)
        assert attention_BTS is not None
        words_BTS = batch.source_BS.unsqueeze(1).expand(attention_BTS.shape)
        return self._mixed(hidden_BTD, attention_BTS, words_BTS)

    def start(self, source: Batch, beam_size: int) -> CopyingState:
        """The translator's, with the source beside it."""
        return CopyingState(self.translator.start(source, beam_size), source.source_BS, beam_size)

    def step(self, state: CopyingState, tokens_N: Tensor) -> tuple[Step, CopyingState]:
        """Read one token for each row and predict the next."""
        hidden_ND, attention_NS, inner = self.translator.step_hidden(state.inner, tokens_N)
        assert attention_NS is not None
        words_BS = state.source_BS[:, : attention_NS.size(1)]  # those with the longest source may have left
        words_NS = words_BS.repeat_interleave(state.beam_size, dim=0)
        log_probs_NV = self._mixed(hidden_ND, attention_NS[:, : words_NS.size(1)], words_NS)
        return Step(log_probs_NV, attention_NS), state._replace(inner=inner)

    def reorder(self, state: CopyingState, rows_N: Tensor) -> CopyingState:
        """Rows of the translator's state; the source moves when whole sentences leave."""
        sentences_B = rows_N[:: state.beam_size].div(state.beam_size, rounding_mode="floor")
        inner = self.translator.reorder(state.inner, rows_N)
        return state._replace(inner=inner, source_BS=state.source_BS.index_select(0, sentences_B))

    def merge(self, first: CopyingState, second: CopyingState) -> CopyingState:
        """The sentences of both, those of ``first`` first."""
        width = max(first.source_BS.size(1), second.source_BS.size(1))
        sources = [pad(state.source_BS, (0, width - state.source_BS.size(1))) for state in (first, second)]
        inner = self.translator.merge(first.inner, second.inner)
        return first._replace(inner=inner, source_BS=torch.cat(sources))

    def _mixed(self, hidden_ntD: Tensor, attention_ntS: Tensor, words_ntS: Tensor) -> Tensor:
        gate_nt1 = self.gate(hidden_ntD).float()
        weights_ntS = torch.sigmoid(-gate_nt1) * attention_ntS.float()
        return mix(self.vocabulary(hidden_ntD), logsigmoid(gate_nt1), weights_ntS, words_ntS)
