"""Batches decoded side by side: a worker for each core, with the cores divided among them.

A step of decoding is tens of small products. With all cores on one batch each of them ends at a barrier, and
what Python does between them leaves all cores but one idle. Batches of their own meet nowhere. A worker is
this process, a fork of it (``nmt.engines.forks``) or, where there can be none, one more thread: torch lets go
of the interpreter inside its operations, and its number of threads is that of the calling thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

MOST_WORKERS = 4
"""As threads they share one interpreter; more cores are threads of each worker."""

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")


def count_workers(device: torch.device) -> int:
    """How many batches to decode side by side: one for each core on a CPU, one on anything else."""
    return min(torch.get_num_threads(), MOST_WORKERS) if device.type == "cpu" else 1


def side_by_side(works: Sequence[Callable[[JobT], ResultT]], jobs: Sequence[JobT]) -> list[ResultT]:
    """The result of each job, begun in their order by whichever of ``works`` is free.

    The first of ``works`` runs in the calling thread, each other in a thread of its own. Of the jobs that
    fail it is the first one, in the order of ``jobs``, whose exception is raised; what has not begun by then
    is never run. Torch's number of threads is as before when this returns.
    """
    works = works[: len(jobs)]
    if len(works) < 2:
        return [work(job) for work in works for job in jobs]
    pending = iter(enumerate(jobs))
    results: dict[int, ResultT] = {}
    failures: dict[int, Exception] = {}
    stopped = threading.Event()
    one_at_a_time = threading.Lock()
    n_threads = torch.get_num_threads()

    def drain(work: Callable[[JobT], ResultT]) -> None:
        torch.set_num_threads(max(1, n_threads // len(works)))
        while not stopped.is_set():
            with one_at_a_time:
                place, job = next(pending, (-1, None))
            if place < 0:
                return
            try:
                results[place] = work(job)  # type: ignore[arg-type]
            except Exception as failure:
                failures[place] = failure
                stopped.set()

    threads = [threading.Thread(target=drain, args=(work,), name="batch") for work in works[1:]]
    try:
        for thread in threads:
            thread.start()
        drain(works[0])
    finally:
        stopped.set()  # every job has begun, or none is to begin
        for thread in threads:
            thread.join()
        torch.set_num_threads(n_threads)  # what threads to come start with is the number set last
    if failures:
        raise failures[min(failures)]
    return [results[place] for place in range(len(jobs))]
