"""How long something takes: time of the processor, so that other work on the machine does not count."""

from __future__ import annotations

import time
from collections.abc import Callable

REPEATS = 3


def seconds(work: Callable[[], object]) -> float:
    """The least of several times, after one to warm up."""
    work()
    best = float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return max(best, 1e-9)
