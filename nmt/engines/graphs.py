"""CUDA graphs: a function without arguments becomes one launch.

The function must read and write the same tensors each time, and never wait for the device
(https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

WARM_UP = 3
"""Calls before capture: libraries allocate and choose kernels in the first."""


class Recorder:
    """Captures functions that are never replayed at the same time: they share their intermediate memory.

    What is to outlive a replay, the function writes into tensors that were there before it.
    """

    def __init__(self) -> None:
        self._pool: Any = None

    def captured(self, compute: Callable[[], None]) -> Callable[[], None]:
        """``compute`` as a graph; it is called a few times on the way.

        Raises:
            RuntimeError: there is no CUDA device, or ``compute`` does what no graph can hold.
        """
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                compute()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # what other threads ask of the device meanwhile is none of its business
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            compute()
        self._pool = graph.pool()
        return graph.replay
