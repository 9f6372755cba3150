"""How many threads a step of decoding is worth.

A step of few rows of a small model is tens of products of some ten microseconds. Several threads gain next to
nothing there, for at the end of each product they wait for one another, and where another process takes one
of their cores they wait for its time slice: on two cores, one of them busy, a sentence then takes over ten
times as long as with one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL_STEP = 40_000_000
"""Multiplications that one thread does about as fast as two. Five rows of 7 million weights are below; one
row of a Transformer base is above, and gains half from a second thread."""


@contextmanager
def threads_for(n_multiplications: int) -> Iterator[None]:
    """Torch's own number of threads for much work, one for little; as before at the end."""
    n_threads = torch.get_num_threads()
    if n_threads == 1 or n_multiplications > SMALL_STEP:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)
