"""One thread owns the model: a bounded queue before it, and what waits is translated together.

A request that waits can be cancelled at any time and then costs nothing. One that the model has begun runs to
its end. Requests are served in order of arrival, except that later ones with equal options ride along.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from nmt.config import GenerationConfig
from service.logs import describe
from service.metrics import Metrics

if TYPE_CHECKING:
    from nmt.translator import AlignmentKind, Translation
    from service.interface import TextTranslator

log = structlog.get_logger()

SHORTEST_RETRY_S, LONGEST_RETRY_S = 1, 60


class QueueFullError(Exception):
    """Too much is waiting already. ``retry_after_s``: whole seconds until what waits should be done."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"the queue is full; retry after {retry_after_s} s")
        self.retry_after_s = retry_after_s


class StoppingError(Exception):
    """The server is shutting down and takes nothing more."""


@dataclass(frozen=True)
class Options:
    """How to translate; requests with equal options may share a batch."""

    source: str
    target: str
    alignment: AlignmentKind
    generation: GenerationConfig


@dataclass(eq=False)
class _Job:
    texts: tuple[str, ...]
    options: Options
    future: Future[list[Translation]] = field(default_factory=Future)

    @property
    def n_characters(self) -> int:
        return sum(len(text) for text in self.texts)


class Scheduler:
    """The queue and its thread.

    Args:
        translator: used from the thread only.
        metrics: told of queue depth, batches and tokens.
        queue_max_requests: how many requests may wait.
        queue_max_characters: how many characters may wait. A request is always taken when none waits.
        batch_max_characters: what waits is gathered up to this many characters.
    """

    def __init__(
        self,
        translator: TextTranslator,
        metrics: Metrics,
        *,
        queue_max_requests: int,
        queue_max_characters: int,
        batch_max_characters: int,
    ) -> None:
        self._translator = translator
        self._metrics = metrics
        self._queue_max_requests = queue_max_requests
        self._queue_max_characters = queue_max_characters
        self._batch_max_characters = batch_max_characters
        self._waiting: deque[_Job] = deque()
        self._waiting_characters = 0
        self._changed = threading.Condition()
        self._stopping = False
        self._throughput = _Throughput()
        self._busy_since: float | None = None
        self._thread = threading.Thread(target=self._run, name="model", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """Take nothing more and finish what waits, in at most ``timeout_s``; then cancel the rest."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join(timeout_s)
        with self._changed:
            left = list(self._waiting)
        for job in left:
            job.future.cancel()

    def is_ready(self, stuck_after_s: float) -> bool:
        """True if the thread runs, is not stopping, and its batch has not taken ``stuck_after_s`` already."""
        busy_since = self._busy_since
        stuck = busy_since is not None and time.monotonic() - busy_since > stuck_after_s
        return self._thread.is_alive() and not self._stopping and not stuck

    def submit(self, texts: Sequence[str], options: Options) -> Future[list[Translation]]:
        """Queue one request; cancelling the future takes it out again, unless the model has begun it.

        Raises:
            QueueFullError: with the seconds after which to try again.
            StoppingError: the server is shutting down.
        """
        job = _Job(tuple(texts), options)
        job.future.add_done_callback(lambda future: self._forget(job) if future.cancelled() else None)
        with self._changed:
            if self._stopping:
                raise StoppingError("the server is shutting down")
            if self._waiting and (
                len(self._waiting) >= self._queue_max_requests
                or self._waiting_characters + job.n_characters > self._queue_max_characters
            ):
                self._metrics.rejected.inc()
                raise QueueFullError(self._throughput.seconds_for(self._waiting_characters))
            self._waiting.append(job)
            self._count(job, 1)
            self._changed.notify()
        return job.future

    def _forget(self, job: _Job) -> None:
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
                self._count(job, -1)
                self._metrics.dropped.inc()

    def _count(self, job: _Job, sign: int) -> None:
        self._waiting_characters += sign * job.n_characters
        self._metrics.queue_requests.set(len(self._waiting))
        self._metrics.queue_characters.set(self._waiting_characters)

    def _run(self) -> None:
        while (batch := self._next_batch()) is not None:
            if batch:
                self._busy_since = time.monotonic()
                self._translate(batch)
                self._busy_since = None

    def _next_batch(self) -> list[_Job] | None:
        """Wait for work; the oldest request and those after it that may share its batch. None: stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            if not self._waiting:
                return None
            first = self._waiting[0]
            room = self._batch_max_characters
            batch: list[_Job] = []
            for job in list(self._waiting):
                if job is first or (job.options == first.options and job.n_characters <= room):
                    batch.append(job)
                    self._waiting.remove(job)
                    self._count(job, -1)
                    room -= job.n_characters
        return [job for job in batch if job.future.set_running_or_notify_cancel()]

    def _translate(self, batch: list[_Job]) -> None:
        """One call for all; if that fails, one call each, so that nobody pays for another's request."""
        started = time.monotonic()
        n_characters = sum(job.n_characters for job in batch)
        try:
            self._answer(batch)
        except Exception as error:
            if len(batch) == 1:
                batch[0].future.set_exception(error)
            else:
                self._metrics.batch_failures.inc()
                log.warning("batch_failed", n_requests=len(batch), **describe(error))
                for job in batch:
                    try:
                        self._answer([job])
                    except Exception as own_error:
                        job.future.set_exception(own_error)
        seconds = time.monotonic() - started
        self._throughput.add(n_characters, seconds)
        self._metrics.batch_seconds.observe(seconds)
        self._metrics.batch_requests.observe(len(batch))
        self._metrics.batch_texts.observe(sum(len(job.texts) for job in batch))
        self._metrics.batch_fill.observe(n_characters / self._batch_max_characters)

    def _answer(self, batch: list[_Job]) -> None:
        """Translate and hand out the results. Raises before any future is set, or not at all."""
        options = batch[0].options
        texts = [text for job in batch for text in job.texts]
        translations = self._translator.translate(
            texts,
            source=options.source,
            target=options.target,
            alignment=options.alignment,
            options=options.generation,
        )
        if len(translations) != len(texts):
            raise RuntimeError(f"{len(texts)} texts but {len(translations)} translations")
        self._metrics.source_tokens.inc(sum(translation.n_source_tokens for translation in translations))
        self._metrics.target_tokens.inc(sum(translation.n_target_tokens for translation in translations))
        first = 0
        for job in batch:
            job.future.set_result(translations[first : first + len(job.texts)])
            first += len(job.texts)


class _Throughput:
    """Characters translated in a second; the last ten batches or so count most."""

    def __init__(self) -> None:
        self._characters = 0.0
        self._seconds = 0.0

    def add(self, n_characters: int, seconds: float) -> None:
        self._characters = 0.9 * self._characters + n_characters
        self._seconds = 0.9 * self._seconds + seconds

    def seconds_for(self, n_characters: int) -> int:
        """Whole seconds that so many characters take, within bounds that a client can work with."""
        if not self._characters:
            return SHORTEST_RETRY_S
        seconds = math.ceil(n_characters * self._seconds / self._characters)
        return min(max(seconds, SHORTEST_RETRY_S), LONGEST_RETRY_S)
