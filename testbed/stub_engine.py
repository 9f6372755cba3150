"""An engine's process without a model, with hooks for faults: ``python -m testbed.stub_engine FD``.

Each step translates one word's time of every job: a text of n words takes n steps of ``STEP_S``. Words that
are told to it as orders: "die" kills the process, "hang" never ends its step, "stop" stops it, "nan" fails
its own job. Orders with "once" obey only in the first process that sees the file named by
``PASSERELLE_TEST_ONCE`` missing.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.batching.events import Event, Failed, Finished, PartFinished, Started, Tokenized
from nmt.errors import NumericalError
from nmt.options import TranslationOptions
from service.work.engine.base import Job
from service.work.engine.child import OnFailure, run
from service.work.engine.local import parts_of
from service.work.engine.messages import Ready, Start
from testbed.stub import StubTranslator

STEP_S = 0.02


@dataclass
class _Running:
    texts: Sequence[str]
    options: TranslationOptions
    parts: bool
    n_left: int
    n_told: int = 0


class StubWorker:
    """Steps all jobs at once."""

    def __init__(self) -> None:
        self.translator = StubTranslator()
        self.jobs: dict[int, _Running] = {}
        self.n_waiting = 0
        self.batch_fill = 0.5

    @property
    def is_busy(self) -> bool:
        return bool(self.jobs)

    @property
    def n_running(self) -> int:
        return len(self.jobs)

    def add(
        self, request: int, texts: Sequence[str], options: TranslationOptions, *, parts: bool, **_: Any
    ) -> None:
        self.jobs[request] = _Running(texts, options, parts, sum(len(text.split()) for text in texts))

    def cancel(self, requests: Collection[int]) -> None:
        for request in requests:
            self.jobs.pop(request, None)

    def step(self) -> list[Event]:
        time.sleep(STEP_S)
        events: list[Event] = []
        for request, job in list(self.jobs.items()):
            if not job.n_told:
                job.n_told = 1
                events += [Started(request), *(Tokenized(request, len(text.split())) for text in job.texts)]
                if self._obey(job):
                    del self.jobs[request]
                    events.append(Failed(request, NumericalError("NaN")))
                    continue
            job.n_left -= 1
            if job.n_left <= 0:
                del self.jobs[request]
                translations = self.translator.translate(job.texts, job.options)
                if job.parts:
                    whole = Job(tuple(job.texts), job.options, id=request)
                    for part in parts_of(whole, translations):
                        events.append(
                            PartFinished(
                                request,
                                part.text,
                                part.sentence,
                                part.n_sentences,
                                part.source,
                                part.translation,
                            )
                        )
                events.append(Finished(request, translations))
        return events

    def _obey(self, job: _Running) -> bool:
        """Whether the job is to fail."""
        words = " ".join(job.texts).split()
        if "once" in words:
            seen = Path(os.environ["PASSERELLE_TEST_ONCE"])
            if seen.exists():
                return False
            seen.touch()
        if "die" in words:
            os.kill(os.getpid(), signal.SIGKILL)
        if "stop" in words:
            os.kill(os.getpid(), signal.SIGSTOP)
        if "hang" in words:
            time.sleep(1000)
        return "nan" in words


def load(start: Start, _on_failure: OnFailure) -> Any:
    worker = StubWorker()
    translator = worker.translator
    ready = Ready(
        config=translator.config, generation=translator.generation, has_formality=translator.has_formality
    )
    return [(worker, ready)]


if __name__ == "__main__":
    run(socket.socket(fileno=int(sys.argv[1])), load)
