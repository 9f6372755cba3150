"""The engine in a process of its own, and the watchdog that starts another when it dies or hangs.

The two speak typed JSON over a socket pair (``service.work.engine.messages``); the service itself never loads
torch. The engine is given up, killed and started again when its connection ends, when it has given no sign
of life for ``silent_s`` (stopped, or starved), or when one step has lasted ``step_s``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Sequence

import structlog
from pydantic import ValidationError

from nmt.batching.events import Failed, Finished, PartFinished, Started, Tokenized
from nmt.spans import Span
from service.work.engine.base import Engine, EngineDown, EngineUp, Event, Heartbeat, Job
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
    from_engine,
)

log = structlog.get_logger()

COMMAND = (sys.executable, "-P", "-m", "service.work.engine.child")
WATCH_EVERY_S = 0.2
LONGEST_LOAD_S = 300.0
LONGEST_BACKOFF_S = 10.0
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(128 * 2**20)}
"""For glibc: what a step frees, up to 128 MiB, is kept for the next one. By default large blocks go back to
the kernel, which clears each page before it gives it out again. What the environment says prevails."""


class ProcessEngine(Engine):
    """A child process that translates.

    Args:
        start: what it is to load.
        threads: that compute on the CPU; 0: as many as torch chooses.
        silent_s: seconds without a sign of life after which it is given up.
        step_s: seconds for a single step after which it is given up.
        command: what to start; the number of the socket's descriptor is added.

    Raises:
        ConfigError: there is no such device.
        ModelFolderError: there is no such model, or it is corrupt.
    """

    def __init__(
        self,
        start: Start,
        *,
        silent_s: float,
        step_s: float,
        threads: int = 0,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._start = start
        self._silent_s = silent_s
        self._step_s = step_s
        self._command = command
        self._environment = {**MEMORY, **os.environ, "PYTHONPATH": _module_path()}
        if threads:
            self._environment["OMP_NUM_THREADS"] = str(threads)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._frames: Frames | None = None
        """Where to send jobs; None: there is no engine that has loaded its model."""
        self.n_restarts = 0
        self._process, self._connection = self._launch()
        self._last_sign = time.monotonic()
        self._step_lasts_s = 0.0
        try:
            ready, *others = from_engine(self._connection.receive())
        except ClosedError:
            ready, others = Error(job=None, kind="EngineDown", message=""), []
        if not isinstance(ready, Ready):
            self._connection.close()
            self._process.kill()
            self._process.wait()
            raise ready.exception() if isinstance(ready, Error) else RuntimeError("the engine did not start")
        self.config = ready.config
        self.generation = ready.generation
        self.has_formality = ready.has_formality
        self.others = [other for other in others if isinstance(other, Ready)]
        """Of further pairs of the model."""
        self._frames = self._connection

    @property
    def pid(self) -> int:
        """The process that is, or was, the engine."""
        return self._process.pid

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Begin to hand on what the engine says, and to watch it."""
        self._on_event = on_event
        self._last_sign = time.monotonic()
        self._reader = threading.Thread(target=self._run, name="engine", daemon=True)
        self._reader.start()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def submit(self, job: Job) -> bool:
        """Send a job, if there is an engine."""
        return self._send(Translate.of(job).encoded())

    def cancel(self, jobs: Collection[int]) -> None:
        """Take jobs out of the running batch with its next step."""
        self._send(Cancel(ids=list(jobs)).encoded())

    def is_ready(self, stuck_after_s: float) -> bool:  # noqa: ARG002 - the watchdog has limits of its own
        """True if there is an engine that has loaded its model and shows signs of life."""
        silent_s = time.monotonic() - self._last_sign
        return self._frames is not None and self._process.poll() is None and silent_s < self._silent_s

    def stop(self, timeout_s: float) -> None:  # noqa: ARG002 - jobs are the scheduler's to wait for
        """End the engine; its process ends when the connection does."""
        self._stopping.set()
        with self._lock:
            self._connection.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _launch(self) -> tuple[subprocess.Popen[bytes], Frames]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [*self._command, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=self._environment,
            )
        frames = Frames(ours)
        frames.send(self._start.encoded())
        return process, frames

    def _send(self, message: bytes) -> bool:
        frames = self._frames
        if frames is None:
            return False
        with contextlib.suppress(ClosedError):  # the reader has noticed, or is about to
            frames.send(message)
        return True

    def _run(self) -> None:
        """Hand on events; when the engine is gone, say so and start another, for as long as it takes."""
        backoff_s = 0.0
        while not self._stopping.is_set():
            try:
                while True:
                    for message in from_engine(self._connection.receive()):
                        self._take(message)
                    backoff_s = backoff_s if self._frames is None else 0.0
            except (ClosedError, ValidationError):
                if self._stopping.is_set():
                    return
            was_ready, self._frames = self._frames is not None, None
            self._process.kill()
            status = self._process.wait()
            self._connection.close()
            log.error("engine_lost", exit_status=status)
            if was_ready:
                self._on_event(EngineDown())
            if self._stopping.wait(backoff_s):
                return
            backoff_s = min(2 * backoff_s + 0.5, LONGEST_BACKOFF_S)
            self.n_restarts += 1
            self._last_sign, self._step_lasts_s = time.monotonic(), 0.0
            with self._lock:
                if self._stopping.is_set():
                    return
                self._process, self._connection = self._launch()

    def _take(self, message: Message) -> None:
        """Hand on what the engine says."""
        self._last_sign = time.monotonic()
        match message:
            case HeartbeatMessage():
                self._step_lasts_s = message.step_s
                numbers = message.n_running, message.n_waiting, message.fill, message.n_failures
                self._on_event(Heartbeat(*numbers, pair=message.pair))
            case Ready() if self._frames is None:
                self._frames = self._connection
                log.info("engine_restarted")
                self._on_event(EngineUp())
            case StartedMessage():
                self._on_event(Started(message.job))
            case TokenizedMessage():
                self._on_event(Tokenized(message.job, message.n_tokens))
            case PartMessage():
                part = PartFinished(
                    message.job,
                    message.text,
                    message.sentence,
                    message.n_sentences,
                    Span(*message.source),
                    message.translation,
                )
                self._on_event(part)
            case DoneMessage():
                self._on_event(Finished(message.job, message.translations))
            case Error(job=None):
                log.error("engine_failed_to_start", error=message.kind)
            case Error():
                assert message.job is not None
                self._on_event(Failed(message.job, message.exception()))

    def _watch(self) -> None:
        """Kill an engine that is silent or stuck; the reader does the rest."""
        while not self._stopping.wait(WATCH_EVERY_S):
            silent_s = time.monotonic() - self._last_sign
            limit_s = LONGEST_LOAD_S if self._frames is None else self._silent_s
            if silent_s > limit_s or self._step_lasts_s > self._step_s:
                log.error("engine_stuck", silent_s=round(silent_s, 1), step_s=round(self._step_lasts_s, 1))
                self._step_lasts_s = 0.0
                self._last_sign = time.monotonic()
                self._process.kill()


def _module_path() -> str:
    """Where this process looks for modules: the engine is to run the same code, whatever the folder is."""
    return os.pathsep.join(os.path.realpath(entry) for entry in sys.path)
