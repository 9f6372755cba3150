"""Admission, and the engine in a thread: gathering, bounds, cancelling, errors that stay with a request."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from nmt.batching.events import Tokenized
from nmt.config import GenerationConfig
from nmt.options import TranslationOptions
from nmt.translator import Translation
from service.http.metrics import Metrics
from service.work.engine.local import LocalEngine
from service.work.scheduler import Job, QueueFullError, Scheduler, StoppingError, estimated_tokens
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import eventually

OPTIONS = TranslationOptions(source="en", target="fr", generation=GenerationConfig())
GREEDY = TranslationOptions(source="en", target="fr", generation=GenerationConfig(beam_size=1))


class Bench:
    """A scheduler around a stub whose gate is shut: the first request occupies the model, others wait."""

    def __init__(self, **limits: int) -> None:
        self.translator = StubTranslator()
        self.metrics = Metrics()
        chosen = {"queue_max_requests": 10, "queue_max_tokens": 1000, **limits}
        engine = LocalEngine(self.translator, batch_max_characters=chosen.pop("batch_max_characters", 100))
        self.scheduler = Scheduler(engine, self.metrics, **chosen)
        self.scheduler.start()
        self.translator.gate.clear()
        self.first = self.submit("first")
        assert self.translator.entered.wait(5)

    def submit(self, *texts: str, options: TranslationOptions = OPTIONS) -> Future[list[Translation]]:
        return self.scheduler.submit(Job(texts, options))

    def open(self) -> None:
        self.translator.gate.set()

    def metric(self, name: str) -> float:
        value = self.metrics.registry.get_sample_value(name, {"direction": "en-fr"})
        assert value is not None
        return value


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    made = Bench(**getattr(request, "param", {}))
    yield made
    made.open()
    made.scheduler.stop(5)


def texts(future: Future[list[Translation]]) -> list[str]:
    return [translation.text for translation in future.result(5)]


def test_what_waits_with_equal_options_is_translated_together(bench: Bench) -> None:
    futures = [bench.submit("one", "two"), bench.submit("x", options=GREEDY), bench.submit("three")]
    bench.open()

    assert [texts(future) for future in futures] == [["eno", "owt"], ["x"], ["eerht"]]
    assert bench.translator.calls == [["first"], ["one", "two", "three"], ["x"]]
    assert bench.translator.threads == {"model"}


@pytest.mark.parametrize("bench", [{"batch_max_characters": 10}], indirect=True)
def test_a_batch_ends_where_its_characters_do(bench: Bench) -> None:
    futures = [bench.submit(text) for text in ("a" * 6, "b" * 6, "c" * 4, "d" * 30)]
    bench.open()

    for future in futures:
        future.result(5)
    assert bench.translator.calls[1:] == [["a" * 6, "c" * 4], ["b" * 6], ["d" * 30]]


@pytest.mark.parametrize("bench", [{"queue_max_requests": 2}], indirect=True)
def test_the_queue_is_bounded_in_requests(bench: Bench) -> None:
    kept = [bench.submit("a"), bench.submit("b")]

    with pytest.raises(QueueFullError):
        bench.submit("c")

    assert bench.metric("passerelle_queue_requests") == 2
    assert bench.metric("passerelle_rejected_requests_total") == 1
    bench.open()
    assert [texts(future) for future in kept] == [["a"], ["b"]]
    assert bench.metric("passerelle_queue_requests") == 0


@pytest.mark.parametrize("bench", [{"queue_max_tokens": 20}], indirect=True)
def test_the_queue_is_bounded_in_tokens(bench: Bench) -> None:
    assert estimated_tokens("first") == 2
    half = bench.submit("a" * 35)

    assert bench.metric("passerelle_queue_tokens") == 2 + 9
    with pytest.raises(QueueFullError):
        bench.submit("b" * 36)
    fits = bench.submit("b" * 32)
    assert bench.metric("passerelle_queue_tokens") == 20
    assert half.cancel()
    assert bench.metric("passerelle_queue_tokens") == 11
    with pytest.raises(QueueFullError):
        bench.submit("é" * 20)
    bench.open()
    assert texts(fits) == ["b" * 32]
    eventually(lambda: bench.metric("passerelle_queue_tokens") == 0)
    assert texts(bench.submit("c" * 1000)) == ["c" * 1000], "whatever its size, it is taken when alone"


def test_the_estimate_gives_way_to_the_tokens_that_the_engine_counts(bench: Bench) -> None:
    future = bench.submit("a" * 40, "b" * 40)
    job = max(bench.scheduler._requests)
    assert bench.scheduler.n_tokens == 2 + 22
    bench.scheduler._on_event(Tokenized(job, 100))
    assert bench.scheduler.n_tokens == 2 + 111
    bench.scheduler._on_event(Tokenized(job, 5))
    assert bench.scheduler.n_tokens == 2 + 105
    assert bench.metric("passerelle_queue_tokens") == 107
    bench.open()
    future.result(5)


def test_retry_after_is_what_was_admitted_takes_at_the_speed_measured() -> None:
    bench = Bench(queue_max_requests=1, queue_max_tokens=1_000_000)
    bench.submit("y" * 330)
    bench.scheduler._throughput._tokens, bench.scheduler._throughput._seconds = 100.0, 8.0

    with pytest.raises(QueueFullError) as error:
        bench.submit("z")

    assert error.value.retry_after_s == 7  # 2 + 83 tokens at 12.5 a second are 6.8 s
    bench.open()
    bench.scheduler.stop(5)


def test_a_cancelled_request_is_never_translated_and_makes_room(bench: Bench) -> None:
    dropped, kept = bench.submit("dropped"), bench.submit("kept")

    assert dropped.cancel()
    assert bench.metric("passerelle_queue_requests") == 1
    assert bench.metric("passerelle_dropped_requests_total") == 1
    bench.open()

    assert texts(kept) == ["tpek"]
    assert bench.translator.calls == [["first"], ["kept"]]


def test_nobody_waits_for_a_cancelled_request_that_the_model_has_begun(bench: Bench) -> None:
    assert bench.first.cancel()
    assert bench.scheduler.n_waiting == 0
    bench.open()
    assert texts(bench.submit("next")) == ["txen"]


def test_an_error_hits_only_the_request_that_causes_it(bench: Bench) -> None:
    bench.translator.failure = lambda text: ValueError("bad") if text == "bad" else None
    good, bad, other = bench.submit("good"), bench.submit("fine", "bad"), bench.submit("other")
    bench.open()

    assert texts(good) == ["doog"]
    assert texts(other) == [backwards("other")]
    with pytest.raises(ValueError, match="bad"):
        bad.result(5)
    assert bench.translator.calls[1] == ["good", "fine", "bad", "other"]
    assert bench.metric("passerelle_batch_failures_total") == 1
    eventually(lambda: bench.scheduler.is_ready(60))
    assert texts(bench.submit("next")) == ["txen"], "the thread lives on"


def test_a_translator_that_loses_a_text_is_an_error_and_no_shift(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*arguments: Any, **options: Any) -> list[Translation]:
        return StubTranslator.translate(bench.translator, *arguments, **options)[1:]

    monkeypatch.setattr(bench.translator, "translate", lose)
    futures = [bench.submit("a"), bench.submit("b")]
    bench.open()

    for future in futures:
        with pytest.raises(RuntimeError, match="1 texts but 0 translations"):
            future.result(5)


def test_stopping_finishes_what_waits_and_takes_nothing_more(bench: Bench) -> None:
    waiting = bench.submit("waiting")
    bench.scheduler.stop(0)  # does not wait; the thread goes on
    with pytest.raises(StoppingError):
        bench.submit("late")
    assert waiting.cancelled(), "time was up: whoever waits is told"
    assert bench.first.cancelled()
    bench.open()

    patient = Bench()
    waiting = patient.submit("waiting")
    patient.open()
    patient.scheduler.stop(5)
    assert texts(waiting) == ["gnitiaw"]
    assert not patient.scheduler.is_ready(60)


def test_a_model_that_is_stuck_is_not_ready(bench: Bench) -> None:
    assert bench.scheduler.is_ready(stuck_after_s=60)
    eventually(lambda: not bench.scheduler.is_ready(stuck_after_s=0.01))
    bench.open()
    eventually(lambda: bench.scheduler.is_ready(stuck_after_s=0.01))


def test_metrics_tell_batches_and_tokens(bench: Bench) -> None:
    for text in ("one two", "three"):
        bench.submit(text)
    bench.open()

    eventually(lambda: bench.metric("passerelle_batch_requests_count") == 2)
    assert bench.metric("passerelle_batch_requests_sum") == 3
    assert bench.metric("passerelle_source_tokens_total") == 4
    assert bench.metric("passerelle_target_tokens_total") == 4


@pytest.mark.parametrize("bench", [{"queue_max_requests": 1}], indirect=True)
def test_a_place_in_the_queue_is_held_until_it_is_used_or_given_up(bench: Bench) -> None:
    first = bench.scheduler.admit(Job(("held",), OPTIONS))
    with pytest.raises(QueueFullError):
        bench.submit("no room")
    first.future.cancel()
    assert bench.metric("passerelle_dropped_requests_total") == 0, "the model never had it"

    second = bench.scheduler.admit(Job(("used",), OPTIONS))
    bench.open()
    assert texts(bench.first) == ["tsrif"]
    assert not second.future.done(), "it is not translated before it is released"
    second.release()
    assert texts(second.future) == ["desu"]
    first.release()
    assert bench.scheduler.n_waiting == bench.scheduler.n_tokens == 0
    assert texts(bench.submit("last")) == ["tsal"]
    assert "held" not in {text for call in bench.translator.calls for text in call}


def test_totals_are_those_of_the_requests_whatever_became_of_them(bench: Bench) -> None:
    futures = [bench.submit("a" * 40, "b" * 8), bench.submit("c" * 4), bench.submit("gone")]
    assert bench.scheduler.n_waiting == 3
    assert bench.scheduler.n_tokens == sum(
        map(estimated_tokens, ("first", "a" * 40, "b" * 8, "c" * 4, "gone"))
    )
    futures.pop().cancel()
    assert bench.scheduler.n_waiting == 2
    bench.open()
    for future in [bench.first, *futures]:
        future.result(5)
    assert bench.scheduler.n_waiting == bench.scheduler.n_tokens == 0
