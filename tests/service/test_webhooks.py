"""Webhooks: signed, tried again, and never sent into a private network."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import ipaddress
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from nmt.errors import InputError
from service.calls import webhooks
from service.calls.webhooks import is_allowed, resolve, signature, webhook_of
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem
from tests.service.test_jobs_route import LINES, finished, get, jsonl

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
LOOPBACK = {"webhook_networks": "127.0.0.0/8", "webhook_retry_s": 0.01}


class Receiver:
    """A server on the loopback interface that keeps what it gets and answers with ``statuses`` in turn."""

    def __init__(self, *statuses: int) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        left = list(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:  # noqa: N805
                body = handler.rfile.read(int(handler.headers["content-length"]))
                headers = {name.lower(): value for name, value in handler.headers.items()}
                self.got.append((handler.path, headers, body))
                handler.send_response(left.pop(0) if left else 200)
                handler.send_header("Location", f"{self.url}/elsewhere")
                handler.send_header("Content-Length", "0")
                handler.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    @contextlib.contextmanager
    def running(self) -> Iterator[Receiver]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def send(live: LiveServer, url: str, secret: str = SECRET) -> Any:
    headers = LINES | ({"webhook-secret": secret} if secret else {})
    with live.client() as client:
        return client.post("/jobs", content=jsonl("one", "two"), headers=headers, params={"webhook": url})


def told(live: LiveServer, job: dict[str, Any]) -> str:
    """What became of the webhook."""

    def state() -> str:
        found: str = get(live, f"/jobs/{job['id']}").json()["webhook"]
        return found

    finished(live, job)
    eventually(lambda: state() in ("delivered", "failed"), within_s=20)
    return state()


def test_the_end_is_told_with_a_signature_and_without_the_text() -> None:
    with Receiver().running() as receiver, running(StubTranslator(), **LOOPBACK) as live:
        job = send(live, f"{receiver.url}/hook?a=b").json()
        assert told(live, job) == "delivered"

    ((path, headers, body),) = receiver.got
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert path == "/hook?a=b"
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["host"] == f"127.0.0.1:{receiver.port}"
    message = json.loads(body)
    assert message["type"] == "job.done"
    assert message["data"] == {
        "id": job["id"],
        "status": "done",
        "items": 2,
        "done": 2,
        "failed": 0,
        "characters": 6,
    }


def test_the_signature_is_that_of_the_standards_example() -> None:
    # https://github.com/standard-webhooks/standard-webhooks, of the tests of its libraries
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    found = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')

    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_receiver_that_fails_is_asked_again_with_the_same_id_and_not_for_ever() -> None:
    with Receiver(500, 302).running() as receiver, running(StubTranslator(), **LOOPBACK) as live:
        assert told(live, send(live, receiver.url).json()) == "delivered"
    assert [path for path, _, _ in receiver.got] == ["/", "/", "/"], "a redirect is not followed"
    assert len({headers["webhook-id"] for _, headers, _ in receiver.got}) == 1

    bounded = LOOPBACK | {"webhook_attempts": 2}
    with Receiver(500, 500, 500).running() as receiver, running(StubTranslator(), **bounded) as live:
        assert told(live, send(live, receiver.url).json()) == "failed"
    assert len(receiver.got) == 2
    with Receiver(410).running() as receiver, running(StubTranslator(), **LOOPBACK) as live:
        assert told(live, send(live, receiver.url).json()) == "failed", "410: nobody is there any more"
    assert len(receiver.got) == 1


def test_a_receiver_that_is_not_there_is_asked_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with running(StubTranslator(), **LOOPBACK, webhook_attempts=2) as live:
        assert told(live, send(live, f"http://127.0.0.1:{port}/").json()) == "failed"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:PORT/",
        "http://localhost:PORT/",
        "http://[::1]:PORT/",
        "http://[::ffff:127.0.0.1]:PORT/",
        "http://0.0.0.0:PORT/",
        "http://2130706433:PORT/",
        "http://0x7f.1:PORT/",
        "http://169.254.169.254/latest/meta-data",
        "http://name-that-is-nowhere.invalid/",
    ],
)
def test_without_the_setting_no_private_address_is_reached(url: str) -> None:
    with Receiver().running() as receiver, running(StubTranslator()) as live:
        answer = send(live, url.replace("PORT", str(receiver.port)))

        assert_problem(answer, 422, "invalid-input")
        assert "must have a public address" in answer.json()["detail"], "nor is it told which names there are"
        assert get(live, "/jobs").json()["jobs"] == []
    assert receiver.got == []


def test_a_name_that_leads_elsewhere_by_the_time_it_is_told_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: public when the job is sent, and loopback when its end is told."""

    async def as_when_sent(url: str, networks: Any) -> str:
        return "93.184.216.34"

    with Receiver().running() as receiver, running(StubTranslator(), webhook_attempts=1) as live:
        with monkeypatch.context() as patch:
            patch.setattr("service.routes.jobs.resolve", as_when_sent)
            job = send(live, f"http://localhost:{receiver.port}/").json()
        assert told(live, job) == "failed"
    assert receiver.got == []


def test_one_look_up_is_what_is_checked_and_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is not looked up again between the check and the connection."""
    connected: list[str] = []

    async def open_connection(host: str, port: int, **_: Any) -> Any:
        connected.append(host)
        raise ConnectionError

    async def resolved(url: str, networks: Any) -> str:
        return "93.184.216.34"

    monkeypatch.setattr(webhooks, "resolve", resolved)
    monkeypatch.setattr(webhooks.asyncio, "open_connection", open_connection)
    with pytest.raises(ConnectionError):
        asyncio.run(webhooks.post("https://example.org/", {}, b"", ()))

    assert connected == ["93.184.216.34"]


def test_a_name_with_one_private_address_among_public_ones_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answers(*_: Any, **__: Any) -> Any:
        return [(socket.AF_INET, 1, 6, "", (ip, 443)) for ip in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    with pytest.raises(InputError, match="public address"):
        asyncio.run(resolve("https://example.org/", ()))
    assert asyncio.run(resolve("https://example.org/", ["10.0.0.0/8"])) == "93.184.216.34"


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("127.8.8.8", False),
        ("0.0.0.0", False),
        ("169.254.1.1", False),
        ("192.0.0.1", False),
        ("198.18.0.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("fe80::1", False),
        ("fe80::1%1", False),
        ("fc00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
        ("2001:db8::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::1", False),
    ],
)
def test_only_public_addresses_are_allowed(address: str, allowed: bool) -> None:
    assert is_allowed(ipaddress.ip_address(address), ()) is allowed
    assert is_allowed(ipaddress.ip_address(address), ["0.0.0.0/0", "::/0"])


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("ftp://example.org/", SECRET),
        ("https://user:password@example.org/", SECRET),
        ("https://example.org/#part", SECRET),
        ("https:///path", SECRET),
        ("https://example.org:0/", SECRET),
        ("https://example.org:99999/", SECRET),
        ("https://exämple.org/", SECRET),
        ("https://example.org/\r\nX: y", SECRET),
        ("https://example.org/" + "x" * 2000, SECRET),
        ("https://example.org/", ""),
        ("https://example.org/", "short"),
        ("https://example.org/", "whsec_&&&&&&&&&&&&&&&&"),
    ],
)
def test_a_webhook_that_cannot_be_used_is_refused_without_repeating_it(url: str, secret: str) -> None:
    with pytest.raises(InputError, match=r"^webhook: ") as caught:
        webhook_of(url, secret)
    assert "example" not in str(caught.value)
    assert "password" not in str(caught.value)


def test_the_secret_of_the_settings_signs_where_the_job_brings_none() -> None:
    with Receiver().running() as receiver, running(StubTranslator(), **LOOPBACK) as live:
        assert_problem(send(live, receiver.url, secret=""), 422, "invalid-input")
    with (
        Receiver().running() as receiver,
        running(StubTranslator(), **LOOPBACK, webhook_secret="of the settings, long") as live,
    ):
        told(live, send(live, receiver.url, secret="").json())
    ((_, headers, body),) = receiver.got
    again = signature("of the settings, long", headers["webhook-id"], int(headers["webhook-timestamp"]), body)
    assert headers["webhook-signature"] == again
