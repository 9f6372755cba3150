"""A step of the decoder, by the decoder that leaves out tokens itself where nothing else is forbidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from torch import Tensor

from nmt.models.interface import ForbiddingDecoder, StateT, Step, StepDecoder
from nmt.search.constraints import Constraints


class Steps(Generic[StateT]):
    """The steps of one search."""

    def __init__(self, decoder: StepDecoder[StateT]) -> None:
        self._decoder = decoder
        self._forbidding = decoder if isinstance(decoder, ForbiddingDecoder) else None

    def take(
        self,
        state: StateT,
        tokens_N: Tensor,
        rules: Constraints,
        sentences: Sequence[int],
        lengths: Sequence[int],
    ) -> tuple[Step, StateT, bool]:
        """Read ``tokens_N``; and whether the step is ``step_without`` what ``rules`` forbid, which is all.

        ``sentences`` and ``lengths`` are those of ``Constraints.apply``.
        """
        if self._forbidding is not None and rules.forbid_no_more(sentences, lengths):
            taken = self._forbidding.step_without(state, tokens_N, rules.forbidden)
            if taken is not None:
                return *taken, True
        return *self._decoder.step(state, tokens_N), False
