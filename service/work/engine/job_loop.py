"""Loop that steps a model, in a thread of the service or in a process of its own: jobs in, events out."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from nmt.batching.events import Failed, Finished
from nmt.errors import PasserelleError
from nmt.options import TranslationOptions
from nmt.spans import Span
from service.http.logs import describe
from service.work.engine.base import Event, Job

log = structlog.get_logger()


class Worker(Protocol):
    """Stepper of the model: a ``ContinuousTranslator``, ``WholeRequests``, or the tests' double."""

    @property
    def is_busy(self) -> bool:
        """Whether ``step`` has anything to do."""
        ...

    def add(
        self,
        request: int,
        texts: Sequence[str],
        options: TranslationOptions,
        *,
        keep: Sequence[Sequence[Span]] | None,
        party: str,
        parts: bool,
        background: bool,
    ) -> None:
        """Take a request."""
        ...

    def cancel(self, requests: Collection[int]) -> None:
        """Forget requests."""
        ...

    def step(self) -> Iterable[Event]:
        """Work a little, and tell what has come of it."""
        ...


@dataclass(frozen=True)
class Cancelled:
    """Nobody waits for these jobs any more."""

    ids: Collection[int]


@dataclass(frozen=True)
class Stop:
    """End when all that was asked for is done."""


class JobLoop:
    """Takes what is asked for between two steps of a worker. ``run`` belongs to one thread.

    Args:
        worker: steps the model.
        tell: told what comes of a step; it goes through the events, and so makes the worker work.
    """

    def __init__(self, worker: Worker, tell: Callable[[Iterable[Event]], None]) -> None:
        self._worker = worker
        self._tell = tell
        self._inbox: queue.SimpleQueue[Job | Cancelled | Stop] = queue.SimpleQueue()
        self._known: set[Hashable] = set()
        """Jobs that are neither done nor cancelled."""
        self._is_stopping = False
        self._step_since: float | None = None

    @property
    def step_s(self) -> float:
        """Seconds that the present step has lasted; 0: there is none."""
        since = self._step_since
        return 0.0 if since is None else time.monotonic() - since

    def put(self, asked: Job | Cancelled | Stop) -> None:
        """Ask, from any thread."""
        self._inbox.put(asked)

    def run(self) -> None:
        """Work until ``Stop``."""
        while True:
            self._take()
            if not self._worker.is_busy:
                if self._is_stopping:
                    return
                continue
            self._step_since = time.monotonic()
            self._tell(map(self._noted, self._worker.step()))
            self._step_since = None

    def _take(self) -> None:
        """Do what has been asked for; wait for something if there is nothing to do."""
        block = not self._worker.is_busy and not self._is_stopping
        while block or not self._inbox.empty():
            asked = self._inbox.get()
            block = False
            match asked:
                case Stop():
                    self._is_stopping = True
                case Cancelled(ids):
                    self._worker.cancel(ids)
                    self._known.difference_update(ids)
                case Job() if asked.id not in self._known:
                    self._add(asked)

    def _add(self, job: Job) -> None:
        try:
            self._worker.add(
                job.id,
                list(job.texts),
                job.options,
                keep=job.keep,
                party=job.key_id,
                parts=job.parts,
                background=job.background,
            )
        except Exception as error:
            self._tell([failed(job.id, error)])
        else:
            self._known.add(job.id)

    def _noted(self, event: Event) -> Event:
        match event:
            case Finished(request, _):
                self._known.discard(request)
            case Failed(request, error):
                self._known.discard(request)
                return failed(request, error)
        return event


def failed(job: Hashable, error: Exception) -> Failed:
    """The event; what is a fault of ours is logged, without the text."""
    if not isinstance(error, PasserelleError):
        log.error("translation_failed", **describe(error))
    return Failed(job, error)
