"""The engine STUB: ``python -m tests.reliability.stub_engine FD``. Deterministic, with a delay and faults.

A text of n words takes n steps of ``PASSERELLE_TEST_STEP_S``, ``SLOTS`` texts are in the batch at once, the
others wait in the fair queue. Time is told in steps, which no busy machine stretches: a translation's score
is minus a thousandth of the steps from its request's arrival to its end.

Its models are called "en_fr" and "fr_en", and only their languages differ.

Words are orders: "die" kills the process, "stop" stops it, "hang" never ends its step, "fail", "nan" and
"memory" fail their own request. A text with "gated" does not go on while there is a file of the name
``PASSERELLE_TEST_GATE``.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nmt.batching.events import Event, Failed, Finished, Started, Tokenized
from nmt.batching.fair_queue import FairQueue
from nmt.errors import NumericalError
from nmt.options import TranslationOptions
from nmt.pipeline.result import Translation
from service.work.engine.child import OnFailure, run
from service.work.engine.messages import Ready, Start
from service.work.scheduler import estimated_tokens
from testbed.stub import StubTranslator

SLOTS = 16
STEP_S = float(os.environ.get("PASSERELLE_TEST_STEP_S", "0.005"))
GATE = Path(os.environ.get("PASSERELLE_TEST_GATE", "/nowhere"))
FAULTS: dict[str, type[Exception]] = {"fail": RuntimeError, "nan": NumericalError, "memory": MemoryError}


@dataclass(eq=False)
class _Request:
    texts: list[str]
    options: TranslationOptions
    arrived: int
    done: list[Translation | None]
    has_begun: bool = False


class StubWorker:
    """Steps all texts in the batch at once."""

    def __init__(self) -> None:
        self.translator = StubTranslator()
        self._requests: dict[int, _Request] = {}
        self._queue: FairQueue[tuple[int, int]] = FairQueue()
        self._running: dict[tuple[int, int], int] = {}
        """Steps that are left, by request and text."""
        self._n_steps = 0
        self._events: list[Event] = []

    @property
    def is_busy(self) -> bool:
        return bool(self._requests)

    @property
    def n_running(self) -> int:
        return len(self._running)

    @property
    def n_waiting(self) -> int:
        return len(self._queue)

    @property
    def batch_fill(self) -> float:
        return len(self._running) / SLOTS

    def add(
        self, request: int, texts: Sequence[str], options: TranslationOptions, *, party: str, **_: Any
    ) -> None:
        self._requests[request] = _Request(list(texts), options, self._n_steps, [None] * len(texts))
        for index, text in enumerate(texts):
            n_tokens = estimated_tokens(text)
            self._events.append(Tokenized(request, n_tokens))
            self._queue.put(party, request, (request, index), n_tokens)

    def cancel(self, requests: Collection[int]) -> None:
        for request in requests:
            self._requests.pop(request, None)
            self._queue.drop(request)
        self._running = {key: left for key, left in self._running.items() if key[0] not in requests}

    def step(self) -> list[Event]:
        events, self._events = self._events, []
        while len(self._running) < SLOTS and (key := self._queue.pop()) is not None:
            request = self._requests[key[0]]
            self._running[key] = len(request.texts[key[1]].split())
            if not request.has_begun:
                request.has_begun = True
                events.append(Started(key[0]))
        time.sleep(STEP_S)
        self._n_steps += 1
        shut = GATE.exists()
        for key in list(self._running):
            if key in self._running and not (shut and self._is_gated(*key)):
                self._running[key] -= 1
                if self._running[key] <= 0:
                    events += self._finish(*key)
        return events

    def _is_gated(self, number: int, index: int) -> bool:
        return "gated" in self._requests[number].texts[index]

    def _finish(self, number: int, index: int) -> list[Event]:
        del self._running[number, index]
        request = self._requests[number]
        if (fault := obey(request.texts[index])) is not None:
            self.cancel([number])
            return [Failed(number, fault)]
        (found,) = self.translator.translate([request.texts[index]], request.options)
        request.done[index] = replace(found, score=-(self._n_steps - request.arrived) / 1000)
        done = [translation for translation in request.done if translation is not None]
        if len(done) < len(request.texts):
            return []
        del self._requests[number]
        return [Finished(number, done)]


def obey(text: str) -> Exception | None:
    """What a text's request fails with, if it is told to."""
    orders = {"die", "stop", "hang", *FAULTS} & set(text.split())
    if "die" in orders:
        os.kill(os.getpid(), signal.SIGKILL)
    if "stop" in orders:
        os.kill(os.getpid(), signal.SIGSTOP)
    if "hang" in orders:
        time.sleep(1000)
    return next((FAULTS[word]("CANARY") for word in orders if word in FAULTS), None)


def load(start: Start, _on_failure: OnFailure) -> list[tuple[StubWorker, Ready]]:
    worker = StubWorker()
    stub = worker.translator
    assert start.model is not None
    source, target = start.model.split("_")
    languages = {"name": start.model, "source_language": source, "target_language": target}
    ready = Ready(
        config=stub.config.model_copy(update=languages),
        generation=stub.generation,
        has_formality=stub.has_formality,
    )
    return [(worker, ready)]


if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])), load)
