"""The bounded list of the best hypotheses of a sentence."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from nmt.hypothesis import Hypothesis

__all__ = ["Hypothesis", "NBestList"]


@dataclass
class NBestList:
    """The best finished hypotheses of one sentence, at most ``capacity`` of them, best first."""

    capacity: int
    hypotheses: list[Hypothesis] = field(default_factory=list)
    n_finished: int = 0
    """How many were ever added, those that fell off the end included."""

    def add(self, hypothesis: Hypothesis) -> None:
        """Insert a finished hypothesis by score, after its equals, and forget what no longer fits."""
        self.n_finished += 1
        insort(self.hypotheses, hypothesis, key=lambda entry: -entry.score)
        del self.hypotheses[self.capacity :]

    def is_final(self, bound: float) -> bool:
        """Whether nothing that scores at most ``bound`` could still enter the list."""
        return len(self.hypotheses) == self.capacity and self.hypotheses[-1].score >= bound

    def fill(self, unfinished: Iterable[Hypothesis]) -> None:
        """Give the free places to the first of ``unfinished``, which never outrank a finished hypothesis."""
        known = {hypothesis.tokens for hypothesis in self.hypotheses}
        others = (hypothesis for hypothesis in unfinished if hypothesis.tokens not in known)
        self.hypotheses += islice(others, self.capacity - len(self.hypotheses))
