"""Several pairs of one model: one model in memory, turns of equal time, and each pair its own jobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import nmt.model_folder.weights
import nmt.translator
from nmt.batching.events import Finished, Started
from nmt.importers.read import import_checkpoint
from nmt.options import TranslationOptions
from nmt.translator import Translator
from service.work.engine import shared
from service.work.engine.base import EngineDown, EngineUp, Event, Heartbeat, Job
from service.work.engine.child import load_model
from service.work.engine.messages import Pair, Ready, Start
from service.work.engine.shared import Turns, engines_of
from testbed.stub import StubTranslator
from tests.nmt.importers.checkpoints import make_multilingual

OPTIONS = TranslationOptions(quality="fast")
PAIRS = (("en", "fr"), ("de", "pt"), ("fr", "en"))


class FakeWorker:
    """Each step takes ``cost_s`` of a clock of ours."""

    def __init__(self, clock: list[float], cost_s: float, name: int, taken: list[int]) -> None:
        self._clock, self._cost_s, self._name, self._taken = clock, cost_s, name, taken
        self.requests: list[int] = []

    @property
    def is_busy(self) -> bool:
        return bool(self.requests)

    def add(self, request: int, texts: Sequence[str], options: TranslationOptions, **_: Any) -> None:
        self.requests.append(request)

    def cancel(self, requests: Collection[int]) -> None:
        self.requests = [request for request in self.requests if request not in requests]

    def step(self) -> Iterable[Event]:
        self._clock[0] += self._cost_s
        self._taken.append(self._name)
        yield Started(self.requests[0])


def turns(
    costs_s: Sequence[float], monkeypatch: pytest.MonkeyPatch
) -> tuple[Turns, list[FakeWorker], list[int]]:
    clock, taken = [0.0], list[int]()
    monkeypatch.setattr(shared.time, "monotonic", lambda: clock[0])
    workers = [FakeWorker(clock, cost_s, name, taken) for name, cost_s in enumerate(costs_s)]
    return Turns(workers), workers, taken


def ask(made: Turns, request: int) -> None:
    made.add(request, ["A text."], OPTIONS, keep=None, party="x", parts=False, background=False)


def run(made: Turns, n_steps: int) -> list[Event]:
    return [event for _ in range(n_steps) for event in made.step()]


def test_busy_pairs_have_equal_time_however_long_their_steps_are(monkeypatch: pytest.MonkeyPatch):
    made, _, taken = turns([4.0, 1.0], monkeypatch)
    ask(made, 0)
    ask(made, 1)
    run(made, 50)
    assert taken.count(0) * 4 == pytest.approx(taken.count(1), abs=5)


def test_a_pair_that_was_idle_has_saved_up_nothing(monkeypatch: pytest.MonkeyPatch):
    made, workers, taken = turns([1.0, 1.0], monkeypatch)
    ask(made, 0)
    run(made, 100)
    ask(made, 1)
    del taken[:]
    run(made, 10)
    assert taken.count(1) in {5, 6}
    workers[0].requests.clear()
    run(made, 100)
    ask(made, 0)
    del taken[:]
    run(made, 10)
    assert taken.count(0) in {4, 5, 6}


def test_a_request_goes_to_the_worker_of_its_pair_and_leaves_it(monkeypatch: pytest.MonkeyPatch):
    made, workers, _ = turns([1.0, 1.0, 1.0], monkeypatch)
    for request in (3, 4, 5, 7):
        ask(made, request)
    assert [worker.requests for worker in workers] == [[3], [4, 7], [5]]
    made.cancel([4, 5])
    assert [worker.requests for worker in workers] == [[3], [7], []]
    assert made.is_busy
    made.cancel([3, 7])
    assert not made.is_busy
    assert run(made, 1) == []


class FakeProcess:
    """As much of a ``ProcessEngine`` as pairs need."""

    def __init__(self, n_others: int) -> None:
        stub = StubTranslator()
        self.config, self.generation, self.has_formality = stub.config, stub.generation, False
        ready = Ready(config=stub.config, generation=stub.generation, has_formality=False)
        self.others = [ready] * n_others
        self.jobs: list[Job] = []
        self.cancelled: list[int] = []
        self.n_started = self.n_stopped = 0
        self.pid = 1

    def start(self, on_event: Callable[[Event], None]) -> None:
        self.tell, self.n_started = on_event, self.n_started + 1

    def submit(self, job: Job) -> bool:
        self.jobs.append(job)
        return True

    def cancel(self, jobs: Collection[int]) -> None:
        self.cancelled += jobs

    def stop(self, timeout_s: float) -> None:
        self.n_stopped += 1


def test_jobs_of_equal_numbers_are_told_apart():
    process = FakeProcess(2)
    engines = engines_of(process)  # type: ignore[arg-type]
    heard: list[list[Event]] = [[] for _ in engines]
    for engine, events in zip(engines, heard, strict=True):
        engine.start(events.append)
    assert process.n_started == 1
    for engine in engines:
        engine.submit(Job(("A text.",), OPTIONS, id=7))
    ids = [job.id for job in process.jobs]
    assert len(set(ids)) == 3
    process.tell(Finished(ids[1], []))
    assert heard == [[], [Finished(7, [])], []]
    engines[2].cancel([7])
    assert process.cancelled == [ids[2]]
    process.tell(Heartbeat(1, 2, 0.5, 0, pair=2))
    for event in (EngineDown(), EngineUp()):
        process.tell(event)
    assert heard == [
        [EngineDown(), EngineUp()],
        [Finished(7, []), EngineDown(), EngineUp()],
        [Heartbeat(1, 2, 0.5, 0, pair=2), EngineDown(), EngineUp()],
    ]


def test_the_process_ends_with_its_last_pair():
    process = FakeProcess(1)
    first, second = engines_of(process)  # type: ignore[arg-type]
    first.stop(1)
    first.stop(1)
    assert process.n_stopped == 0
    second.stop(1)
    assert process.n_stopped == 1


@pytest.mark.parametrize("engine", ["float32", "eager"])
def test_one_model_is_loaded_for_all_pairs(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path / "cache"))
    make_multilingual(tmp_path / "theirs", nllb=True)
    folder = import_checkpoint(str(tmp_path / "theirs"), tmp_path / "ours")
    texts = ["Where is the train station, please?", "Il pleuvait."]
    alone = [
        [
            found.text
            for found in Translator.load(
                folder, source=source, target=target, engine=engine, device="cpu"
            ).translate(texts, OPTIONS)
        ]
        for source, target in PAIRS
    ]
    loaded = {"weights": 0, "ctranslate2": 0}

    def counted(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            loaded[name] += 1
            return original(*given, **named)

        return call

    weights = nmt.model_folder.weights
    monkeypatch.setattr(weights, "read_model", counted("weights", weights.read_model))
    monkeypatch.setattr(
        nmt.translator, "load_ctranslate2", counted("ctranslate2", nmt.translator.load_ctranslate2)
    )
    start = Start(
        model=str(folder),
        source="en",
        target="fr",
        reverse=str(folder),
        others=tuple(Pair(source=source, target=target) for source, target in PAIRS[1:]),
        device="cpu",
        engine=engine,
        batch_max_tokens=512,
        log_level="error",
        log_format="json",
    )
    made = load_model(start, print)
    assert [(ready.config.source_language, ready.config.target_language) for _, ready in made] == list(PAIRS)
    found: list[list[str]] = []
    for worker, _ in made:
        worker.add(1, texts, OPTIONS)
        events: list[Event] = []
        while worker.is_busy:
            events += worker.step()
        (end,) = [event for event in events if isinstance(event, Finished)]
        found.append([translation.text for translation in end.translations])
    assert found == alone
    assert len({str(texts) for texts in found}) == 3, "each pair is another translation"
    translator = made[0][0]._translator
    translator.translate(texts, TranslationOptions(quality="best"))
    assert loaded == {"weights": 1, "ctranslate2": int(engine != "eager")}
