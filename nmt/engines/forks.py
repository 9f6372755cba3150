"""Processes forked from this one that work beside it, for two threads that decode share one interpreter.

A step of decoding is a hundred small operations, and at each of them a thread waits until the other lets go
of the interpreter. A forked process has one of its own, and the weights of this one: their memory is shared
until somebody writes to it, which nobody does. It is there within milliseconds. torch's data loader works
in the same way.

A fork takes along no other thread, and a lock that one held stays locked for ever. So it is made only where
this process has none, and a fork uses one thread of torch, never the team of OpenMP that stayed behind. Where
no fork can be made, threads do the work (``nmt.engines.workers``). What goes to a fork and back is JSON.

A fork ends when its parent closes it or is no more; one that dies or fails leaves its job to the parent.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Any

import torch

Json = Any
JOIN_SECONDS = 5.0


class Fork:
    """One process, which answers one job at a time."""

    def __init__(self, work: Callable[[Json], Json]) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("fork").Process(
            target=_serve, args=(theirs, self._connection, work), name="decoder", daemon=True
        )
        with warnings.catch_warnings():
            # newer Pythons warn of any thread of the system, those of OpenMP too, which a fork never needs
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()
        self._close = weakref.finalize(self, _end, self._process, self._connection)

    @property
    def pid(self) -> int | None:
        """Of the process; None once it was closed."""
        return self._process.pid if self._close.alive else None

    def ask(self, job: Json) -> Json:
        """What ``work`` makes of a job; None where it failed or the process is no more."""
        try:
            self._connection.send_bytes(json.dumps(job).encode())
            return json.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            self.close()
            return None

    @property
    def is_alive(self) -> bool:
        """Whether it still answers."""
        return bool(self._close.alive)

    def close(self) -> None:
        """End the process; closing twice does nothing."""
        self._close()


class Forks:
    """As many forks as asked for, made when they are first needed, of what this process is then.

    Args:
        work: what they do, from JSON to JSON.
        n_forks: how many.
    """

    def __init__(self, work: Callable[[Json], Json], n_forks: int) -> None:
        self._work = work
        self._n_forks = n_forks
        self._forks: list[Fork] = []

    def running(self) -> Sequence[Fork]:
        """Those that answer; none where this process cannot be forked now. A dead one is replaced."""
        self._forks = [fork for fork in self._forks if fork.is_alive]
        while len(self._forks) < self._n_forks and can_fork():
            self._forks.append(Fork(self._work))
        return tuple(self._forks)

    def close(self) -> None:
        """End them; a later call makes others."""
        for fork in self._forks:
            fork.close()


def kind_of_workers() -> str:
    """What works beside a process on this system, and when, in words."""
    if sys.platform != "linux":
        return f"threads: forks are made on Linux, and this is {sys.platform}"
    return "forks, where the process has no other thread and no links are asked for; else threads"


def can_fork() -> bool:
    """Whether a fork of this process is sound now: on Linux, and without any other thread of Python."""
    return sys.platform == "linux" and threading.active_count() == 1


def _serve(connection: Connection, parents: Connection, work: Callable[[Json], Json]) -> None:
    """Answer jobs until the parent is gone; of its end of the pipe there must be no copy here."""
    parents.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.freeze()  # what is shared is not written to by collections
    torch.set_num_threads(1)
    while True:
        try:
            job = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            answer = work(job)
        except Exception:
            answer = None
        connection.send_bytes(json.dumps(answer).encode())


def _end(process: ForkProcess, connection: Connection) -> None:
    connection.close()
    process.terminate()
    process.join(JOIN_SECONDS)
