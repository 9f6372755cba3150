"""The engine's process: ``python -m service.work.engine.child FD``, which ``process`` starts.

One thread reads messages, one tells every second that all is well, and the main one steps the model. When the
service is gone the process ends at once; signals for the whole group are left to the service, which ends its
engine when all accepted requests are answered.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

import structlog

from nmt.allocator import give_back_free_memory
from nmt.batching.events import Failed, Finished, PartFinished, Started, Tokenized
from nmt.errors import PasserelleError
from service.http.logs import configure, describe
from service.settings import Settings
from service.work.engine import job_loop
from service.work.engine.base import Event
from service.work.engine.frames import ClosedError, Frames
from service.work.engine.messages import (
    Cancel,
    DoneMessage,
    Error,
    HeartbeatMessage,
    Message,
    PartMessage,
    Ready,
    Start,
    StartedMessage,
    TokenizedMessage,
    Translate,
    news,
    to_engine,
)
from service.work.engine.shared import Turns

if TYPE_CHECKING:
    from nmt.batching.continuous import ContinuousTranslator

log = structlog.get_logger()

PULSE_S = 0.5
RESTS_AFTER_S, GIVE_BACK_EVERY_S = 1.0, 10.0
"""When free memory goes back to the kernel: after so long without work, and so often while there is some."""


class Worker(job_loop.Worker, Protocol):
    """Stepper of the model: ``nmt.batching.continuous.ContinuousTranslator``, or the tests' double."""

    @property
    def n_running(self) -> int:
        """Sentences in the running batches."""
        ...

    @property
    def n_waiting(self) -> int:
        """Sentences that wait to join."""
        ...

    @property
    def batch_fill(self) -> float:
        """Tokens searched now, as a share of what may be searched at once."""
        ...


OnFailure = Callable[[int, Exception], None]
"""Told of a batch that failed as a whole: of which pair, and why."""
Load = Callable[[Start, OnFailure], Sequence[tuple[Worker, Ready]]]
"""Loads a model and makes a worker for each of its pairs."""


def run(connection: socket.socket, load: Load) -> None:
    """Load what the first message names, then work until the other side is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    frames = Frames(connection)
    start = to_engine(frames.receive())
    assert isinstance(start, Start)
    configure(Settings.model_construct(log_level=start.log_level, log_format=start.log_format))
    failures: list[tuple[int, Exception]] = []
    try:
        made = load(start, lambda pair, error: failures.append((pair, error)))
    except Exception as error:
        if not isinstance(error, PasserelleError):
            log.error("engine_failed_to_start", **describe(error))  # noqa: TRY400 - no message in the log
        frames.send(news([Error.of(None, error)]))
        return
    gc.collect()
    gc.freeze()  # the model never becomes garbage: later collections need not look at it
    frames.send(news([ready for _, ready in made]))
    _Child(frames, [worker for worker, _ in made], failures).run()


class FreeMemory:
    """Tells when free memory is to be given back to the kernel; times are in seconds of one clock."""

    def __init__(self, now_s: float) -> None:
        self._given_back_s = self._worked_s = now_s

    def is_due(self, now_s: float, *, is_busy: bool) -> bool:
        """Whether it is now: once after the work, and now and then during work that goes on."""
        if is_busy:
            self._worked_s = now_s
            due = now_s - self._given_back_s >= GIVE_BACK_EVERY_S
        else:
            due = self._given_back_s <= self._worked_s <= now_s - RESTS_AFTER_S
        if due:
            self._given_back_s = now_s
        return due


class _Child:
    """The two ends of the loop: what the service asks, and what it is told."""

    def __init__(
        self, frames: Frames, workers: Sequence[Worker], failures: list[tuple[int, Exception]]
    ) -> None:
        self._frames = frames
        self._workers = workers
        self._failures = failures
        self._n_logged = 0
        self._loop = job_loop.JobLoop(workers[0] if len(workers) == 1 else Turns(workers), self._tell)

    def run(self) -> None:
        """Never returns: the process ends with its connection."""
        for target in (self._read, self._pulse):
            threading.Thread(target=target, daemon=True).start()
        self._loop.run()

    def _tell(self, events: Iterable[Event]) -> None:
        messages = [_message(event) for event in events]
        for _, error in self._failures[self._n_logged :]:
            log.warning("batch_failed", **describe(error))
        self._n_logged = len(self._failures)
        if messages:
            self._send(messages)

    def _send(self, messages: Sequence[Message]) -> None:
        try:
            self._frames.send(news(messages))
        except ClosedError:
            os._exit(0)

    def _read(self) -> None:
        try:
            while True:
                match to_engine(self._frames.receive()):
                    case Cancel(ids=ids):
                        self._loop.put(job_loop.Cancelled(ids))
                    case Translate() as message:
                        self._loop.put(message.job())
        except ClosedError:
            os._exit(0)  # the main thread may be in the middle of a long step

    def _pulse(self) -> None:
        told = 0
        memory = FreeMemory(time.monotonic())
        while True:
            if memory.is_due(
                time.monotonic(), is_busy=any(one.n_running or one.n_waiting for one in self._workers)
            ):
                give_back_free_memory()
            failed = [pair for pair, _ in self._failures[told:]]
            heartbeats = [
                HeartbeatMessage(
                    n_running=worker.n_running,
                    n_waiting=worker.n_waiting,
                    fill=worker.batch_fill,
                    n_failures=failed.count(pair),
                    step_s=self._loop.step_s,
                    pair=pair,
                )
                for pair, worker in enumerate(self._workers)
            ]
            self._send(heartbeats)
            told += len(failed)
            time.sleep(PULSE_S)


def _message(event: Event) -> Message:
    match event:
        case Started(request):
            return StartedMessage(job=request)
        case Tokenized(request, n_tokens):
            return TokenizedMessage(job=request, n_tokens=n_tokens)
        case PartFinished(request, text, sentence, n_sentences, source, translation):
            return PartMessage(
                job=request,
                text=text,
                sentence=sentence,
                n_sentences=n_sentences,
                source=(source.start, source.end),
                translation=translation,
            )
        case Finished(request, translations):
            return DoneMessage(job=request, translations=translations)
        case Failed(request, error):
            return Error.of(cast(int, request), error)
    raise AssertionError(f"an engine of running batches tells no {type(event).__name__}")


def load_model(start: Start, on_failure: OnFailure) -> list[tuple[ContinuousTranslator, Ready]]:
    """The model folder that ``start`` names, in memory once, ready for running batches of each pair."""
    from nmt.batching.continuous import ContinuousTranslator  # noqa: PLC0415
    from nmt.translator import Translator  # noqa: PLC0415

    first = Translator.load(
        start.model,
        source=start.source,
        target=start.target,
        device=start.device,
        engine=start.engine,
        reverse=start.reverse,
    )
    others = [first.between(pair.source, pair.target, reverse=pair.reverse) for pair in start.others]
    made = []
    for pair, translator in enumerate([first, *others]):
        translator.warm_up()
        worker = ContinuousTranslator(
            translator, max_batch_tokens=start.batch_max_tokens, on_failure=partial(on_failure, pair)
        )
        ready = Ready(
            config=translator.config, generation=translator.generation, has_formality=translator.has_formality
        )
        made.append((worker, ready))
    return made


if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])), load_model)
