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
from typing import TYPE_CHECKING, Protocol, cast

import structlog

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

if TYPE_CHECKING:
    from nmt.batching.continuous import ContinuousTranslator

log = structlog.get_logger()

PULSE_S = 0.5


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


Load = Callable[[Start, Callable[[Exception], None]], tuple[Worker, Ready]]


def run(connection: socket.socket, load: Load) -> None:
    """Load what the first message names, then work until the other side is gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    frames = Frames(connection)
    start = to_engine(frames.receive())
    assert isinstance(start, Start)
    configure(Settings.model_construct(log_level=start.log_level, log_format=start.log_format))
    failures: list[Exception] = []
    try:
        worker, ready = load(start, failures.append)
    except Exception as error:
        if not isinstance(error, PasserelleError):
            log.error("engine_failed_to_start", **describe(error))  # noqa: TRY400 - no message in the log
        frames.send(news([Error.of(None, error)]))
        return
    gc.collect()
    gc.freeze()  # the model never becomes garbage: later collections need not look at it
    frames.send(news([ready]))
    _Child(frames, worker, failures).run()


class _Child:
    """The two ends of the loop: what the service asks, and what it is told."""

    def __init__(self, frames: Frames, worker: Worker, failures: list[Exception]) -> None:
        self._frames = frames
        self._worker = worker
        self._failures = failures
        self._n_logged = 0
        self._loop = job_loop.JobLoop(worker, self._tell)

    def run(self) -> None:
        """Never returns: the process ends with its connection."""
        for target in (self._read, self._pulse):
            threading.Thread(target=target, daemon=True).start()
        self._loop.run()

    def _tell(self, events: Iterable[Event]) -> None:
        messages = [_message(event) for event in events]
        for error in self._failures[self._n_logged :]:
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
        while True:
            n_failures = len(self._failures)
            heartbeat = HeartbeatMessage(
                n_running=self._worker.n_running,
                n_waiting=self._worker.n_waiting,
                fill=self._worker.batch_fill,
                n_failures=n_failures - told,
                step_s=self._loop.step_s,
            )
            self._send([heartbeat])
            told = n_failures
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


def load_model(start: Start, on_failure: Callable[[Exception], None]) -> tuple[ContinuousTranslator, Ready]:
    """The model folder that ``start`` names, ready for running batches."""
    from nmt.batching.continuous import ContinuousTranslator  # noqa: PLC0415
    from nmt.translator import Translator  # noqa: PLC0415

    translator = Translator.load(
        start.model,
        source=start.source,
        target=start.target,
        device=start.device,
        engine=start.engine,
        reverse=start.reverse,
    )
    translator.warm_up()
    worker = ContinuousTranslator(translator, max_batch_tokens=start.batch_max_tokens, on_failure=on_failure)
    ready = Ready(
        config=translator.config, generation=translator.generation, has_formality=translator.has_formality
    )
    return worker, ready


if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])), load_model)
