"""Work in several processes: results in the order of the jobs, few of them under way, so memory is bounded.

Processes are spawned, not forked: the libraries that read corpora run threads. They end with the process
that started them, however it ends.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from types import TracebackType
from typing import Self, TypeVar

from nmt.errors import DataError

Job = TypeVar("Job")
Result = TypeVar("Result")

UNDER_WAY_FOR_EACH = 2
"""Jobs under way for each process: one in work, one that waits for it."""


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0))


class Workers:
    """Up to ``n_processes``; a context manager. One of them, or a single job, needs none but this process."""

    def __init__(self, n_processes: int) -> None:
        self._n_processes = n_processes
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        """The result of each job, in order; a job is made only when a process will soon be free for it.

        Args:
            function: of a module, not a local one; what it raises is raised here.
            jobs: can be pickled, as the results can.

        Raises:
            DataError: a process died.
        """
        jobs = iter(jobs)
        first = list(islice(jobs, 2))
        if self._n_processes == 1 or len(first) < 2:
            yield from map(function, chain(first, jobs))
            return
        pool = self._pool = self._pool or ProcessPoolExecutor(
            self._n_processes, multiprocessing.get_context("spawn"), initializer=_end_with_parent
        )
        under_way: deque[Future[Result]] = deque()
        try:
            for job in chain(first, jobs):
                under_way.append(pool.submit(function, job))
                if len(under_way) > UNDER_WAY_FOR_EACH * self._n_processes:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool:
            raise DataError(
                f"one of {self._n_processes} processes died, perhaps for want of memory; run the same "
                "command again, with fewer --processes: what is done is kept"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Leave as soon as the parent is gone: a killed one cannot tell its processes to stop."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
