"""Pointing into what was already written (Merity et al. 2016, pointer sentinel, section 2.3).

    z_i = q' h_i for each word read so far,  z_s = q' s for a sentinel s,  q = tanh(W h_t + b)  (eqs. 3 to 6)
    a = softmax([z; z_s]);   p(w) = a_s p_vocabulary(w) + sum over i with y_i = w of a_i

The weight that the sentinel receives is the gate: who points at nothing leaves the word to the vocabulary.
h_i is what the output layer reads at step i, where y_i has just been read. BOS is no word to point at.

Dimensions: B sentences, N rows, T target length, I words read, D hidden size, V vocabulary.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from nmt.batch import Batch
from nmt.models.interface import Step
from nmt.models.mixture import MixtureModel, mix
from nmt.models.rnn import RnnEncoderDecoder
from nmt.models.transformer import Transformer


class PointingState(NamedTuple):
    """The translator's state, and what may be pointed at."""

    inner: Any
    hidden_NID: Tensor
    words_NI: Tensor
    mask_NI: Tensor
    """False at BOS, and where another sentence of the batch has read more."""
    has_begun_N: Tensor
    """False before a row has read BOS."""


class PointingModel(MixtureModel):
    """Points at the words that it has read."""

    def __init__(self, translator: Transformer | RnnEncoderDecoder, d_hidden: int) -> None:
        super().__init__(translator)
        self.query = nn.Linear(d_hidden, d_hidden)
        self.sentinel_D = nn.Parameter(torch.zeros(d_hidden))
        nn.init.normal_(self.sentinel_D, std=d_hidden**-0.5)

    def log_probs(self, batch: Batch) -> Tensor:
        """Teacher-forced log_probs_BTV."""
        hidden_BTD, _ = self.translator.decode(batch)
        assert batch.target_in_BT is not None
        T = hidden_BTD.size(1)
        read_TT = torch.ones(T, T, dtype=torch.bool, device=hidden_BTD.device).tril()
        read_TT[:, 0] = False
        words_BTT = batch.target_in_BT.unsqueeze(1).expand(-1, T, -1)
        return self._mixed(hidden_BTD, hidden_BTD, read_TT, words_BTT)

    def start(self, source: Batch, beam_size: int) -> PointingState:
        """The translator's; nothing is written."""
        none_N = source.source_mask_BS.new_zeros(source.size * beam_size)
        return PointingState(
            self.translator.start(source, beam_size),
            self.sentinel_D.new_zeros(len(none_N), 0, len(self.sentinel_D)),
            source.source_BS.new_zeros(len(none_N), 0),
            none_N.unsqueeze(1)[:, :0],
            none_N,
        )

    def step(self, state: PointingState, tokens_N: Tensor) -> tuple[Step, PointingState]:
        """Read one token for each row and predict the next."""
        hidden_ND, attention_NS, inner = self.translator.step_hidden(state.inner, tokens_N)
        hidden_N1D = hidden_ND.unsqueeze(1)
        state = PointingState(
            inner,
            torch.cat((state.hidden_NID, hidden_N1D), dim=1),
            torch.cat((state.words_NI, tokens_N.unsqueeze(1)), dim=1),
            torch.cat((state.mask_NI, state.has_begun_N.unsqueeze(1)), dim=1),
            torch.ones_like(state.has_begun_N),
        )
        log_probs_N1V = self._mixed(
            hidden_N1D, state.hidden_NID, state.mask_NI.unsqueeze(1), state.words_NI.unsqueeze(1)
        )
        return Step(log_probs_N1V.squeeze(1), attention_NS), state

    def reorder(self, state: PointingState, rows_N: Tensor) -> PointingState:
        """Rows of all that was read."""
        moved = (tensor.index_select(0, rows_N) for tensor in state[1:])
        return PointingState(self.translator.reorder(state.inner, rows_N), *moved)

    def merge(self, first: PointingState, second: PointingState) -> PointingState:
        """The sentences of both, those of ``first`` first, whatever each has read."""
        most = max(first.words_NI.size(1), second.words_NI.size(1))

        def both(one: Tensor, other: Tensor) -> Tensor:
            after = (0, 0) * (one.dim() - 2)
            return torch.cat([pad(tensor, (*after, 0, most - tensor.size(1))) for tensor in (one, other)])

        return PointingState(
            self.translator.merge(first.inner, second.inner),
            both(first.hidden_NID, second.hidden_NID),
            both(first.words_NI, second.words_NI),
            both(first.mask_NI, second.mask_NI),
            torch.cat((first.has_begun_N, second.has_begun_N)),
        )

    def _mixed(self, hidden_NTD: Tensor, read_NID: Tensor, mask_NTI: Tensor, words_NTI: Tensor) -> Tensor:
        """Log_probs_NTV: the scores of the words read, and the sentinel's after them."""
        query_NTD = torch.tanh(self.query(hidden_NTD))
        scores_NTI = (query_NTD @ read_NID.transpose(1, 2)).float().masked_fill(~mask_NTI, -math.inf)
        sentinel_NT1 = (query_NTD @ self.sentinel_D).float().unsqueeze(-1)
        log_weights_NTJ = torch.cat((scores_NTI, sentinel_NT1), dim=-1).log_softmax(dim=-1)
        weights_NTI, log_gate_NT1 = log_weights_NTJ[..., :-1].exp(), log_weights_NTJ[..., -1:]
        return mix(self.vocabulary(hidden_NTD), log_gate_NT1, weights_NTI, words_NTI)
