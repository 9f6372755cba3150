"""A step of the decoder, by the decoder that leaves out tokens itself where nothing else is forbidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, cast

from torch import Tensor

from nmt.models.interface import ForbiddingDecoder, Living, StateT, Step, StepDecoder
from nmt.search.constraints import Constraints


class Steps(Generic[StateT]):
    """The steps of one search."""

    def __init__(self, decoder: StepDecoder[StateT]) -> None:
        self._decoder = decoder
        # not by isinstance, which takes as long for a protocol as a step of a small model
        is_one = hasattr(decoder, "step_without")
        self._forbidding = cast("ForbiddingDecoder[StateT]", decoder) if is_one else None

    def take(
        self,
        state: StateT,
        tokens_N: Tensor,
        rules: Constraints,
        sentences: Sequence[int],
        lengths: Sequence[int],
        living: Living | None = None,
    ) -> tuple[Step, StateT]:
        """Read ``tokens_N``: by ``step_without`` what ``rules`` forbid, where that is all and it can.

        ``sentences`` and ``lengths`` are those of ``Constraints.apply``, which is left to do unless the step
        has ``forbidden_V``; ``living`` is told to ``step_without``.
        """
        if self._forbidding is not None and rules.forbid_no_more(sentences, lengths):
            taken = self._forbidding.step_without(state, tokens_N, rules.forbidden, living)
            if taken is not None:
                return taken
        return self._decoder.step(state, tokens_N)
