"""Between requests and the engine: admission, and what becomes of each request that was admitted.

Admission is counted in tokens: an estimate from the bytes of a text until the engine has tokenised it. Of
admitted requests the engine decides who goes next (``nmt.batching.fair_queue``). A request can be cancelled
at any time; it leaves the running batch with the next step. When the engine dies, what it had is sent to the
next one, once: over a request that was there when it died twice the engine is not risked again.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import structlog

from nmt.batching.events import Failed, Finished, PartFinished, Started, Tokenized
from service.http.metrics import Metrics
from service.work.engine.base import (
    BatchDone,
    Engine,
    EngineDown,
    EngineDownError,
    EngineUp,
    Event,
    Heartbeat,
    Job,
)

if TYPE_CHECKING:
    from nmt.translator import Translation

__all__ = ["Admitted", "EngineDownError", "Job", "QueueFullError", "Scheduler", "StoppingError"]

log = structlog.get_logger()

SHORTEST_RETRY_S, LONGEST_RETRY_S = 1, 60
BYTES_PER_TOKEN = 4
MOST_LOST = 2


class QueueFullError(Exception):
    """Too much is waiting already. ``retry_after_s``: whole seconds until what waits should be done."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"the queue is full; retry after {retry_after_s} s")
        self.retry_after_s = retry_after_s


class StoppingError(Exception):
    """The server is shutting down and takes nothing more."""


class Admitted(NamedTuple):
    """A request that has its place in the queue."""

    future: Future[list[Translation]]
    """Result of it; cancelling it takes the request out again."""
    release: Callable[[], None]
    """Have it translated."""


@dataclass(eq=False)
class _Request:
    """A job, and what is known of it."""

    job: Job
    on_part: Callable[[PartFinished], None] | None
    estimates: list[int]
    """Tokens of each text, by its size."""
    future: Future[list[Translation]] = field(default_factory=Future)
    n_counted: int = 0
    """Texts that have been tokenised."""
    n_tokens: int = 0
    """Tokens of all its texts: counted where they have been tokenised, else estimated."""
    is_released: bool = False
    """It may be sent to an engine."""
    is_sent: bool = False
    """The present engine has it."""
    has_begun: bool = False
    n_lost: int = 0
    """Engines that have died over it, or near it."""
    n_parts: int = 0
    """Parts that were handed on."""
    n_parts_now: int = 0
    """Parts that the present attempt has given: those handed on before come again."""

    def forget_progress(self) -> None:
        """As it was when it was admitted: another engine begins with it anew."""
        self.is_sent = self.has_begun = False
        self.n_counted = self.n_parts_now = 0
        self.n_tokens = sum(self.estimates)


class Scheduler:
    """Requests that were admitted and not yet answered.

    Args:
        engine: what translates.
        metrics: told of queue depth, batches and tokens of the engine's direction.
        queue_max_requests: how many requests may wait for the model to begin with them.
        queue_max_tokens: how many tokens may be admitted and not answered. A request is always taken when
            there is no other.
    """

    def __init__(
        self, engine: Engine, metrics: Metrics, *, queue_max_requests: int, queue_max_tokens: int
    ) -> None:
        self.engine = engine
        self._metrics = metrics.of(engine.config.source_language, engine.config.target_language)
        self._queue_max_requests = queue_max_requests
        self._queue_max_tokens = queue_max_tokens
        self._numbers = itertools.count(1)
        self._requests: dict[Hashable, _Request] = {}
        self._n_waiting = 0
        self._n_tokens = 0
        self._changed = threading.Condition()
        self._stopping = False
        self._throughput = _Throughput()
        self._metrics.queue_requests.set_function(lambda: self.n_waiting)
        self._metrics.queue_tokens.set_function(lambda: self.n_tokens)

    @property
    def n_waiting(self) -> int:
        """Requests that the model has not begun with."""
        return self._n_waiting

    @property
    def n_tokens(self) -> int:
        """Tokens admitted and not answered."""
        return self._n_tokens

    @property
    def is_full(self) -> bool:
        """Whether nothing more is taken now, however small it is."""
        return self._lacks_room(0)

    def start(self) -> None:
        """Start the engine."""
        self.engine.start(self._on_event)

    def stop(self, timeout_s: float) -> None:
        """Take nothing more and finish what was admitted, in at most ``timeout_s``; then cancel the rest."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            self._stopping = True
            self._changed.wait_for(lambda: not self._requests, timeout_s)
            left = list(self._requests.values())
        for request in left:
            request.future.cancel()
        self.engine.stop(max(deadline - time.monotonic(), 0.0))

    def is_ready(self, stuck_after_s: float) -> bool:
        """True if the engine is, and the server is not stopping."""
        return not self._stopping and self.engine.is_ready(stuck_after_s)

    def admit(
        self,
        job: Job,
        on_part: Callable[[PartFinished], None] | None = None,
    ) -> Admitted:
        """Give one request its place in the queue, which cancelling its future gives up again.

        Args:
            job: what to translate; its number is given here.
            on_part: told of each sentence in order, before the future has its result, on another thread.

        Raises:
            QueueFullError: with the seconds after which to try again.
            StoppingError: the server is shutting down.
        """
        job = replace(job, id=next(self._numbers), parts=on_part is not None)
        request = _Request(job, on_part, [estimated_tokens(text) for text in job.texts])
        request.forget_progress()
        request.future.add_done_callback(lambda future: self._forget(request) if future.cancelled() else None)
        with self._changed:
            self._check_room(request.n_tokens)
            self._requests[job.id] = request
            self._count(request, 1)
        return Admitted(request.future, lambda: self._release(request))

    def submit(self, job: Job) -> Future[list[Translation]]:
        """``admit`` a request that is to be translated at once."""
        admitted = self.admit(job)
        admitted.release()
        return admitted.future

    def check_room(self) -> None:
        """Raise as ``admit`` would raise for the smallest request."""
        with self._changed:
            self._check_room(0)

    def _check_room(self, n_more: int) -> None:
        if self._stopping:
            raise StoppingError("the server is shutting down")
        if self._lacks_room(n_more):
            self._metrics.rejected.inc()
            raise QueueFullError(self._throughput.seconds_for(self._n_tokens))

    def _lacks_room(self, n_more: int) -> bool:
        return bool(self._requests) and (
            self._n_waiting >= self._queue_max_requests or self._n_tokens + n_more > self._queue_max_tokens
        )

    def _count(self, request: _Request, sign: int) -> None:
        """Take a request into the totals, or out of them."""
        self._n_waiting += sign * (not request.has_begun)
        self._n_tokens += sign * request.n_tokens

    def _release(self, request: _Request) -> None:
        request.is_released = True
        if request.job.id in self._requests:
            self._send(request)

    def _send(self, request: _Request) -> None:
        request.is_sent = self.engine.submit(request.job)

    def _forget(self, request: _Request) -> None:
        """Nobody waits for it any more."""
        if self._leave(request) and request.is_released:
            self._metrics.dropped.inc()
            self.engine.cancel([request.job.id])

    def _leave(self, request: _Request) -> bool:
        with self._changed:
            left = self._requests.pop(request.job.id, None)
            if left is not None:
                self._count(left, -1)
            self._changed.notify_all()
        return left is not None

    def _on_event(self, event: Event) -> None:
        """Events of the engine, on its thread."""
        match event:
            case EngineDown():
                self._on_lost()
            case EngineUp():
                self._metrics.engine_restarts.inc()
                for request in list(self._requests.values()):
                    if request.is_released:
                        self._send(request)
            case Heartbeat():
                self._metrics.running_sentences.set(event.n_running)
                self._metrics.waiting_sentences.set(event.n_waiting)
                self._metrics.batch_failures.inc(event.n_failures)
                if event.n_running:
                    self._metrics.batch_fill.observe(event.fill)
            case BatchDone():
                self._on_batch(event)
            case _:
                if (known := self._requests.get(event.request)) is not None:
                    self._on_request(known, event)

    def _on_request(
        self, request: _Request, event: Started | Tokenized | PartFinished | Finished | Failed
    ) -> None:
        match event:
            case Started():
                with self._recounted(request):
                    request.has_begun = True
            case Tokenized():
                with self._recounted(request):
                    request.n_tokens += event.n_tokens - request.estimates[request.n_counted]
                    request.n_counted += 1
            case PartFinished():
                request.n_parts_now += 1
                if request.n_parts_now > request.n_parts and request.on_part is not None:
                    request.n_parts += 1
                    request.on_part(event)
            case Finished():
                if self._leave(request):
                    self._throughput.add(request.n_tokens)
                    self._metrics.source_tokens.inc(sum(t.n_source_tokens for t in event.translations))
                    self._metrics.target_tokens.inc(sum(t.n_target_tokens for t in event.translations))
                    _settle(lambda: request.future.set_result(event.translations))
            case Failed():
                self._fail(request, event.error)

    def _on_lost(self) -> None:
        """Jobs that the engine had are for the next one, but not for a third."""
        for request in list(self._requests.values()):
            request.n_lost += request.is_sent
            if request.n_lost >= MOST_LOST:
                self._fail(request, EngineDownError("the engine died over this request twice"))
            with self._recounted(request):
                request.forget_progress()

    @contextlib.contextmanager
    def _recounted(self, request: _Request) -> Iterator[None]:
        """The block changes what the totals say of a request, if it is still there."""
        with self._changed:
            is_there = request.job.id in self._requests
            self._count(request, -is_there)
            yield
            self._count(request, is_there)

    def _on_batch(self, event: BatchDone) -> None:
        self._metrics.batch_seconds.observe(event.seconds)
        self._metrics.batch_requests.observe(event.n_jobs)
        self._metrics.batch_texts.observe(event.n_texts)
        self._metrics.batch_failures.inc(event.failed)

    def _fail(self, request: _Request, error: Exception) -> None:
        if self._leave(request):
            _settle(lambda: request.future.set_exception(error))


def _settle(settle: Callable[[], None]) -> None:
    """Give a future its outcome, unless it was cancelled a moment ago."""
    with contextlib.suppress(InvalidStateError):
        settle()


def estimated_tokens(text: str) -> int:
    """About the tokens of a text of any script, EOS counted, from its bytes: until it is tokenised."""
    return len(text.encode(errors="replace")) // BYTES_PER_TOKEN + 1


class _Throughput:
    """Tokens answered in a second, over the last half minute or so of work."""

    def __init__(self) -> None:
        self._tokens = 0.0
        self._seconds = 0.0
        self._last = time.monotonic()

    def add(self, n_tokens: int) -> None:
        now = time.monotonic()
        passed = min(now - self._last, 5.0)  # a pause is no work
        self._last = now
        fading = math.exp(-passed / 30)
        self._tokens = fading * self._tokens + n_tokens
        self._seconds = fading * self._seconds + passed

    def seconds_for(self, n_tokens: int) -> int:
        """Whole seconds that so many tokens take, within bounds that a client can work with."""
        if not self._tokens:
            return SHORTEST_RETRY_S
        seconds = math.ceil(n_tokens * self._seconds / self._tokens)
        return min(max(seconds, SHORTEST_RETRY_S), LONGEST_RETRY_S)
