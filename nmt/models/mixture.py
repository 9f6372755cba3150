"""A translator whose next word may also be pointed at: p = g p_vocabulary + (1 - g) p_pointer.

What is pointed at is a word of the source (``nmt.models.copying``) or one already written
(``nmt.models.pointing``). Such a distribution is no softmax of a projection: its loss takes them.

Dimensions: B sentences, T target length, P places that may be pointed at, D hidden size, V vocabulary.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nmt.batch import Batch
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.models.interface import Step
from nmt.models.rnn import RnnEncoderDecoder
from nmt.models.transformer import Transformer


class MixtureModel(nn.Module):
    """Base of both kinds of pointing."""

    def __init__(self, translator: Transformer | RnnEncoderDecoder) -> None:
        super().__init__()
        self.translator = translator

    @property
    def output(self) -> OutputProjection:
        """The translator's: p_vocabulary."""
        return self.translator.output

    @abstractmethod
    def log_probs(self, batch: Batch) -> Tensor:
        """Teacher-forced log_probs_BTV of the mixture, float32."""

    def forward(self, batch: Batch) -> Tensor:
        """``log_probs``, which are logits as well: their softmax is the mixture."""
        return self.log_probs(batch)

    def decode(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """The translator's hidden_BTD and attention: p_vocabulary alone follows from them."""
        return self.translator.decode_with_attention(batch)

    def forward_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """``log_probs`` and the translator's attention_BTS, in a pass of its own; errors as there."""
        _, attention_BTS = self.translator.decode_with_attention(batch, layer, heads)
        return self.log_probs(batch), attention_BTS

    @abstractmethod
    def start(self, source: Batch, beam_size: int) -> Any:  # noqa: ANN401 - each kind has its state
        """As ``StepDecoder``."""

    @abstractmethod
    def step(self, state: Any, tokens_N: Tensor) -> tuple[Step, Any]:  # noqa: ANN401
        """As ``StepDecoder``."""

    @abstractmethod
    def reorder(self, state: Any, rows_N: Tensor) -> Any:  # noqa: ANN401
        """As ``StepDecoder``."""

    @abstractmethod
    def merge(self, first: Any, second: Any) -> Any:  # noqa: ANN401
        """As ``MergingDecoder``."""

    @property
    def source_embedding(self) -> ScaledEmbedding:
        """The translator's."""
        return self.translator.source_embedding

    def vocabulary(self, hidden_ntD: Tensor) -> Tensor:
        """Log p_vocabulary, (..., V), float32."""
        log_probs_ntV: Tensor = self.output(hidden_ntD).float().log_softmax(dim=-1)
        return log_probs_ntV


def mix(log_probs_ntV: Tensor, log_gate_nt1: Tensor, weights_ntP: Tensor, words_ntP: Tensor) -> Tensor:
    """Log (g p_vocabulary + what is pointed at), (..., V).

    Args:
        log_probs_ntV: log p_vocabulary.
        log_gate_nt1: log g.
        weights_ntP: the probability of pointing at each place; a row sums to 1 - g.
        words_ntP: the word at each place; of a word that stands at several, the sum counts.
    """
    pointed_ntV = torch.zeros_like(log_probs_ntV).scatter_add(-1, words_ntP, weights_ntP)
    tiny = torch.finfo(pointed_ntV.dtype).tiny  # the logarithm of 0 has no gradient
    return torch.logaddexp(log_gate_nt1 + log_probs_ntV, pointed_ntV.clamp_min(tiny).log())
