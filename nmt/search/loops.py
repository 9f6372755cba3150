"""Loops: a hypothesis that ends in the same few tokens over and over is ended, for it would never end itself.

A history repeats with period p over its last m tokens when each of them equals the token p places before it.
It loops when for some p up to ``LONGEST_PERIOD`` that m is at least ``least_run(p)``, so that an n-gram is
there four times or more, and twice as much more as its source repeats, so that what repeats in the source may
be translated. A looping row has no next token. In a beam nor has any other row of a sentence whose best row
loops: they are detours around the same loop. Search then returns what stands, unfinished, for others to
repair. Rows are looked at every few steps; the answer follows from the tokens of one sentence alone.

Dimensions: B sentences, K rows of one sentence, N = B*K rows, R rows whose turn it is, S source length, T
tokens so far, V vocabulary, P periods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from nmt.batch import Batch

LONGEST_PERIOD = 12
LEAST_RUN = 11
REPEATS = 3
"""How often an n-gram may come again."""
CHECK_EVERY = 4
"""Tokens from one look to the next."""
NO_TOKEN = -1
"""Filler before the first token."""


@dataclass(frozen=True)
class LoopRule:
    """Which rows loop, given how much each source sentence repeats itself."""

    source_runs_B: Tensor
    """For each sentence the longest run of repeating tokens, of any period, on the CPU."""
    ranked: bool
    """The rows of a sentence stand best first, as in a beam; samples do not."""

    @classmethod
    def for_batch(cls, source: Batch, *, ranked: bool) -> LoopRule:
        """Measure the sources."""
        return cls(longest_runs(source.source_BS.cpu(), source.source_mask_BS.cpu()), ranked)

    def joined(self, mine: Sequence[int], other: LoopRule, others: Sequence[int]) -> LoopRule:
        """The rule for sentences ``mine`` of this and ``others`` of ``other``, renumbered in this order."""
        runs_B = torch.cat([self.source_runs_B[list(mine)], other.source_runs_B[list(others)]])
        return replace(self, source_runs_B=runs_B)

    def is_due(self, lengths: Sequence[int]) -> bool:
        """Whether any sentence that has so many tokens is looked at in this step."""
        return any(map(_is_due, lengths))

    def apply(
        self, scores_NV: Tensor, history_NT: Tensor, sentences: Sequence[int], lengths: Sequence[int]
    ) -> None:
        """Put -inf, in place, on every next token of a row that loops, of those whose turn it is.

        Args:
            scores_NV: scores of the next token, on any device.
            history_NT: tokens so far, without BOS, on the CPU. What stands before the tokens of a shorter row
                equals none of them, so no run goes on there.
            sentences: the sentences of the rows, K rows each.
            lengths: tokens so far of each of ``sentences``.
        """
        is_due = [_is_due(n_tokens) for n_tokens in lengths]
        n_rows = history_NT.size(0) // len(sentences)
        due_R = torch.tensor(is_due).repeat_interleave(n_rows).nonzero().squeeze(1)
        due = [sentence for sentence, is_one in zip(sentences, is_due, strict=True) if is_one]
        runs_R = self.source_runs_B[due].repeat_interleave(n_rows)
        looping_R = looping_rows(history_NT[due_R], 2 * runs_R)
        if bool(looping_R.any()):
            if self.ranked:
                looping_R |= looping_R[::n_rows].repeat_interleave(n_rows)
            looping_N = torch.zeros(history_NT.size(0), dtype=torch.bool).index_copy_(0, due_R, looping_R)
            scores_NV.masked_fill_(looping_N.unsqueeze(1).to(scores_NV.device), -torch.inf)


def _is_due(n_tokens: int) -> bool:
    return n_tokens % CHECK_EVERY == 0 and n_tokens > LEAST_RUN


def least_run(period: int) -> int:
    """The fewest repeating tokens that make a loop of this period."""
    return max(REPEATS * period, LEAST_RUN)


def looping_rows(history_NT: Tensor, allowed_N: Tensor) -> Tensor:
    """Rows that end in a loop, (N,) in bool; ``allowed_N`` more repeating tokens than usual make none."""
    looping_N = torch.zeros(history_NT.size(0), dtype=torch.bool)
    for period in _periods_of_the_end(history_NT):
        least = least_run(period)
        if history_NT.size(1) < least + period:
            continue
        before_NW = history_NT[:, -least - period : -period]
        suspects_N = (history_NT[:, -least:] == before_NW).all(dim=1)
        if bool(suspects_N.any()):
            same_NT = history_NT[:, period:] == history_NT[:, :-period]
            run_N = same_NT.flip(1).long().cumprod(dim=1).sum(dim=1)
            looping_N |= run_N >= least + allowed_N
    return looping_N


def _periods_of_the_end(history_NT: Tensor) -> list[int]:
    """The periods with which the last two tokens of some row repeat: seldom any, and a loop's among them."""
    pairs_NP2 = history_NT[:, -LONGEST_PERIOD - 2 :].unfold(1, 2, 1)
    same_NP = (pairs_NP2[:, :-1] == pairs_NP2[:, -1:]).all(dim=2)
    n_pairs = same_NP.size(1)
    return [n_pairs - place for place, is_same in enumerate(same_NP.any(dim=0).tolist()) if is_same]


def longest_runs(source_BS: Tensor, source_mask_BS: Tensor) -> Tensor:
    """The longest run of tokens that each equal the one p places before, of any period p, (B,)."""
    none_before_BS = F.pad(source_BS, (LONGEST_PERIOD, 0), value=NO_TOKEN)
    before_BSP = none_before_BS[:, :-1].unfold(1, LONGEST_PERIOD, 1)
    same_BSP = (source_BS.unsqueeze(2) == before_BSP) & source_mask_BS.unsqueeze(2)
    count_BSP = same_BSP.long().cumsum(dim=1)
    before_run_BSP = count_BSP.masked_fill(same_BSP, 0).cummax(dim=1).values
    return (count_BSP - before_run_BSP).amax(dim=(1, 2))
