"""Batches decoded side by side: one thread for each, with the machine's cores divided among them.

A step of decoding is tens of small products. With all cores on one batch each of them ends at a barrier, and
what Python does between them leaves all cores but one idle. Batches of their own meet nowhere: torch lets go
of the interpreter inside its operations, and its number of threads is that of the calling thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

MOST_WORKERS = 4
"""They share one interpreter, which needs about a tenth of a step; more cores are threads of each worker."""

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")


def count_workers(device: torch.device) -> int:
    """How many batches to decode side by side: one for each core on a CPU, one on anything else."""
    return min(torch.get_num_threads(), MOST_WORKERS) if device.type == "cpu" else 1


def side_by_side(work: Callable[[JobT], ResultT], jobs: Sequence[JobT], n_workers: int = 1) -> list[ResultT]:
    """``[work(job) for job in jobs]``, begun in that order by ``n_workers`` threads.

    The first job that fails, in the order of ``jobs``, is the one whose exception is raised; what has not
    begun by then is never run. Torch's number of threads is as before when this returns.
    """
    n_workers = min(n_workers, len(jobs))
    if n_workers < 2:
        return [work(job) for job in jobs]
    n_threads = torch.get_num_threads()
    share = max(1, n_threads // n_workers)
    try:
        with ThreadPoolExecutor(n_workers, "batch", torch.set_num_threads, (share,)) as pool:
            futures = [pool.submit(work, job) for job in jobs]
            try:
                return [future.result() for future in futures]
            finally:
                for future in futures:
                    future.cancel()
    finally:
        torch.set_num_threads(n_threads)  # what threads to come start with is the number set last
