"""Batches made ahead by a thread, in pinned memory, so that a GPU waits for none.

Outwardly a ``BatchStream``: ``epoch`` and ``next_batch`` name the place after the batch handed out last,
however far the thread has run ahead.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass

from nmt.batch import Batch
from training.batching import BatchStream

AHEAD = 8
"""Batches made before they are asked for."""


@dataclass(frozen=True)
class _Made:
    batch: Batch
    epoch: int
    next_batch: int


class PrefetchedStream:
    """A stream read ahead.

    Args:
        stream: used by the thread alone from the first ``next`` on.
        pin: copy each batch to page-locked memory, from which it travels to a GPU without waiting.
    """

    def __init__(self, stream: BatchStream, *, pin: bool) -> None:
        self._stream = stream
        self._pin = pin
        self._made: queue.Queue[_Made | Exception] = queue.Queue(AHEAD)
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self.epoch, self.next_batch = stream.epoch, stream.next_batch

    def seek(self, epoch: int, next_batch: int) -> None:
        """Go to a place, dropping what was made ahead."""
        self.close()
        self._stream.seek(epoch, next_batch)
        self.epoch, self.next_batch = epoch, next_batch

    def next(self) -> Batch:
        """The next batch. What went wrong in the thread is raised here."""
        if self._thread is None:
            self._stop = threading.Event()
            self._made = queue.Queue(AHEAD)
            self._thread = threading.Thread(target=self._run, args=(self._made, self._stop), daemon=True)
            self._thread.start()
        made = self._made.get()
        if isinstance(made, Exception):
            raise made
        self.epoch, self.next_batch = made.epoch, made.next_batch
        return made.batch

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None

    def _run(self, made: queue.Queue[_Made | Exception], stop: threading.Event) -> None:
        while not stop.is_set():
            item: _Made | Exception
            try:
                batch = self._stream.next()
                batch = batch.pin_memory() if self._pin else batch
                item = _Made(batch, self._stream.epoch, self._stream.next_batch)
            except Exception as error:  # whatever it is, it belongs to who asked for the batch
                item = error
            while not stop.is_set():
                try:
                    made.put(item, timeout=0.1)
                    break
                except queue.Full:
                    continue
            if isinstance(item, Exception):
                return
