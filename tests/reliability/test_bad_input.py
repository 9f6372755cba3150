"""B1, B2, B4 and B5 of docs/reliability.md: what no client should send."""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.app import create_app
from service.settings import Settings
from testbed.stub import StubTranslator, backwards
from tests.reliability.conftest import FULL, Record
from tests.reliability.server import Server, serving
from tests.service.calls.test_auth import PUBLIC, Wire, routes, tricks

CANARY = "xylophonequartz"
NAUGHTY: list[str] = json.loads((Path(__file__).parent / "data" / "blns.json").read_text(encoding="utf-8"))
PROBLEM = {"type", "title", "status", "detail"}
slow = pytest.mark.slow

TEXTS = st.text(
    st.one_of(st.characters(), st.characters(categories=["Cs", "Cc", "Cf", "Co", "Mn"])), max_size=60
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
FIELDS = {
    "text": TEXTS | st.lists(TEXTS, max_size=3) | JSON_VALUES,
    "source": st.sampled_from(["en", "auto", "de"]) | JSON_VALUES,
    "target": st.just("fr") | JSON_VALUES,
    "alignment": st.sampled_from(["none", "links", "soft"]) | JSON_VALUES,
    "beam_size": st.integers(-1, 20) | JSON_VALUES,
    "n_best": st.integers(-1, 20) | JSON_VALUES,
    "length_penalty": st.floats() | JSON_VALUES,
    "markup": st.sampled_from(["html", "xml"]) | JSON_VALUES,
    "glossary": st.lists(st.fixed_dictionaries({"source": TEXTS, "target": TEXTS})) | JSON_VALUES,
}
BODIES = st.fixed_dictionaries({}, optional=FIELDS) | JSON_VALUES


def generated(n_examples: int) -> settings:
    """The same examples at every run."""
    return settings(
        max_examples=n_examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def post(client: httpx.Client, body: Any) -> httpx.Response:
    return client.post("/translate", content=json.dumps(body), headers={"content-type": "application/json"})


def test_b1_no_body_makes_the_server_fail(stub: Server) -> None:
    with stub.client() as client:

        @generated(60)
        @given(BODIES)
        def check(body: Any) -> None:
            answer = post(client, body)
            assert answer.status_code < 500
            assert answer.status_code == 200 or answer.json().keys() >= PROBLEM

        check()


@slow
def test_b1_schemathesis_finds_no_failure(record: Record) -> None:
    """Of the description: 1,000 examples of each operation, valid and invalid, in all phases."""
    program = shutil.which(
        "schemathesis", path=f"{Path(sys.executable).parent}:{Path.cwd()}"
    ) or shutil.which("schemathesis")
    assert program, "schemathesis is not installed: run pip install 'passerelle[reliability]'"
    with serving(**FULL) as server:
        operations = sum(len(methods) for methods in server.get("/openapi.json").json()["paths"].values())
        done = subprocess.run(
            [
                program, "run", f"{server.url}/openapi.json", "--max-examples", "1000", "--mode", "all",
                "--phases", "examples,coverage,fuzzing,stateful", "--checks", "not_a_server_error",
                "--seed", "1", "--no-color",
            ],
            cwd=server.data, capture_output=True, text=True, check=False, timeout=3600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-4000:]
        requests = server.lines("request")
    failures = [line for line in requests if line["status"] >= 500]
    assert failures == []
    record(
        "B1",
        "schemathesis, positive and negative, all phases, 1,000 examples an operation: no 5xx",
        lost=len(failures),
        engine="STUB",
        operations=operations,
        requests=len(requests),
        summary=[
            line.strip() for line in done.stdout.splitlines() if re.search(r"generated|passed|phases?:", line)
        ],
    )


@pytest.mark.parametrize("n_texts", [80, pytest.param(20_000, marks=slow)])
def test_b2_any_text_has_a_valid_answer_and_none_is_echoed(
    request: pytest.FixtureRequest, record: Record, n_texts: int
) -> None:
    statuses: dict[int, int] = {}
    with contextlib.ExitStack() as stack:
        full = n_texts > 1000
        server = stack.enter_context(serving(**FULL)) if full else request.getfixturevalue("stub")
        client = stack.enter_context(server.client())

        def check_one(text: str) -> None:
            answer = post(client, {"text": text})
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            if any("\ud800" <= character <= "\udfff" for character in text):
                assert answer.status_code == 422
            else:
                assert answer.status_code == 200
                assert answer.json()["translations"][0]["text"] == backwards(text)
            if answer.status_code != 200:
                assert answer.json().keys() >= PROBLEM
                assert CANARY not in answer.text + str(answer.headers)

        @generated(n_texts)
        @given(TEXTS, TEXTS)
        def check(before: str, after: str) -> None:
            check_one(before + CANARY + after)

        check()
        if full:
            for text in NAUGHTY:
                check_one(text)
        else:
            for first in range(0, len(NAUGHTY), 97):
                texts = NAUGHTY[first : first + 97]
                found = post(client, {"text": texts}).json()["translations"]
                assert [translation["text"] for translation in found] == list(map(backwards, texts))
        assert CANARY not in server.log.read_text(encoding="utf-8")
    record(
        "B2",
        "20,000 Hypothesis texts (with explicit surrogates) and the Big List of Naughty Strings: a valid "
        "status, nothing echoed",
        lost=0,
        engine="STUB",
        texts=n_texts,
        naughty_strings=len(NAUGHTY),
        statuses={str(status): n for status, n in sorted(statuses.items())},
    )


def talk(port: int, parts: Iterator[bytes]) -> tuple[int, dict[str, Any]]:
    """Send bytes; status and body of the one answer. A server that has closed early has answered before."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass
        received = b""
        while b"\r\n\r\n" not in received or not received.endswith(b"}"):
            part = connection.recv(65536)
            if not part:
                break
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def oversized(rng: random.Random) -> tuple[set[int], Iterator[bytes]]:
    """The statuses that are right for a request that is too large somewhere, and its bytes."""
    post = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    n_bytes = rng.randint(17_000, 200_000)
    kind = rng.randrange(5)
    if kind == 0:
        return {400, 431}, iter([post + b"X-Long: " + b"a" * n_bytes + b"\r\n\r\n"])
    if kind == 1:
        headers = b"".join(b"X-%d: b\r\n" % number for number in range(n_bytes // 8))
        return {400, 431}, iter([post + headers + b"\r\n"])
    if kind == 2:
        return {400, 431}, iter([b"GET /" + b"a" * n_bytes + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"])
    size = 1_000_001 + n_bytes
    body = b'{"text":"' + b"a" * (size - 11) + b'"}'
    if kind == 3:
        return {413}, iter([post + b"Content-Length: %d\r\n\r\n" % size, body])
    chunks = [
        b"%x\r\n%s\r\n" % (len(body[i : i + n_bytes]), body[i : i + n_bytes]) for i in range(0, size, n_bytes)
    ]
    return {413}, iter([post + b"Transfer-Encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n"])


@pytest.mark.parametrize("n_requests", [15, pytest.param(1000, marks=slow)])
def test_b4_what_is_too_large_is_refused_in_one_shape(stub: Server, record: Record, n_requests: int) -> None:
    rng = random.Random(4)
    statuses: dict[int, int] = {}
    for _ in range(n_requests):
        right, parts = oversized(rng)
        status, problem = talk(stub.port, parts)
        assert status in right
        assert problem.keys() - {"request_id"} == PROBLEM
        statuses[status] = statuses.get(status, 0) + 1
    assert stub.post({"text": "a b"}).status_code == 200
    record(
        "B4",
        "headers over 16 KiB: 400 or 431; oversize body (Content-Length and chunked): 413, all in one shape",
        lost=0,
        engine="STUB",
        requests=n_requests,
        statuses={str(status): n for status, n in sorted(statuses.items())},
    )


@slow
def test_b5_no_trick_reaches_a_handler_without_a_key(record: Record) -> None:
    """Every route, over 50 tricks each; the short form, around a server in a thread, is in test_auth.py."""
    app = create_app(Settings(keys="required", database_url="sqlite://"), StubTranslator())
    guarded = sorted({(path, method) for path, method in routes(app) if path not in PUBLIC})
    app.state.service.database.close()
    statuses: dict[int, int] = {}
    with serving(keys="required", test_tell_handlers=1) as server:
        wire = Wire(server.port)
        for path, method in guarded:
            for target, headers in tricks(re.sub(r"\{\w+\}", "x", path)):
                status = wire.ask(method, target, headers)
                statuses[status] = statuses.get(status, 0) + 1
        wire.close()
        reached = set(re.findall(r"^handler (.*)$", server.log.read_text(encoding="utf-8"), re.MULTILINE))
    assert reached <= PUBLIC
    record(
        "B5",
        "every route x 50 Host and path tricks without a key: none reaches a handler when keys are on",
        lost=len(reached - PUBLIC),
        engine="STUB",
        routes=len(guarded),
        tricks_a_route=len(list(tricks("/x"))),
        requests=sum(statuses.values()),
        statuses={str(status): n for status, n in sorted(statuses.items())},
    )
