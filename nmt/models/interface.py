"""The interface that holds the project together: what search, training and alignment know of a model.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, T target length, V vocabulary.

Rows of one sentence stand together: row n belongs to sentence n // K. A decoding state is a value that is
passed in and returned; no model keeps one on itself, so two translations may always interleave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from torch import Tensor

from nmt.batch import Batch

if TYPE_CHECKING:
    from nmt.layers.embedding import OutputProjection

StateT = TypeVar("StateT")


class Step(NamedTuple):
    """One decoding step over N rows."""

    log_probs_NV: Tensor
    """Float32 log-probabilities of the next token. Search may overwrite them."""
    attention_NS: Tensor | None
    """Cross-attention of this step, rows summing to 1 over real source positions; None: not exposed."""


class StepDecoder(Protocol[StateT]):
    """All that search knows. An architecture or an engine implements these three."""

    def start(self, source: Batch, beam_size: int) -> StateT:
        """Encode ``source`` and prepare B*K rows in which no token has been read yet."""
        ...

    def step(self, state: StateT, tokens_N: Tensor) -> tuple[Step, StateT]:
        """Read one token for each row (BOS first) and predict the next."""
        ...

    def reorder(self, state: StateT, rows_N: Tensor) -> StateT:
        """Make row n the former row ``rows_N[n]``; rows may repeat, and whole sentences may be left out.

        Each group of K consecutive entries must come from one sentence, and sentences keep their order.
        """
        ...


class MergingDecoder(StepDecoder[StateT], Protocol[StateT]):
    """A ``StepDecoder`` whose running batch new sentences may join."""

    def merge(self, first: StateT, second: StateT) -> StateT:
        """The sentences of both, those of ``first`` first; they may have read different numbers of tokens."""
        ...


class SequenceModel(Protocol):
    """All that training, scoring and alignment know."""

    @property
    def output(self) -> OutputProjection:
        """Hidden states to the vocabulary."""
        ...

    def decode(self, batch: Batch) -> tuple[Tensor, Tensor | None]:
        """Teacher-forced pass up to what ``output`` projects to the vocabulary: hidden_BTD first."""
        ...

    def forward(self, batch: Batch) -> Tensor:
        """Teacher-forced pass: logits_BTV for ``batch.target_out_BT``."""
        ...

    def forward_with_attention(
        self, batch: Batch, layer: int | None = None, heads: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Logits and cross-attention_BTS, averaged over ``heads`` (None: all) of one decoder ``layer``.

        ``layer`` None takes the model's own alignment layer. An architecture of a single attention ignores
        neither argument: it refuses a layer or head that it does not have with ``ConfigError``.
        """
        ...
