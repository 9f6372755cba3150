"""Progress of long work on standard error: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

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


class Advance(Protocol):
    """Callback with each count of pieces done, and a word on how it goes ("5,200 tokens/s")."""

    def __call__(self, count: int, note: str = "") -> None:
        """``count`` more are done."""
        ...


@contextmanager
def progress(label: str, total: int, *, silent: bool = False) -> Iterator[Advance]:
    """Show how much of ``total`` is done, the time left, and the latest note; nothing when ``silent``."""
    if silent:
        yield lambda count, note="": None  # noqa: ARG005 - as Advance has it
        return
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
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(label, total=total, note="")

        def advance(count: int, note: str = "") -> None:
            bar.advance(task, count)
            if note:
                bar.update(task, note=note)

        yield advance


class _PlainLines:
    def __init__(self, label: str, total: int) -> None:
        self.label, self.total = label, total
        self.done = 0
        self.note = ""
        self.first_s = self.last_s = time.monotonic()

    def __call__(self, count: int, note: str = "") -> None:
        self.done += count
        self.note = note or self.note
        now_s = time.monotonic()
        if now_s - self.last_s >= PLAIN_INTERVAL_S or self.done >= self.total:
            self.last_s = now_s
            left_s = (now_s - self.first_s) / max(1, self.done) * (self.total - self.done)
            parts = [f"{self.label}: {self.done} of {self.total}", self.note]
            parts.append(f"{left_s / 60:.0f} min left" if self.done < self.total else "")
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)
