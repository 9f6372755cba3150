"""Structured logs on standard error. No line holds anything that a user wrote.

An exception is logged by its type and the places it passed through, never by its message: a library's message
may quote the text it failed on.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from service.settings import Settings

_LIBRARIES = ("uvicorn", "uvicorn.error", "asyncio", "fastapi", "matplotlib")


def configure(settings: Settings, stream: TextIO | None = None) -> None:
    """Set up structlog, and send the log lines of libraries through it."""
    lines = LossyStream.of_descriptor(sys.stderr) if stream is None else LossyStream(stream)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_messages,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=lines.isatty())
    )
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", lines)),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(lines)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(max(level, logging.INFO))


class LossyStream(io.TextIOBase):
    """Drops what cannot be written, as on a full disk, and says how many lines those were as soon as it can.

    No request fails for its log line, and no thread that watches over others ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._n_lost = 0
        self._lock = threading.Lock()

    @classmethod
    def of_descriptor(cls, stream: TextIO) -> LossyStream:
        """Around the same file without its buffer, which would fail again when the process ends."""
        try:
            raw = open(stream.fileno(), "wb", buffering=0, closefd=False)  # noqa: SIM115 - kept open
        except (OSError, ValueError):  # it is no file, as in a test
            return cls(stream)
        unbuffered = io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)
        return cls(unbuffered)

    def write(self, line: str) -> int:
        """Write one line, or lose it."""
        with self._lock:
            try:
                if self._n_lost:
                    lost = {"event": "log_lines_lost", "level": "warning", "n": self._n_lost}
                    self._stream.write(json.dumps(lost) + "\n")
                    self._n_lost = 0
                self._stream.write(line)
            except OSError:
                self._n_lost += 1
        return len(line)

    def flush(self) -> None:
        """Write what a buffer holds."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether people watch."""
        return self._stream.isatty()


def describe(error: BaseException) -> dict[str, Any]:
    """Type and places of an exception, for a log line."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {
        "error": type(error).__name__,
        "trace": [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames],
    }


def _without_messages(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace ``exc_info``, which would be rendered with its message, by ``describe``."""
    exc_info = event.pop("exc_info", None)
    record = event.get("_record")
    if isinstance(record, logging.LogRecord):
        exc_info = record.exc_info or exc_info
        record.exc_info = record.exc_text = None
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    if isinstance(error, BaseException):
        event.update(describe(error))
    return event
