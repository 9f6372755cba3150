"""Every error is a problem, names the limit and the next step, and repeats nothing of the request."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from nmt.errors import ConfigError, NumericalError
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, eventually, running

CANARY = "xylophonequartz"
JSON = {"content-type": "application/json"}


def assert_problem(response: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["type"] == f"urn:passerelle:problem:{kind}"
    assert problem["title"]
    assert problem["detail"].endswith((".", "?"))
    assert problem["request_id"] == response.headers["x-request-id"]
    assert CANARY not in response.text
    return problem


@pytest.fixture(scope="module")
def strict() -> Iterator[LiveServer]:
    limits = {
        "max_body_bytes": 5_000,
        "max_texts": 3,
        "max_text_characters": 40,
        "max_request_characters": 60,
        "max_beam_size": 6,
    }
    with running(StubTranslator(failure=_failure), **limits) as server:
        yield server


def _failure(text: str) -> Exception | None:
    kinds = {"crash": RuntimeError, "nan": NumericalError, "config": ConfigError}
    for word, kind in kinds.items():
        if text.startswith(word):
            # A bug in a library may well quote the text; ConfigError is ours and never does.
            return kind("no attention" if kind is ConfigError else f"cannot translate {text}")
    return None


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "text: Field required"),
        ({"text": 3}, "text: Input should be a valid string, or: Input should be a valid list"),
        ({"text": None}, "text"),
        ({"text": ["a", 3]}, "body.text.1"),
        ({"text": "a", "beam": 3, CANARY: 1}, "did you mean 'beam_size'?"),
        ({"text": "a", "alignment": CANARY}, "'none', 'links', 'soft' or 'heads'"),
        ({"text": "a", "beam_size": 0}, "body.beam_size: Input should be greater than or equal to 1"),
        ({"text": "a", "beam_size": "3"}, "body.beam_size"),
        ({"text": "a", "beam_size": True}, "body.beam_size"),
        ({"text": "a", "n_best": 10**30}, "body.n_best"),
        ({"text": "a", "length_penalty": 6}, "body.length_penalty"),
        ({"text": "a", "source": "e" * 21}, "body.source"),
        ([], "body"),
        (CANARY, "body"),
    ],
)
def test_an_invalid_request_names_the_field_and_the_rule(live: LiveServer, body: object, named: str) -> None:
    problem = assert_problem(live.post(body), 422, "invalid-request")

    assert named in problem["detail"]
    assert all(set(error) == {"field", "message"} for error in problem["errors"])


@pytest.mark.parametrize(
    "body",
    [
        f'{{"text": "{CANARY}\\ud800"}}',
        f'{{"text": ["{CANARY}", "\\udfff{CANARY}"]}}',
        f'{{"text": "{CANARY}", "source": "e\\ud800n"}}',
        f'{{"text": "{CANARY}", "\\ud800{CANARY}": 1}}',
        f'{{"text": "{CANARY}", "length_penalty": NaN}}',
        f'{{"text": "{CANARY}", "length_penalty": -Infinity}}',
        f'{{"text": "{CANARY}", "beam_size": NaN}}',
        f'{{"text": "{CANARY}"',
    ],
)
def test_surrogates_nan_and_broken_json_are_the_clients_errors(live: LiveServer, body: str) -> None:
    with live.client() as client:
        assert_problem(client.post("/translate", content=body, headers=JSON), 422, "invalid-request")


@pytest.mark.parametrize("body", [b"\xff\xfe{", b"[" * 100_000, b'{"text": ' + b"9" * 5_000 + b"}"])
def test_what_cannot_be_decoded_is_400(live: LiveServer, body: bytes) -> None:
    with live.client() as client:
        assert_problem(client.post("/translate", content=body, headers=JSON), 400, "bad-request")


def test_a_list_of_a_thousand_errors_names_ten(live: LiveServer) -> None:
    problem = assert_problem(live.post({"text": [0] * 1000}), 422, "invalid-request")

    assert "1000 places" in problem["detail"]
    assert len(problem["errors"]) == 10


@pytest.mark.parametrize(
    ("body", "status", "kind", "named"),
    [
        ({"text": []}, 422, "invalid-input", "empty list"),
        ({"text": ["a"] * 4}, 413, "text-too-long", "4 texts in one request; the limit is 3"),
        ({"text": ["a", CANARY * 3]}, 413, "text-too-long", "Text 1 has 45 characters; the limit is 40"),
        ({"text": [CANARY * 2] * 3}, 413, "text-too-long", "90 characters together; the limit is 60"),
        ({"text": "a", "source": "de"}, 422, "unsupported-language", "from en to fr only"),
        ({"text": "a", "target": CANARY}, 422, "unsupported-language", "from en to fr only"),
        (
            {"text": "a", "beam_size": 7},
            422,
            "invalid-input",
            "beam_size 7 is over the limit of this server, 6",
        ),
        ({"text": "a", "n_best": 7}, 422, "invalid-input", "n_best 7 is over the limit"),
        (
            {"text": "a", "n_best": 3, "beam_size": 2},
            422,
            "invalid-input",
            "n_best 3 is larger than beam_size 2",
        ),
        ({"text": "config"}, 422, "invalid-option", "No attention."),
        ({"text": f"crash {CANARY}"}, 500, "internal-error", "under this request id"),
        ({"text": f"nan {CANARY}"}, 500, "internal-error", "under this request id"),
    ],
)
def test_a_refusal_names_the_limit(
    strict: LiveServer, body: dict[str, object], status: int, kind: str, named: str
) -> None:
    assert named in assert_problem(strict.post(body), status, kind)["detail"]


def test_texts_at_the_limits_are_translated(strict: LiveServer) -> None:
    assert strict.post({"text": ["a" * 40, "b" * 19, "c"], "beam_size": 6}).status_code == 200


def test_a_body_over_the_limit_is_413_announced_or_not(strict: LiveServer) -> None:
    body = json.dumps({"text": "a" * 6_000}).encode()

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(body), 500):
            yield body[start : start + 500]

    with strict.client() as client:
        for content in (body, chunks()):
            response = client.post("/translate", content=content, headers=JSON)
            assert "5000 bytes" in assert_problem(response, 413, "body-too-large")["detail"]


def test_a_huge_announced_body_is_refused_before_it_is_sent(strict: LiveServer) -> None:
    answer = talk(
        strict,
        b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 999999999999\r\nExpect: 100-continue\r\n\r\n",
    )

    assert answer.startswith(b"HTTP/1.1 413")
    assert b"body-too-large" in answer


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "json", ""])
def test_a_body_that_is_not_declared_json_is_415(live: LiveServer, content_type: str) -> None:
    with live.client() as client:
        response = client.post("/translate", content=b'{"text":"a"}', headers={"content-type": content_type})
    assert_problem(response, 415, "not-json")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON", "application/x+json"]
)
def test_a_body_that_is_declared_json_is_read(live: LiveServer, content_type: str) -> None:
    with live.client() as client:
        response = client.post("/translate", content=b'{"text":"ab"}', headers={"content-type": content_type})
    assert response.json()["translations"][0]["text"] == "ba"


@pytest.mark.parametrize(
    "path", [f"/{CANARY}", "/translate/", "/static/..%2fapp.py", "/static/%00", "/docs/"]
)
def test_an_unknown_address_is_404(live: LiveServer, path: str) -> None:
    with live.client() as client:
        assert_problem(client.get(path), 404, "not-found")


def test_a_wrong_method_is_405_and_names_the_right_one(live: LiveServer) -> None:
    with live.client() as client:
        response = client.get("/translate")
        assert_problem(response, 405, "method-not-allowed")
        assert response.headers["allow"] == "POST"
        assert_problem(client.request(CANARY.upper(), "/health/live"), 405, "method-not-allowed")


def test_what_is_not_http_and_headers_over_16_kib_are_problems(live: LiveServer) -> None:
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nA: "
    many = b"".join(b"a%d: b\r\n" % number for number in range(3000))
    for request, status, kind in (
        (b"nonsense\r\n\r\n", 400, "bad-http"),
        (head + b"a" * 200_000 + b"\r\n\r\n", 431, "headers-too-large"),
        (head + b"a" * 17_000 + b"\r\n\r\n", 431, "headers-too-large"),  # arrives in one piece
        (head + b"a\r\n" + many + b"\r\n", 431, "headers-too-large"),
        (b"GET /" + b"a" * 17_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431, "headers-too-large"),
    ):
        answer = talk(live, request)
        assert answer.startswith(b"HTTP/1.1 %d" % status)
        assert b"application/problem+json" in answer
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["type"] == f"urn:passerelle:problem:{kind}"
    assert talk(live, head + b"a" * 15_000 + b"\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_a_body_that_nobody_reads_has_a_deadline() -> None:
    with running(StubTranslator(), header_timeout_s=0.3) as live:
        with socket.create_connection(("127.0.0.1", live.port), timeout=5) as connection:
            connection.sendall(
                b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\na"
            )
            received = b""
            while part := connection.recv(65536):
                received += part
        assert received.startswith(b"HTTP/1.1 404")


def test_an_answer_that_nobody_reads_is_given_up() -> None:
    with running(StubTranslator(), write_timeout_s=0.3, max_texts=1000) as live:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", live.port))
        body = json.dumps({"text": ["a " * 20] * 1000, "alignment": "soft"}).encode()
        head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with connection:
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            eventually(lambda: live.server.server_state.total_requests == 1, within_s=30)
            eventually(lambda: not live.server.server_state.connections)


def test_slow_heads_and_slow_bodies_have_a_deadline() -> None:
    with running(StubTranslator(), header_timeout_s=0.3, body_timeout_s=0.3) as live:
        assert talk(live, b"GET / HT") == b"", "a head that never ends: the connection is closed"
        assert talk(live, b"") == b""
        answer = talk(
            live,
            b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{",
        )
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"body-too-slow" in answer


def test_a_kept_connection_outlives_the_deadline_for_heads() -> None:
    with running(StubTranslator(), header_timeout_s=0.2) as live, live.client() as client:
        for _ in range(2):
            assert client.get("/health/live").status_code == 200
            (connection,) = client._transport._pool.connections  # type: ignore[attr-defined]
            assert connection.is_idle()
            time.sleep(0.4)
        assert live.server.server_state.total_requests == 2
        assert len(live.server.server_state.connections) == 1, "one connection served both, and is open still"


def test_a_translation_that_takes_too_long_is_504() -> None:
    translator = StubTranslator(delay_s=0.6)
    with running(translator, request_timeout_s=0.2) as live:
        assert_problem(live.post({"text": CANARY}), 504, "timeout")


def talk(live: LiveServer, request: bytes) -> bytes:
    """Send bytes as they are; all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", live.port), timeout=60) as connection:
        connection.sendall(request)
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
                head, blank, body = received.partition(b"\r\n\r\n")
                if blank and len(body) >= int(head.lower().partition(b"content-length: ")[2].split()[0]):
                    break
        except ConnectionResetError:
            pass
        return received
