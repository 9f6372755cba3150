"""Places of sentences that join a batch and leave it, in tensors whose first dimension is places.

Who leaves moves nobody, and who joins gets a place that nobody has any more (``nmt.engines.cache``,
``nmt.engines.memory``).

Dimensions: P places, B sentences.
"""

from __future__ import annotations

import torch
from torch import Tensor

SPARE = 4
"""Where all move, there are more places by this part, for sentences that are still to join."""
FEW = 32
"""To copy what stays of so few places takes longer than its memory is worth."""


def is_to_move(n_places: int, n_sentences: int) -> bool:
    """Whether those that stay move together: half of many places are read by nobody any more, or all but one.

    Who is left alone then has the only place, as steps of one sentence take for granted.
    """
    return n_sentences == 1 < n_places or (n_places > FEW and 2 * n_sentences <= n_places)


def free_places(n_places: int, places_B: Tensor) -> Tensor:
    """Those that no sentence has, in order."""
    is_free_P = torch.ones(n_places, dtype=torch.bool)
    is_free_P[places_B] = False
    return is_free_P.nonzero().flatten()


def with_spare(n_sentences: int) -> int:
    """How many places to make for so many."""
    return n_sentences + n_sentences // SPARE
