"""The seam between the translation pipeline and what searches: sentences in, hypotheses out."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Protocol

from nmt.hypothesis import Hypothesis, Outcome, Sentence
from nmt.pipeline.requests import Followers, NextPieces, Search


class Searcher(Protocol):
    """Searches for translations of many sentences, each with options and constraints of its own."""

    def search(self, asked: Sequence[Search], *, max_batch_tokens: int) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, in the order asked: at most ``n_best``, best first.

        There is one at least, unless the search is optional.

        Args:
            asked: sentences as token ids without EOS, with their options and required placeholders.
            max_batch_tokens: padded source tokens x beam size that a worker searches at once.

        Raises:
            NumericalError: the model computes NaN.
            ConfigError: options that the model cannot follow.
        """

    def token_log_probs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[list[float]]:
        """The log-probability of each token and of EOS of given translations, by a forced pass.

        Args:
            pairs: ids of source and translation without EOS, best of similar lengths side by side.
        """

    def next_pieces(self, asked: NextPieces) -> list[Followers]:
        """What the model would write after each prefix; EOS is a piece, placeholders unasked are none."""


class RunningSearch(Protocol):
    """A search that sentences join and leave, for ``nmt.batching.continuous``."""

    @property
    def running(self) -> list[Sentence]:
        """All sentences that have joined and not ended."""

    def add(self, sentences: Sequence[Sentence]) -> None:
        """Let sentences join."""

    def step(self) -> list[Outcome]:
        """Go on for a bounded time; the sentences that have ended."""

    def cancel(self, keys: Collection[Hashable]) -> None:
        """Take sentences out."""
