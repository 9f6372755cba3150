"""Progress of long work on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

PLAIN_INTERVAL_S = 10.0


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], object]]:
    """Show how much of ``total`` is done; the block calls what it is given with each count of pieces done."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _PlainLines(label, total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)


class _PlainLines:
    def __init__(self, label: str, total: int) -> None:
        self.label, self.total = label, total
        self.done = 0
        self.last_s = time.monotonic()

    def __call__(self, count: int) -> None:
        self.done += count
        now_s = time.monotonic()
        if now_s - self.last_s >= PLAIN_INTERVAL_S or self.done >= self.total:
            self.last_s = now_s
            print(f"{self.label}: {self.done} of {self.total}", file=sys.stderr, flush=True)
