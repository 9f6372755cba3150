"""L1 to L3 and L6 to L8 of docs/reliability.md: much work, too much, unfairly much, unwanted, long and mixed.

The short forms measure in steps of the engine, not in seconds: no busy machine stretches those.
"""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections.abc import Iterator

import pytest

from service.work.scheduler import estimated_tokens
from testbed.stub import backwards
from tests.nmt.conftest import SENTENCES
from tests.reliability.conftest import Record
from tests.reliability.load import Answer, Client, closed_loop, percentile
from tests.reliability.server import Server, eventually, serving
from tests.reliability.stub_engine import SLOTS

RESTS_S = 3.0
"""Memory is read at rest: an engine gives free memory back when it has had nothing to do for a second."""


def words(rng: random.Random, n_words: int) -> str:
    return " ".join(rng.choice(SENTENCES).split()[0] for _ in range(n_words))


def test_l1_under_steady_load_nothing_fails_and_nobody_waits_long(stub: Server) -> None:
    rng = random.Random(1)
    texts = [words(rng, rng.randint(8, 12)) for _ in range(100)]

    found = asyncio.run(closed_loop(stub.port, texts, n_clients=20))

    assert [(answer.status, answer.text) for _, answer in found] == [
        (200, backwards(str(text))) for text, _ in found
    ]
    steps = [answer.steps for _, answer in found]
    assert percentile(steps, 0.99) <= 3 * percentile(steps, 0.5)


def test_l2_overload_is_refused_in_order_and_what_is_taken_is_not_slower_for_it(stub: Server) -> None:
    filling = ["word" * 4990 + " gated"] * 2  # 9,984 tokens: there is room for six and a bit

    async def measure() -> tuple[list[Answer], list[Answer]]:
        large = [asyncio.create_task(Client(stub.port).translate(filling)) for _ in range(6)]
        await asyncio.to_thread(eventually, lambda: stub.metric("passerelle_queue_tokens") > 59_000)
        refused = await closed_loop(stub.port, [filling] * 30, n_clients=10)
        taken = await closed_loop(stub.port, ["a b c d e f g h"] * 10, n_clients=2)
        for task in large:
            task.cancel()
        return [answer for _, answer in refused], [answer for _, answer in taken]

    before = stub.metric("passerelle_rejected_requests_total")
    with stub.gate_shut():
        refused, taken = asyncio.run(measure())
        eventually(lambda: stub.metric("passerelle_queue_tokens") == 0)

    assert [answer.status for answer in refused] == [429] * 30
    assert all(1 <= int(answer.headers["retry-after"]) <= 60 for answer in refused)
    assert stub.metric("passerelle_rejected_requests_total") - before == 30
    assert [answer.status for answer in taken] == [200] * 10
    assert max(answer.steps for answer in taken) <= 3 * 8


def test_l3_a_short_text_does_not_wait_for_long_ones(tiny: Server) -> None:
    short, large = "Where is the train station?", [" ".join(SENTENCES) * 2] * 3

    async def measure() -> tuple[list[int], list[int]]:
        client = Client(tiny.port)
        alone = [(await client.translate(short)).steps for _ in range(3)]
        background = asyncio.create_task(closed_loop(tiny.port, [large] * 10_000, n_clients=8))
        beside = [(await client.translate(short)).steps for _ in range(12)]
        client.close()
        background.cancel()
        await asyncio.wait([background])
        return alone, beside

    alone, beside = asyncio.run(measure())

    assert percentile(beside, 0.5) <= 3 * percentile(alone, 0.5)


@pytest.mark.parametrize("n_clients", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_l6_who_leaves_has_left_the_batch(stub: Server, record: Record, n_clients: int) -> None:
    body = b'{"text":"one gated text"}'
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    n_tokens = n_clients * estimated_tokens("one gated text")
    with stub.gate_shut():
        connections = [socket.create_connection(("127.0.0.1", stub.port)) for _ in range(n_clients)]
        for connection in connections:
            connection.sendall(head + body)
        eventually(lambda: stub.metric("passerelle_queue_tokens") == n_tokens)
        eventually(lambda: stub.metric("passerelle_running_sentences") == min(n_clients, SLOTS))
        dropped = stub.metric("passerelle_dropped_requests_total")
        for connection in connections:
            connection.close()
        seconds = eventually(lambda: stub.metric("passerelle_queue_tokens") == 0)
        in_batch_s = seconds + eventually(lambda: stub.metric("passerelle_running_sentences") == 0)

    assert stub.metric("passerelle_dropped_requests_total") - dropped == n_clients
    assert stub.post({"text": "one two"}).json()["translations"][0]["score"] >= -0.005, "the batch is empty"
    if n_clients == 100:
        assert seconds <= 1.0, "what is seen of the batch is told twice a second only"
    record(
        "L6",
        "100 clients that leave: their sequences are out of the batch within 1 s",
        lost=0,
        clients=n_clients,
        seconds_until_not_admitted=round(seconds, 2),
        seconds_until_seen_out_of_the_batch=round(in_batch_s, 2),
    )


def test_l7_memory_does_not_grow(tiny: Server) -> None:
    _growth(tiny, 30)


@pytest.mark.slow
def test_l7_memory_does_not_grow_in_20000_requests(record: Record) -> None:
    n_requests = 20_000
    with serving("real") as server:
        found = _growth(server, n_requests)
    record(
        "L7",
        "20,000 requests of mixed length: memory growth <= 30 MB in all, no worker recycling",
        lost=0,
        requests=n_requests,
        **found,
    )


def _growth(server: Server, n_requests: int) -> dict[str, float]:
    """Check that memory stays what it was; what was measured."""
    rng = random.Random(7)

    def texts(n: int) -> Iterator[str | list[str]]:
        for _ in range(n):
            kind = rng.random()
            if kind < 0.8:
                yield words(rng, rng.randint(1, 12))
            elif kind < 0.95:
                yield [words(rng, rng.randint(1, 8)) for _ in range(rng.randint(2, 6))]
            else:
                yield words(rng, 120)

    asyncio.run(
        closed_loop(server.port, texts(max(30, n_requests // 20)), n_clients=16)
    )  # caches fill, pools grow
    time.sleep(RESTS_S)
    before, processes = server.resident_bytes(), server.engines()
    started = time.monotonic()
    found = asyncio.run(closed_loop(server.port, texts(n_requests), n_clients=16))
    seconds = time.monotonic() - started

    time.sleep(RESTS_S)
    grown = server.resident_bytes() - before
    assert {answer.status for _, answer in found} == {200}
    assert len(found) == n_requests
    assert server.engines() == processes, "no process was replaced"
    assert grown <= 30e6
    return {
        "grown_mb": round(grown / 1e6, 1),
        "anonymous_memory_before_mb": round(before / 1e6, 1),
        "requests_per_second": round(n_requests / seconds, 1),
    }


@pytest.mark.parametrize("n_sentences", [12, pytest.param(1000, marks=pytest.mark.slow)])
def test_l8_alone_or_in_any_batch_the_translation_is_the_same(
    tiny: Server, record: Record, n_sentences: int
) -> None:
    rng = random.Random(8)
    texts = [f"{words(rng, rng.randint(1, 14))} {number}." for number in range(n_sentences)]

    def translations(n_clients: int, order: list[str]) -> dict[str, str]:
        found = asyncio.run(closed_loop(tiny.port, order, n_clients))
        assert {answer.status for _, answer in found} == {200}
        return {str(text): answer.text for text, answer in found}

    alone = translations(1, texts)
    differ = 0
    for n_clients in (7, 32):
        together = translations(n_clients, rng.sample(texts, len(texts)))
        differ += sum(alone[text] != together[text] for text in texts)
    batch = tiny.post({"text": texts[:100]}).json()["translations"]
    differ += sum(alone[text] != found["text"] for text, found in zip(texts, batch, strict=False))

    assert differ == 0
    record(
        "L8",
        "1,000 sentences: translated alone = translated in any batch, 100 % (fp32 CPU)",
        lost=differ,
        engine="TINY",
        sentences=n_sentences,
        batches="1, 7 and 32 clients, and 100 texts in one request",
    )
