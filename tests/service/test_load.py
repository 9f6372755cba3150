"""The service under load and at its end: overflow, clients that leave, errors in a batch, shutdown."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from service.database.records import KeyLimits
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem


def occupy(live: LiveServer, pool: ThreadPoolExecutor) -> None:
    """Shut the gate with a request behind it: the model is busy until the gate opens."""
    live.translator.gate.clear()
    live.translator.entered.clear()
    pool.submit(live.post, {"text": "first"})
    assert live.translator.entered.wait(5)


def waiting(live: LiveServer) -> int:
    """Requests in the engine's queue: one that was admitted a moment ago may not be there yet."""
    requests = list(live.scheduler._requests.values())
    return sum(request.is_sent and not request.has_begun for request in requests)


def test_a_full_queue_is_429_with_whole_seconds_to_wait() -> None:
    with ThreadPoolExecutor(8) as pool, running(StubTranslator(), queue_max_requests=2) as live:
        occupy(live, pool)
        kept = [pool.submit(live.post, {"text": f"text {i}"}) for i in range(2)]
        eventually(lambda: waiting(live) == 2)

        refused = live.post({"text": "one too many"})

        assert_problem(refused, 429, "queue-full")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert f"{refused.headers['retry-after']} seconds" in refused.json()["detail"]
        live.translator.gate.set()
        assert [future.result().status_code for future in kept] == [200, 200]
        assert live.post({"text": "later"}).status_code == 200


def test_a_full_queue_is_429_before_a_body_is_read_and_in_the_shape_of_each_dialect() -> None:
    with ThreadPoolExecutor(8) as pool, running(StubTranslator(), queue_max_requests=1) as live:
        occupy(live, pool)
        kept = pool.submit(live.post, {"text": "kept"})
        eventually(lambda: waiting(live) == 1)

        with live.client() as client:
            unread = client.post("/translate", content=b"no JSON", headers={"content-type": "text/plain"})
            deepl = client.post("/v2/translate", json={"text": ["one too many"], "target_lang": "FR"})
            others = [client.get(path).status_code for path in ("/languages", "/translate", "/health/live")]
            counted = client.get("/metrics").text

        assert_problem(unread, 429, "queue-full")
        assert 1 <= int(unread.headers["retry-after"]) <= 60
        assert (deepl.status_code, deepl.json().keys()) == (529, {"message", "detail"})
        assert others == [200, 405, 200]
        assert 'passerelle_requests_total{method="POST",route="/translate",status="429"} 1.0' in counted
        assert 'passerelle_requests_total{method="POST",route="/v2/translate",status="529"} 1.0' in counted
        live.translator.gate.set()
        assert kept.result().status_code == 200
        assert live.post({"text": "later"}).status_code == 200


def test_a_key_is_asked_for_before_it_is_told_that_the_queue_is_full() -> None:
    with (
        ThreadPoolExecutor(8) as pool,
        running(StubTranslator(), keys="required", queue_max_requests=1) as live,
    ):
        _, key = live.service.database.keys.create("one", KeyLimits())
        known = {"Authorization": f"Bearer {key}"}
        live.translator.gate.clear()
        kept = [pool.submit(live.post, {"text": "kept"}, headers=known)]
        assert live.translator.entered.wait(5)
        kept.append(pool.submit(live.post, {"text": "kept"}, headers=known))
        eventually(lambda: waiting(live) == 1)

        assert live.post({"text": "a stranger's"}).status_code == 401
        assert live.post({"text": "one too many"}, headers=known).status_code == 429
        live.translator.gate.set()
        assert [future.result().status_code for future in kept] == [200, 200]


def test_a_client_that_leaves_takes_its_request_out_of_the_queue() -> None:
    with ThreadPoolExecutor(8) as pool, running(StubTranslator()) as live:
        occupy(live, pool)
        body = b'{"text":"left"}'
        head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", live.port)) as connection:
            connection.sendall(head + b"Content-Length: 15\r\n\r\n" + body)
            eventually(lambda: waiting(live) == 1)
        eventually(lambda: waiting(live) == 0)
        live.translator.gate.set()
        live.post({"text": "next"})

    assert live.translator.calls == [["first"], ["next"]]
    assert (
        live.service.metrics.registry.get_sample_value(
            "passerelle_dropped_requests_total", {"direction": "en-fr"}
        )
        == 1
    )
    left = {"route": "/translate", "method": "POST", "status": "499"}
    assert live.service.metrics.registry.get_sample_value("passerelle_requests_total", left) == 1


def test_waiting_requests_share_a_call_and_an_error_stays_with_its_own() -> None:
    translator = StubTranslator(failure=lambda text: RuntimeError(text) if text == "bad" else None)
    with ThreadPoolExecutor(8) as pool, running(translator) as live:
        occupy(live, pool)
        texts = ["one", "bad", "two", "three"]
        futures = [pool.submit(live.post, {"text": text}) for text in texts]
        eventually(lambda: waiting(live) == 4)
        translator.gate.set()
        answers = {text: future.result() for text, future in zip(texts, futures, strict=True)}

    assert sorted(translator.calls[1]) == sorted(texts)
    assert_problem(answers.pop("bad"), 500, "internal-error")
    for text, answer in answers.items():
        assert answer.json()["translations"][0]["text"] == backwards(text)


def test_four_times_overload_gives_only_200_and_429() -> None:
    with ThreadPoolExecutor(16) as pool, running(StubTranslator(delay_s=0.02), queue_max_requests=4) as live:
        # Options differ, so that nothing rides along.
        futures = [pool.submit(live.post, {"text": f"text {i}", "length_penalty": i / 10}) for i in range(48)]
        answers = [(i, future.result()) for i, future in enumerate(futures)]

    statuses = [answer.status_code for _, answer in answers]
    assert set(statuses) == {200, 429}
    for i, answer in answers:
        if answer.status_code == 200:
            assert answer.json()["translations"][0]["text"] == backwards(f"text {i}")
        else:
            assert int(answer.headers["retry-after"]) >= 1


def test_health_and_metrics_answer_while_the_model_is_busy() -> None:
    with ThreadPoolExecutor(2) as pool, running(StubTranslator(), request_timeout_s=0.2) as live:
        occupy(live, pool)
        with live.client() as client:
            assert client.get("/health/live").json() == {"status": "ok"}
            assert client.head("/health/live").status_code == 200
            assert client.get("/metrics").status_code == 200
            eventually(lambda: client.get("/health/ready").status_code == 503)
            assert_problem(client.get("/health/ready"), 503, "not-ready")
            live.translator.gate.set()
            eventually(lambda: client.get("/health/ready").status_code == 200)


def test_shutdown_answers_what_was_accepted() -> None:
    with ThreadPoolExecutor(8) as pool, running(StubTranslator(delay_s=0.1)) as live:
        occupy(live, pool)
        futures = [pool.submit(live.post, {"text": f"text {i}", "beam_size": i + 1}) for i in range(4)]
        eventually(lambda: waiting(live) == 4)
        live.server.should_exit = True
        threading.Timer(0.2, live.translator.gate.set).start()
        answers = [future.result() for future in futures]
        live.thread.join(10)

    assert [answer.json()["translations"][0]["text"] for answer in answers] == [
        backwards(f"text {i}") for i in range(4)
    ]
    assert not live.thread.is_alive()
    assert not live.scheduler.engine._thread.is_alive()


def test_shutdown_does_not_wait_for_ever_for_a_stuck_model() -> None:
    with ThreadPoolExecutor(4) as pool, running(StubTranslator(), shutdown_timeout_s=1) as live:
        occupy(live, pool)
        future = pool.submit(live.post, {"text": "never", "beam_size": 2})
        eventually(lambda: waiting(live) == 1)
        started = time.monotonic()
        live.server.should_exit = True
        live.thread.join(15)
        assert not live.thread.is_alive()
        assert time.monotonic() - started < 10
        live.translator.gate.set()
        with contextlib.suppress(httpx.HTTPError):  # the connection may have been cut
            assert future.result().status_code in (500, 503)
