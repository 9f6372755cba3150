"""One engine for several pairs of one model: NLLB, say, is in memory once however many pairs are served.

The engine's process has a worker for each pair, and they take turns (``Turns``). The service sees an engine
for each (``PairEngine``), so that each pair has a queue of its own. On the way between them the number of a
job says of which pair it is: job 7 of pair 2 of 3 is 7 x 3 + 2.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from nmt.options import TranslationOptions
from nmt.spans import Span
from service.work.engine.base import BatchDone, Engine, EngineDown, EngineUp, Event, Heartbeat, Job
from service.work.engine.job_loop import Worker
from service.work.engine.process import ProcessEngine


class Turns:
    """Workers as one: of those that are busy the one that has had least time takes the next step.

    Args:
        workers: of each pair, by the remainder of a request's number.
    """

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers
        self._spent_s = [0.0] * len(workers)

    @property
    def is_busy(self) -> bool:
        """Whether ``step`` has anything to do."""
        return any(worker.is_busy for worker in self._workers)

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
        """Give a request to the worker of its pair."""
        worker = self._workers[request % len(self._workers)]
        worker.add(request, texts, options, keep=keep, party=party, parts=parts, background=background)

    def cancel(self, requests: Collection[int]) -> None:
        """Forget requests."""
        for index, worker in enumerate(self._workers):
            own = [request for request in requests if request % len(self._workers) == index]
            if own:
                worker.cancel(own)

    def step(self) -> Iterable[Event]:
        """A step of one worker; whoever was idle has saved up nothing for it."""
        busy = [index for index, worker in enumerate(self._workers) if worker.is_busy]
        if not busy:
            return
        chosen = min(busy, key=self._spent_s.__getitem__)
        now_s = self._spent_s[chosen]
        self._spent_s = [
            spent_s if index in busy else max(spent_s, now_s) for index, spent_s in enumerate(self._spent_s)
        ]
        started = time.monotonic()
        yield from self._workers[chosen].step()
        self._spent_s[chosen] += time.monotonic() - started


class PairEngine(Engine):
    """What the service sees of one pair; made by ``engines_of``."""

    def __init__(self, shared: _Shared, pair: int) -> None:
        ready = shared.engine if pair == 0 else shared.engine.others[pair - 1]
        self.config, self.generation = ready.config, ready.generation
        self.has_formality = ready.has_formality
        self._shared = shared
        self._pair = pair

    @property
    def pid(self) -> int:
        """The process that is, or was, the engine."""
        return self._shared.engine.pid

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Begin to hand on what the engine says of this pair."""
        self._shared.start(self._pair, on_event)

    def submit(self, job: Job) -> bool:
        """Send a job, if there is an engine."""
        return self._shared.engine.submit(replace(job, id=self._shared.number(self._pair, job.id)))

    def cancel(self, jobs: Collection[int]) -> None:
        """Take jobs out of the running batch with its next step."""
        self._shared.engine.cancel([self._shared.number(self._pair, job) for job in jobs])

    def is_ready(self, stuck_after_s: float) -> bool:
        """As of ``ProcessEngine``."""
        return self._shared.engine.is_ready(stuck_after_s)

    def stop(self, timeout_s: float) -> None:
        """Take no more part; with the last pair the process ends."""
        self._shared.stop(self._pair, timeout_s)


class _Shared:
    """The process, and who listens to it."""

    def __init__(self, engine: ProcessEngine) -> None:
        self.engine = engine
        self._n_pairs = 1 + len(engine.others)
        self._listening: dict[int, Callable[[Event], None]] = {}
        self._stopped: set[int] = set()
        self._lock = threading.Lock()

    def number(self, pair: int, job: int) -> int:
        """Of a job, among those of all pairs."""
        return job * self._n_pairs + pair

    def start(self, pair: int, on_event: Callable[[Event], None]) -> None:
        with self._lock:
            is_first = not self._listening
            self._listening[pair] = on_event
        if is_first:
            self.engine.start(self._hand_on)

    def stop(self, pair: int, timeout_s: float) -> None:
        with self._lock:
            self._stopped.add(pair)
            is_last = len(self._stopped) == self._n_pairs
        if is_last:
            self.engine.stop(timeout_s)

    def _hand_on(self, event: Event) -> None:
        match event:
            case EngineDown() | EngineUp():
                for on_event in list(self._listening.values()):
                    on_event(event)
                return
            case Heartbeat(pair=pair):
                own: Event = event
            case BatchDone():
                raise AssertionError("an engine of running batches tells no batches")
            case _:
                assert isinstance(event.request, int)
                job, pair = divmod(event.request, self._n_pairs)
                own = replace(event, request=job)
        if (listener := self._listening.get(pair)) is not None:
            listener(own)


def engines_of(engine: ProcessEngine) -> list[ProcessEngine | PairEngine]:
    """An engine for each pair that the process has, in the order of its ``Start``."""
    if not engine.others:
        return [engine]
    shared = _Shared(engine)
    return [PairEngine(shared, pair) for pair in range(1 + len(engine.others))]
