"""F1 to F6 of docs/reliability.md: told to end, killed, stopped, faulty, out of descriptors and of disk."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from service.work.scheduler import estimated_tokens
from testbed.stub import backwards
from tests.nmt.conftest import SENTENCES
from tests.reliability.conftest import Record
from tests.reliability.load import Answer, Client
from tests.reliability.server import Server, eventually, in_session, serving
from tests.reliability.tiny_engine import FAULTS

N_CLIENTS = 12


def is_replaced(server: Server, engine: int) -> bool:
    return server.engines() not in ([], [engine]) and server.is_ready()


def text_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    text: str = answer.json()["translations"][0]["text"]
    return text


async def ask_until_it_ends(server: Server, stop_after: float) -> dict[str, tuple[str, Answer]]:
    """Requests without a pause; SIGTERM in their midst. Each request's text and answer, by its id."""
    found: dict[str, tuple[str, Answer]] = {}
    numbers, rng = itertools.count(), random.Random(stop_after)

    async def client() -> None:
        own = Client(server.port)
        while True:
            name, text = f"r{next(numbers)}", "word " * rng.randint(1, 40)
            answer = await own.translate(text, f"X-Request-ID: {name}\r\n")
            found[name] = text, answer
            if answer.status == 0:
                return

    async def stop() -> None:
        while len(found) < N_CLIENTS:
            await asyncio.sleep(0.01)
        await asyncio.sleep(stop_after)
        server.process.send_signal(signal.SIGTERM)

    await asyncio.gather(stop(), *(client() for _ in range(N_CLIENTS)))
    return found


@pytest.mark.parametrize("n_servers", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_f1_a_server_that_is_told_to_end_answers_what_it_has_accepted(record: Record, n_servers: int) -> None:
    rng = random.Random(1)
    n_accepted = n_after = 0
    longest_s = 0.0
    for _ in range(n_servers):
        with serving() as server:
            found = asyncio.run(ask_until_it_ends(server, rng.uniform(0.0, 1.0)))
            started = time.monotonic()
            assert server.process.wait(60) == 0
            longest_s = max(longest_s, time.monotonic() - started)
            assert in_session(server.process.pid) == []
            # what reached the application is in its log, whether its client had an answer or not
            accepted = {line["request_id"]: line["status"] for line in server.lines("request")}
        for name, status in accepted.items():
            if name in found:  # else it is a probe for readiness
                text, answer = found[name]
                assert (status, answer.status) == (200, 200), name
                assert answer.text == backwards(text)
        answered = {name for name, (_, answer) in found.items() if answer.status}
        assert answered <= accepted.keys()
        n_accepted += len(answered)
        n_after += N_CLIENTS
    assert longest_s < 30
    record(
        "F1",
        "20 random SIGTERMs: every accepted request is answered, exit 0 within 30 s, no orphans",
        lost=0,
        engine="STUB",
        sigterms=n_servers,
        requests_accepted_and_answered=n_accepted,
        longest_seconds_to_exit=round(longest_s, 2),
        processes_left=0,
    )


@pytest.mark.parametrize("n_kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_f2_a_killed_engine_is_replaced_and_its_work_done_again(
    stub: Server, record: Record, n_kills: int
) -> None:
    texts = [f"gated text {number}" for number in range(6)]
    n_tokens = sum(map(estimated_tokens, texts))
    gone_s, back_s = [], []
    with ThreadPoolExecutor(len(texts)) as pool:
        for _ in range(n_kills):
            with stub.gate_shut():
                answers = [pool.submit(stub.post, {"text": text}) for text in texts]
                eventually(lambda: stub.metric("passerelle_queue_tokens") == n_tokens)
                (engine,) = stub.engines()
                os.kill(engine, signal.SIGKILL)
                gone_s.append(eventually(lambda: not stub.is_ready() or is_replaced(stub, engine)))  # noqa: B023
                back_s.append(gone_s[-1] + eventually(lambda: is_replaced(stub, engine)))  # noqa: B023
            assert [text_of(answer.result()) for answer in answers] == [backwards(text) for text in texts]
    if n_kills > 1:
        assert max(gone_s) <= 1
        assert max(back_s) <= 10
    record(
        "F2",
        "kill -9 of the engine: not ready within 1 s, back within 10 s, retries correct",
        lost=0,
        engine="STUB",
        kills=n_kills,
        requests_in_flight=n_kills * len(texts),
        longest_seconds_until_not_ready=round(max(gone_s), 2),
        longest_seconds_until_back=round(max(back_s), 2),
    )


def test_f1_f2_of_two_models_the_other_goes_on_and_both_are_answered_at_the_end() -> None:
    english = [f"gated text {number}" for number in range(3)]
    french = [f"le gated texte numero {number}" for number in range(3)]
    with serving("stub", "en_fr", "fr_en") as server, ThreadPoolExecutor(8) as pool:
        pids = {line["model"]: line["engine_pid"] for line in server.lines("model_loaded")}
        assert sorted(pids.values()) == server.engines()
        with server.gate_shut():
            answers = {text: pool.submit(server.post, asked(text, "fr", "en")) for text in french}
            answers |= {text: pool.submit(server.post, asked(text, "en", "fr")) for text in english}
            eventually(
                lambda: server.metric("passerelle_queue_tokens") == sum(map(estimated_tokens, answers))
            )
            os.kill(pids["fr_en"], signal.SIGKILL)
            eventually(lambda: pids["fr_en"] not in server.engines())
            assert text_of(server.post(asked("a b c", "en", "fr"))) == backwards("a b c")
            eventually(lambda: len(server.engines()) == 2 and server.is_ready())
            assert pids["en_fr"] in server.engines()
            server.process.send_signal(signal.SIGTERM)
        assert {text: text_of(answer.result()) for text, answer in answers.items()} == {
            text: backwards(text) for text in answers
        }
        assert server.process.wait(60) == 0


def asked(text: str, source: str, target: str) -> dict[str, str]:
    return {"text": text, "source": source, "target": target}


@pytest.mark.parametrize("n_stops", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_f3_a_stopped_engine_is_504_at_the_deadline_and_is_replaced(
    stub: Server, record: Record, n_stops: int
) -> None:
    late_s, back_s = [], []
    for _ in range(n_stops):
        eventually(stub.is_ready)
        (engine,) = stub.engines()
        os.kill(engine, signal.SIGSTOP)
        with stub.gate_shut():
            started = time.monotonic()
            answer = stub.post({"text": "gated"}, headers={"X-Request-Timeout": "0.5"})
            late_s.append(time.monotonic() - started - 0.5)
        assert (answer.status_code, answer.json()["type"]) == (504, "urn:passerelle:problem:timeout")
        back_s.append(eventually(lambda: is_replaced(stub, engine)))  # noqa: B023
        assert text_of(stub.post({"text": "a b c"})) == backwards("a b c")
    assert min(late_s) >= 0
    if n_stops > 1:
        assert max(late_s) <= 0.5
        assert max(back_s) <= 10
    record(
        "F3",
        "SIGSTOP of the engine: 504 at the deadline, restart",
        lost=0,
        engine="STUB",
        stops=n_stops,
        longest_seconds_past_the_deadline=round(max(late_s), 2),
        longest_seconds_until_back=round(max(back_s), 2),
    )


@pytest.mark.parametrize("n_rounds", [1, pytest.param(50, marks=pytest.mark.slow)])
def test_f5_a_fault_of_one_sentence_leaves_seven_as_they_are(
    tiny: Server, record: Record, n_rounds: int
) -> None:
    sound = [text for text in SENTENCES[::2] if not any(phrase in text for phrase in FAULTS)]
    assert len(sound) == 7
    alone = {text: text_of(tiny.post({"text": text})) for text in sound}
    wrong, n_failures = 0, tiny.metric("passerelle_batch_failures_total")
    with ThreadPoolExecutor(8) as pool:
        for phrase, fault in list(FAULTS.items()) * n_rounds:
            faulty = pool.submit(tiny.post, {"text": next(text for text in SENTENCES if phrase in text)})
            answers = {text: pool.submit(tiny.post, {"text": text}) for text in sound}
            wrong += sum(text_of(answer.result()) != alone[text] for text, answer in answers.items())
            assert faulty.result().status_code == 500, fault
            assert "CANARY" not in faulty.result().text
    assert wrong == 0
    eventually(lambda: tiny.metric("passerelle_batch_failures_total") > n_failures)
    assert len(tiny.engines()) == 1
    record(
        "F5",
        "an exception, NaN or out-of-memory in 1 of 8 batched sequences: the other 7 are unchanged",
        lost=wrong,
        engine="TINY",
        batches=n_rounds * len(FAULTS),
        sound_sentences=n_rounds * len(FAULTS) * len(sound),
        batches_that_failed_as_a_whole=int(tiny.metric("passerelle_batch_failures_total") - n_failures),
    )


@pytest.fixture(scope="module")
def cramped() -> Iterator[Server]:
    """A full log disk, a working directory that nobody can write to, few descriptors."""
    with serving(folder=Path("/proc"), log=Path("/dev/full"), descriptors=60, header_timeout_s=60) as server:
        yield server


@pytest.mark.parametrize("n_times", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_f6_out_of_descriptors_and_disk_it_recovers(cramped: Server, record: Record, n_times: int) -> None:
    assert text_of(cramped.post({"text": "a b c"})) == backwards("a b c")
    assert cramped.post({"text": "fail"}).status_code == 500
    recovered_s = []
    for _ in range(n_times):
        idle = [socket.create_connection(("127.0.0.1", cramped.port)) for _ in range(80)]
        time.sleep(0.5)
        with pytest.raises(httpx.TransportError), cramped.client() as client:
            client.get("/health/live", timeout=1)
        for connection in idle:
            connection.close()
        recovered_s.append(eventually(lambda: answers(cramped)))
    (engine,) = cramped.engines()
    os.kill(engine, signal.SIGKILL)  # those who watch over it write log lines too
    eventually(lambda: cramped.engines() not in ([], [engine]))
    assert text_of(cramped.post({"text": "a b c"})) == backwards("a b c")
    record(
        "F6",
        "descriptors exhausted, log disk full, read-only working directory: recovers",
        lost=0,
        engine="STUB",
        times_without_descriptors=n_times,
        log="/dev/full",
        working_directory="/proc",
        longest_seconds_to_recover=round(max(recovered_s), 2),
    )


def test_f6_a_cramped_server_ends_with_success(cramped: Server) -> None:
    assert cramped.stop() == 0


def answers(server: Server) -> bool:
    try:
        return server.post({"text": "a b c"}).status_code == 200
    except httpx.TransportError:
        return False
