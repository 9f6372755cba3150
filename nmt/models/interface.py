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
from nmt.extensions import Extensions, Rank

if TYPE_CHECKING:
    from nmt.layers.embedding import OutputProjection

StateT = TypeVar("StateT")


class Best(NamedTuple):
    """The most probable next token of each of N rows."""

    logits_N: Tensor
    """Of ``Step.logits_NV``; -inf where none is allowed."""
    tokens_N: Tensor


class Living(NamedTuple):
    """What a beam goes on from."""

    sums_N: Tensor
    """Sum of log-probabilities of each row; -inf: a dead one. On the CPU."""
    eos: int
    """The token that ends."""


class Step(NamedTuple):
    """One decoding step over N rows."""

    logits_NV: Tensor
    """Float32 scores of the next token: log-probabilities, ``log_totals_N`` of its row too much. Search may
    overwrite them."""
    attention_NS: Tensor | None
    """Cross-attention of this step, rows summing to 1 over real source positions; None: not exposed."""
    log_totals_N: Tensor | None = None
    """Logarithm of each row's sum of exponentials; None: 0, so that ``logits_NV`` are log-probabilities."""
    maxima_Nn: Tensor | None = None
    """``nmt.extensions.block_maxima`` of ``logits_NV``, where known; search may overwrite them."""
    best: Best | None = None
    """The most probable tokens of those that are allowed, where known."""
    forbidden_V: Tensor | None = None
    """-inf for tokens that ``maxima_Nn`` and ``best`` leave out, else 0: to be added to ``logits_NV`` by who
    reads them. None: they leave out none."""
    extensions: Extensions | None = None
    """The best of each sentence by tokens that are allowed, where known."""

    @property
    def log_probs_NV(self) -> Tensor:
        """Log-probabilities of the next token."""
        return (
            self.logits_NV if self.log_totals_N is None else self.logits_NV - self.log_totals_N.unsqueeze(1)
        )


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


class ForbiddingDecoder(StepDecoder[StateT], Protocol[StateT]):
    """A ``StepDecoder`` that leaves out tokens itself, at less cost than search."""

    def step_without(
        self, state: StateT, tokens_N: Tensor, forbidden: tuple[int, ...], living: Living | None = None
    ) -> tuple[Step, StateT] | None:
        """``step``, what it tells of the best without ``forbidden``, which is in its ``forbidden_V``.

        All else is of all tokens. With ``living`` the step may give their ``extensions``, and then need tell
        no ``maxima_Nn`` and no ``best``. None: nothing has been read, and ``step`` has to be called.
        """
        ...


class RankingDecoder(StepDecoder[StateT], Protocol[StateT]):
    """A ``StepDecoder`` with a function of its own for the best extensions of a beam."""

    @property
    def rank(self) -> Rank:
        """Computes what ``nmt.extensions.best_of_blocks`` does."""
        ...


class MergingDecoder(StepDecoder[StateT], Protocol[StateT]):
    """A ``StepDecoder`` whose running batch new sentences may join."""

    def merge(self, first: StateT, second: StateT) -> StateT:
        """The sentences of both, those of ``first`` first; they may have read different numbers of tokens."""
        ...


class SequenceModel(Protocol):
    """All that training, scoring and alignment know."""

    output: OutputProjection

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
