"""The engine's process and its watchdog: killed, stopped, hung, faulty, left and drained."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from nmt.batching.events import Finished
from nmt.model_folder.manifest import WEIGHTS
from nmt.options import TranslationOptions
from nmt.translator import Translator
from service.main import start_engines
from service.settings import Settings
from service.work.engine.base import EngineDownError
from service.work.engine.child import load_model
from service.work.engine.messages import Error, Start, from_engine, news
from service.work.engine.process import ProcessEngine
from testbed.stub import backwards
from tests.nmt.conftest import SENTENCES, save_tiny_model, train_tokenizer
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem

COMMAND = (sys.executable, "-P", "-m", "testbed.stub_engine")
START = Start(model=None, device="cpu", batch_max_tokens=4096, log_level="error", log_format="json")


def engine(**limits: float) -> ProcessEngine:
    return ProcessEngine(START, command=COMMAND, **{"silent_s": 1.5, "step_s": 5.0, **limits})


def test_packages_of_the_same_name_in_the_current_folder_are_not_the_engines(tmp_path, monkeypatch) -> None:
    for package in ("nmt", "service", "tests"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    monkeypatch.chdir(tmp_path)
    made = engine()
    made.stop(1)
    assert made.config.name


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[LiveServer]:
    limits = {name: options.pop(name) for name in ("silent_s", "step_s") if name in options}
    made = engine(**limits)
    with running(made, **options) as live:
        yield live
    assert made._process.poll() is not None, "no process is left behind"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with serving() as server:
        yield server


@pytest.fixture
def once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSERELLE_TEST_ONCE", str(tmp_path / "seen"))


def text_of(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    text: str = response.json()["translations"][0]["text"]
    return text


def is_ready(live: LiveServer) -> bool:
    with live.client() as client:
        return client.get("/health/ready").status_code == 200


def metric(live: LiveServer, name: str) -> float:
    return live.service.metrics.registry.get_sample_value(name, {"direction": "en-fr"}) or 0.0


def environment_of(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/environ").read_text(encoding="utf-8").split("\0"))


def test_the_engine_keeps_the_memory_of_a_step_for_the_next_unless_told_otherwise(
    live: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "MALLOC_TRIM_THRESHOLD_=134217728" in environment_of(live.scheduler.engine.pid)
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    other = engine()
    try:
        assert "MALLOC_TRIM_THRESHOLD_=131072" in environment_of(other.pid)
    finally:
        other.stop(1)


def test_jobs_of_many_clients_run_together_and_each_gets_its_own(live: LiveServer) -> None:
    texts = [f"text number {index} of many" for index in range(6)]
    with ThreadPoolExecutor(6) as pool:
        found = [text_of(answer) for answer in pool.map(lambda text: live.post({"text": text}), texts)]
    assert found == [backwards(text) for text in texts]
    assert metric(live, "passerelle_target_tokens_total") >= 30
    assert metric(live, "passerelle_queue_tokens") == 0


def test_an_error_of_one_job_is_its_own_and_names_no_text(live: LiveServer) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = [f"plain text {index}" for index in range(7)]
        bad = pool.submit(live.post, {"text": "nan CANARY"})
        others = [text_of(answer) for answer in pool.map(lambda text: live.post({"text": text}), texts)]
    assert others == [backwards(text) for text in texts]
    assert bad.result().status_code == 500
    assert "CANARY" not in bad.result().text


def test_a_killed_engine_is_back_soon_and_what_it_had_is_translated_by_the_next() -> None:
    with ThreadPoolExecutor(4) as pool, serving() as live:
        waiting = pool.submit(live.post, {"text": "a b c d e " * 10})
        eventually(lambda: live.scheduler.n_tokens > 0 and live.scheduler.n_waiting == 0)
        os.kill(live.scheduler.engine.pid, signal.SIGKILL)
        killed = time.monotonic()
        eventually(lambda: not is_ready(live), within_s=1)
        later = pool.submit(live.post, {"text": "sent meanwhile"})
        eventually(lambda: is_ready(live), within_s=10)
        back_s = time.monotonic() - killed
        assert text_of(waiting.result()) == backwards("a b c d e " * 10)
        assert text_of(later.result()) == backwards("sent meanwhile")
        assert metric(live, "passerelle_engine_restarts_total") == 1
    assert back_s < 10


@pytest.mark.usefixtures("once")
def test_a_stopped_engine_is_found_out_and_replaced() -> None:
    with ThreadPoolExecutor(2) as pool, serving() as live:
        stopped = pool.submit(live.post, {"text": "stop once"})
        eventually(lambda: not is_ready(live))
        assert text_of(stopped.result()) == backwards("stop once")
        assert is_ready(live)


def test_a_stuck_step_is_504_at_the_deadline_and_the_engine_is_replaced() -> None:
    with serving(step_s=2.0) as live:
        started = time.monotonic()
        late = live.post({"text": "hang"}, headers={"X-Request-Timeout": "0.7"})
        assert_problem(late, 504, "timeout")
        assert 0.6 < time.monotonic() - started < 1.7
        eventually(lambda: metric(live, "passerelle_engine_restarts_total") == 1, within_s=12)
        assert text_of(live.post({"text": "after that"})) == backwards("after that")


def test_over_a_request_that_kills_it_twice_the_engine_is_not_risked_again() -> None:
    with serving() as live:
        answer = live.post({"text": "die"})
        assert_problem(answer, 503, "engine-lost")
        assert int(answer.headers["retry-after"]) >= 1
        assert text_of(live.post({"text": "and on"})) == backwards("and on")
        assert metric(live, "passerelle_engine_restarts_total") == 2


def test_a_client_that_leaves_has_its_job_out_of_the_batch_within_a_second(live: LiveServer) -> None:
    body = b'{"text":"' + b"word " * 400 + b'"}'
    head = (
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n"
    )
    scheduler = live.scheduler
    with socket.create_connection(("127.0.0.1", live.port)) as connection:
        connection.sendall(head % len(body) + body)
        eventually(lambda: metric(live, "passerelle_running_sentences") == 1)
    eventually(lambda: scheduler.n_tokens == 0, within_s=1)
    eventually(lambda: metric(live, "passerelle_running_sentences") == 0, within_s=1.5)  # told twice a second


def test_a_stop_answers_all_that_was_accepted() -> None:
    with ThreadPoolExecutor(6) as pool, serving() as live:
        futures = [pool.submit(live.post, {"text": f"text {index} " * 20}) for index in range(6)]
        eventually(lambda: len(live.scheduler._requests) == 6)
        live.server.should_exit = True
        answers = [text_of(future.result()) for future in futures]
        live.thread.join(10)
    assert answers == [backwards(f"text {index} " * 20) for index in range(6)]


def test_a_stop_while_there_is_no_engine_does_not_hang() -> None:
    with serving(shutdown_timeout_s=1) as live:
        live.scheduler.engine._command = (sys.executable, "-c", "raise SystemExit(3)")
        os.kill(live.scheduler.engine.pid, signal.SIGKILL)
        eventually(lambda: not is_ready(live), within_s=1)
        started = time.monotonic()
        live.server.should_exit = True
        live.thread.join(15)
        assert time.monotonic() - started < 8


def test_an_engine_that_cannot_load_says_why() -> None:
    from nmt.errors import ModelFolderError

    start = START.model_copy(update={"model": "/nowhere/at/all"})
    with pytest.raises(ModelFolderError, match="/nowhere/at/all"):
        ProcessEngine(start, silent_s=2, step_s=5)


def test_an_error_that_is_not_ours_crosses_without_its_message() -> None:
    (crossed,) = from_engine(news([Error.of(3, ValueError("CANARY"))]))
    assert isinstance(crossed, Error)
    assert "CANARY" not in str(crossed.exception())
    assert "ValueError" in str(crossed.exception())
    odd = Error(job=1, kind="__builtins__", message="x").exception()
    assert isinstance(odd, RuntimeError)


def test_the_engine_ends_when_the_service_is_gone() -> None:
    made = engine()
    made._connection.close()
    assert made._process.wait(5) == 0
    assert threading.active_count() < 50


def test_the_engine_that_the_settings_name_is_the_one_that_decodes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load(_model: str | None, **how: str) -> None:
        asked.append(how)
        raise EngineDownError

    def start(given: Start, **_limits: float) -> None:
        with pytest.raises(EngineDownError):
            load_model(given, print)
        raise EngineDownError

    monkeypatch.setattr(Translator, "load", load)
    monkeypatch.setattr("service.main.ProcessEngine", start)
    with pytest.raises(EngineDownError):
        start_engines(["general"], Settings(device="cpu", engine="float32"))
    assert asked == [{"source": None, "target": None, "device": "cpu", "engine": "float32", "reverse": None}]


def test_the_engine_has_read_all_when_it_is_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSERELLE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tokenizer.model").write_bytes(train_tokenizer())
    save_tiny_model(tmp_path / "model", tmp_path / "tokenizer.model")
    start = START.model_copy(update={"model": str(tmp_path / "model")})
    load_model(start, print)  # makes the export that CTranslate2 searches with
    ((worker, _),) = load_model(start, print)
    (tmp_path / "model" / WEIGHTS).unlink()
    worker.add("request", [SENTENCES[0]], TranslationOptions(alignment="links"))
    events = [event for _ in range(100) for event in worker.step()]
    assert [type(event) for event in events][-1] is Finished
