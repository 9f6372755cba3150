"""A server without keys answers to its own names alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from nmt.errors import ConfigError
from service.app import create_app
from service.http.hosts import SETTING
from service.settings import Settings, load_settings
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running, serving
from tests.service.http.test_problems import assert_problem

BODY = {"text": "one two"}


def ask(live: LiveServer, host: str, path: str = "/translate") -> httpx.Response:
    headers = {"host": host.replace("PORT", str(live.port))}
    with live.client() as client:
        return client.post(path, json=BODY, headers=headers)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:PORT", "127.0.0.1:PORT", "[::1]:PORT", "localhost."]
)
def test_a_server_without_keys_answers_to_its_own_names(live: LiveServer, host: str) -> None:
    assert ask(live, host).json()["translations"][0]["text"] == "owt eno"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:PORT",
        "localhost.evil.example",
        "xlocalhost",
        "192.0.2.1",
        "127.0.0.1.nip.io",
    ],
)
def test_another_name_is_refused_and_named_with_the_setting(live: LiveServer, host: str) -> None:
    n_calls = len(live.translator.calls)

    answer = ask(live, host)

    assert_problem(answer, 421, "unknown-host")
    assert host.partition(":")[0] in answer.json()["detail"]
    assert SETTING in answer.json()["detail"]
    assert len(live.translator.calls) == n_calls


@pytest.mark.parametrize("host", ["a@localhost", "localhost/", "evil.example#localhost", ""])
def test_what_is_no_host_is_refused_and_not_repeated(live: LiveServer, host: str) -> None:
    answer = ask(live, host)

    assert_problem(answer, 421, "unknown-host")
    assert "answer as this host" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/static/app.js", "/metrics", "/nowhere"])
def test_no_address_but_the_probes_answers_to_another_name(live: LiveServer, path: str) -> None:
    with live.client(headers={"host": "evil.example"}) as client:
        assert client.get(path).status_code == 421
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").status_code == 200


@pytest.mark.parametrize("path", ["/v2/translate", "/libretranslate/translate"])
def test_a_dialect_says_it_in_its_own_shape(live: LiveServer, path: str) -> None:
    answer = ask(live, "evil.example", path)

    assert answer.status_code == 421
    assert SETTING in str(answer.json())
    assert "type" not in answer.json()


@pytest.fixture(scope="module")
def named() -> Iterator[LiveServer]:
    with running(StubTranslator(), allowed_hosts="mt.example.org, *.lan,10.1.2.3,[2001:db8::1]") as server:
        yield server


@pytest.mark.parametrize(
    ("host", "status"),
    [("mt.example.org", 200), ("MT.example.org:8000", 200), ("pi.lan", 200), ("10.1.2.3:80", 200),
     ("[2001:DB8::1]:80", 200), ("localhost", 200), ("lan", 421), ("evillan", 421), ("example.org", 421),
     ("10.1.2.4", 421)],
)  # fmt: skip
def test_the_setting_adds_names(named: LiveServer, host: str, status: int) -> None:
    assert ask(named, host).status_code == status


def test_a_star_allows_any() -> None:
    with running(StubTranslator(), allowed_hosts="*") as server:
        assert ask(server, "evil.example").status_code == 200


def test_with_keys_any_name_is_taken_unless_the_setting_is_given() -> None:
    with running(StubTranslator(), keys="required") as server:
        assert ask(server, "evil.example").status_code == 401
    with running(StubTranslator(), keys="required", allowed_hosts="mt.example.org") as server:
        assert ask(server, "evil.example").status_code == 421
        assert ask(server, "mt.example.org").status_code == 401


def test_the_name_that_the_server_is_told_to_listen_on_is_its_own() -> None:
    translator, settings = StubTranslator(), Settings()
    with serving(create_app(settings, translator, host="mt.lan"), settings, translator) as server:
        assert ask(server, "mt.lan").status_code == 200
        assert ask(server, "evil.example").status_code == 421


def test_the_address_of_the_connection_is_the_servers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that listens everywhere, such as one in a container."""
    scopes: list[dict[str, Any]] = []

    async def ended(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    from service.http.hosts import HostMiddleware

    middleware = HostMiddleware(ended, allowed=(), shapes={})
    scope = {"type": "http", "path": "/", "server": ("10.9.8.7", 80), "headers": [(b"host", b"10.9.8.7:80")]}
    coroutine = middleware(scope, None, None)  # type: ignore[arg-type]
    with pytest.raises(StopIteration):
        coroutine.send(None)
    assert scopes == [scope]


@pytest.mark.parametrize("value", ["http://a.example", "a.example:8000", "a b"])
def test_what_is_no_name_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(SETTING, value)

    with pytest.raises(ConfigError, match=f"{SETTING}.*"):
        load_settings()


def test_the_setting_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "a.example, *.b.example")

    assert load_settings().allowed_hosts == ("a.example", "*.b.example")
