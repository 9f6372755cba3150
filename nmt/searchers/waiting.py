"""A running search over a ``Searcher``: sentences wait, and each step searches a small batch of them.

It stands where ``nmt.search.continuous`` does: a decoder that is stepped lets sentences join at any token; a
searcher lets them join between batches. A batch is bounded in sentences and tokens, and in time while others
are in a hurry, so nobody waits long for another's. The sentence that has waited longest is in the next batch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import islice

from nmt.hypothesis import Outcome, Sentence
from nmt.pipeline.requests import Search
from nmt.searchers.interface import Searcher

MOST_SENTENCES = 16
"""Sentences of a batch."""
WINDOW = 64
"""Sentences that a batch is chosen from, those that have waited longest."""
MOST_TOKENS = 4096
"""Source tokens x beam size of a batch; a longer sentence is alone."""
HURRIED_S = 0.02
"""Seconds of a batch while others are in a hurry, by the speed of the batches before."""


class WaitingSearch:
    """Sentences that wait for a searcher.

    Args:
        searcher: searches each batch.
        on_failure: told when a batch fails as a whole and its sentences are tried alone.
        is_hurried: whether others are in a hurry, asked before each batch.
    """

    def __init__(
        self,
        searcher: Searcher,
        on_failure: Callable[[Exception], None] | None = None,
        is_hurried: Callable[[], bool] = lambda: False,
    ) -> None:
        self._searcher = searcher
        self._on_failure = on_failure
        self._is_hurried = is_hurried
        self._tokens_per_s = 0.0
        self._waiting: deque[Sentence] = deque()

    @property
    def running(self) -> list[Sentence]:
        """All sentences that have been added and not ended."""
        return list(self._waiting)

    def add(self, sentences: Sequence[Sentence]) -> None:
        """Sentences join those that wait."""
        self._waiting += sentences

    def cancel(self, keys: Collection[Hashable]) -> None:
        """Forget sentences."""
        self._waiting = deque(sentence for sentence in self._waiting if sentence.key not in keys)

    def step(self) -> list[Outcome]:
        """Search the next batch; what came of it."""
        most_tokens = min(HURRIED_S * self._tokens_per_s, MOST_TOKENS) if self._is_hurried() else MOST_TOKENS
        batch = self._next_batch(most_tokens)
        if not batch:
            return []
        n_tokens = sum(sentence.n_tokens for sentence in batch)
        began_s = time.perf_counter()
        try:
            found = self._searcher.search([_asked(one) for one in batch], max_batch_tokens=MOST_TOKENS)
        except Exception as error:
            if len(batch) > 1 and self._on_failure is not None:
                self._on_failure(error)
            return [self._alone(sentence) for sentence in batch]
        self._tokens_per_s = n_tokens / (time.perf_counter() - began_s)
        return [Outcome(one.key, hypotheses) for one, hypotheses in zip(batch, found, strict=True)]

    def _next_batch(self, most_tokens: float) -> list[Sentence]:
        """The sentence that has waited longest, and those nearest to it in length: less is padding."""
        if not self._waiting:
            return []
        first = self._waiting.popleft()
        others = list(islice(self._waiting, WINDOW - 1))
        batch, n_tokens = [first], first.n_tokens
        for other in sorted(others, key=lambda one: abs(one.n_tokens - first.n_tokens)):
            if len(batch) == MOST_SENTENCES or n_tokens + other.n_tokens > most_tokens:
                break
            n_tokens += other.n_tokens
            batch.append(other)
        taken = {id(sentence) for sentence in batch}
        self._waiting = deque(sentence for sentence in self._waiting if id(sentence) not in taken)
        return batch

    def _alone(self, sentence: Sentence) -> Outcome:
        try:
            (hypotheses,) = self._searcher.search([_asked(sentence)], max_batch_tokens=MOST_TOKENS)
        except Exception as error:
            return Outcome(sentence.key, [], error)
        return Outcome(sentence.key, hypotheses)


def _asked(sentence: Sentence) -> Search:
    return Search(
        sentence.source_ids, sentence.options, sentence.required, sentence.prefix, sentence.n_scored
    )
