"""Keys before routes: which routes, what opens them, limits, quotas, usage; and no way around them."""

from __future__ import annotations

import io
import json
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import fastapi.routing
import httpx
import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import Route
from structlog.testing import capture_logs

from nmt.errors import ConfigError
from service.app import create_app, include_behind_key
from service.calls.auth import CallerDependency, check_deepl_key, check_libretranslate_key, needs_keys
from service.database.database import Database
from service.database.records import ANONYMOUS, KeyLimits
from service.http.logs import configure
from service.main import check_keys
from service.settings import Settings
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, eventually, running
from tests.service.http.test_problems import assert_problem

DEEPL = ("/v2/", "/v3/")
SAFE = ("GET", "HEAD", "OPTIONS")
PUBLIC = {"/", "/docs", "/static/{name}", "/health/live", "/health/ready", "/openapi.json"}
"""Routes that need no key. Whoever adds one says here that it may be seen by everybody."""

UNLIKELY = f"psr_{'0' * 12}_{'x' * 43}"
CANARY = "xylophonequartz"


@pytest.fixture(scope="module")
def guarded() -> Iterator[LiveServer]:
    """A server that needs keys."""
    with running(StubTranslator(), keys="required") as server:
        yield server


def new_key(live: LiveServer, limits: KeyLimits | None = None, **values: Any) -> tuple[str, dict[str, str]]:
    """A key's id, and the header that presents it."""
    key, shown = live.service.database.keys.create("team", limits, **values)
    return key.id, {"authorization": f"Bearer {shown}"}


def get(live: LiveServer, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
    with live.client() as client:
        return client.get(path, headers=headers)


def used(live: LiveServer, key_id: str) -> tuple[int, int]:
    days = live.service.database.usage.this_month(key_id)
    return sum(day.characters for day in days), sum(day.requests for day in days)


def routes(app: FastAPI | APIRouter) -> Iterator[tuple[str, str]]:
    """Path and method of every route, wherever it was included."""
    for route in app.routes:
        if isinstance(route, Route):
            for method in route.methods or ():
                yield route.path, method
        else:
            yield from routes(route.original_router)  # type: ignore[attr-defined]


def app_of(live: LiveServer) -> FastAPI:
    app = live.server.config.app
    assert isinstance(app, FastAPI)
    return app


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the handlers that run."""
    names: list[str] = []
    run = fastapi.routing.run_endpoint_function

    async def run_and_tell(*, dependant: Any, **rest: Any) -> Any:
        names.append(dependant.path)
        return await run(dependant=dependant, **rest)

    monkeypatch.setattr(fastapi.routing, "run_endpoint_function", run_and_tell)
    return names


def test_every_route_but_the_public_ones_needs_a_key(guarded: LiveServer, reached: list[str]) -> None:
    found = set(routes(app_of(guarded)))
    assert {path for path, _ in found} >= PUBLIC | {"/translate", "/metrics", "/usage", "/languages"}

    with guarded.client() as client:
        for path, method in sorted(found):
            if path not in PUBLIC:
                answer = client.request(method, re.sub(r"\{\w+\}", "x", path), json={})
                assert answer.status_code in (401, 403), f"{method} {path} is open"

    assert reached == []
    assert guarded.translator.calls == []


def tricks(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Request targets and headers that have led around checks elsewhere."""
    tail = path[1:]
    first = f"%{ord(tail[0]):02x}{tail[1:]}" if tail else ""
    for target in (
        path, "/" + path, "//" + path, f"/.{path}", f"/x/..{path}", f"/static/..{path}",
        f"/static/..%2f{tail}",
        f"/health/live/../..{path}", f"/health/live/..;{path}", f"/health/live;{path}", f"/docs/..{path}",
        f"{path}/", f"{path}//", f"{path}/.", f"{path}/..", f"{path}%20", f"{path}%09", f"{path}%00",
        f"{path}%0d%0a",
        f"{path};a=b", f"{path}?x=/health/live", f"{path}#/health/live", f"{path}%23/health/live",
        f"{path}.json",
        f"{path}.css", f"{path}/health/live", f"{path}%3f", path.upper(), path.title(), "/" + first,
        f"/%2f{tail}",
        f"/%252f{tail}", f"/%2e{path}", f"/%2e%2e{path}", f"/%5c{tail}", f"/\\{tail}", f"/%c0%af{tail}",
        f"http://127.0.0.1{path}", f"http://evil.example{path}", f"//evil.example{path}",
        f"https://h:1@x{path}",
    ):  # fmt: skip
        yield target, {}
    for host in (
        "localhost",
        "127.0.0.1",
        "[::1]",
        "",
        "internal",
        "x:0",
        "health/live",
        "a@localhost",
        "h/../x",
    ):
        yield path, {"Host": host}
    for name, value in (
        ("X-Forwarded-For", "127.0.0.1"), ("X-Real-IP", "127.0.0.1"), ("Forwarded",
        "for=127.0.0.1;host=localhost"),
        ("X-Forwarded-Host", "localhost"), ("X-Forwarded-Proto", "https"), ("X-Original-URL", "/health/live"),
        ("X-Rewrite-URL", "/health/live"), ("X-Forwarded-Prefix", "/health/live"), ("X-Script-Name",
        "/health"),
        ("X-HTTP-Method-Override", "OPTIONS"), ("Origin", "http://localhost"), ("Referer",
        "http://localhost/"),
        ("Cookie", "key=admin"), ("Authorization", ""), ("Authorization", "Bearer"), ("Authorization",
        "Bearer null"),
        ("Authorization", "Basic YWRtaW46YWRtaW4="), ("Authorization", "DeepL-Auth-Key "), ("X-API-Key", ""),
        ("X-API-Key", "' OR '1'='1"), ("X-API-Key", UNLIKELY), ("Authorization", f"Bearer {UNLIKELY}"),
        ("Authorization", f"DeepL-Auth-Key {UNLIKELY}:fx"), ("Content-Type", "text/plain"), ("Accept",
        "*/*;q=0"),
        ("Expect", "x"), ("Range", "bytes=0-1"), ("Upgrade", "h2c"), ("Connection", "Authorization, close"),
    ):  # fmt: skip
        yield path, {name: value}


class Wire:
    """Requests as bytes, on a connection that is kept as long as the server keeps it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, method: str, target: str, headers: dict[str, str], body: str = "{}") -> int:
        """The status of the answer."""
        body = body if method in ("POST", "PUT", "PATCH") else ""
        length = str(len(body))
        lines = {"Host": "x", "Content-Type": "application/json", "Content-Length": length, **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        request = f"{method} {target} HTTP/1.1\r\n{head}\r\n{body}"
        for _ in range(2):  # a kept connection may have been closed meanwhile
            if self._socket is None:
                self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=10)
            try:
                self._socket.sendall(request.encode("latin-1"))
                if (status := self._read(method)) is not None:
                    return status
            except OSError:
                pass
            self.close()
        raise AssertionError(f"no answer to {method} {target}")

    def _read(self, method: str) -> int | None:
        assert self._socket
        with self._socket.makefile("rb") as stream:
            line = stream.readline()
            if not line:
                return None
            length, keep = 0, True
            while (header := stream.readline().strip().lower()) not in (b"",):
                name, _, value = header.partition(b": ")
                length = int(value) if name == b"content-length" else length
                keep = keep and header != b"connection: close"
            if method != "HEAD":
                stream.read(length)
        if not keep:
            self.close()
        return int(line.split()[1])

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None


@pytest.mark.exhaustive
def test_no_host_path_or_header_leads_around_the_key(guarded: LiveServer, reached: list[str]) -> None:
    wire = Wire(guarded.port)
    assert len(list(tricks("/translate"))) >= 50
    for number, (path, method) in enumerate(sorted(set(routes(app_of(guarded))))):
        if path in PUBLIC:
            continue
        chosen = list(tricks(re.sub(r"\{\w+\}", "x", path)))
        if path.startswith(("/v2/", "/v3/", "/libretranslate/")):
            chosen = chosen[number % 4 :: 4]  # many routes behind one check: all tricks between them
        for target, headers in chosen:
            status = wire.ask(method, target, headers)
            assert status in (400, 401, 403, 404, 405, 417) or (reached and reached[-1] in PUBLIC), (
                f"{method} {target} {headers}: {status}"
            )
    wire.close()
    assert set(reached) <= PUBLIC
    assert guarded.translator.calls == []


def test_a_key_opens_in_either_header(guarded: LiveServer) -> None:
    _, bearer = new_key(guarded)
    shown = bearer["authorization"].removeprefix("Bearer ")

    for headers in (bearer, {"authorization": f"bearer {shown}"}, {"x-api-key": shown}):
        assert (
            guarded.post({"text": "one two"}, headers=headers).json()["translations"][0]["text"] == "owt eno"
        )


def test_what_does_not_open_says_why(guarded: LiveServer) -> None:
    missing = guarded.post({"text": CANARY})
    unknown = guarded.post({"text": CANARY}, headers={"authorization": f"Bearer {CANARY}"})
    key_id, headers = new_key(guarded)
    guarded.service.database.keys.revoke(key_id)
    revoked = guarded.post({"text": CANARY}, headers=headers)
    soon = datetime.now(UTC) + timedelta(milliseconds=50)
    _, headers = new_key(guarded, expires_at=soon)
    eventually(lambda: datetime.now(UTC) > soon)
    expired = guarded.post({"text": CANARY}, headers=headers)

    assert "Authorization: Bearer KEY" in assert_problem(missing, 401, "key-missing")["detail"]
    assert missing.headers["www-authenticate"] == "Bearer"
    assert_problem(unknown, 401, "key-unknown")
    assert_problem(revoked, 403, "key-revoked")
    assert_problem(expired, 403, "key-expired")


def test_a_rate_limits_requests_and_every_answer_says_what_is_left(guarded: LiveServer) -> None:
    _, headers = new_key(guarded, KeyLimits(requests_per_minute=2))

    answers = [guarded.post({"text": "a"}, headers=headers) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].headers["ratelimit-policy"] == '"requests";q=2;w=60'
    assert [re.match(r'"requests";r=(\d);t=\d+$', a.headers["ratelimit"])[1] for a in answers] == [
        "1",
        "0",
        "0",
    ]  # type: ignore[index]
    problem = assert_problem(answers[2], 429, "rate-exceeded")
    assert "2 requests a minute" in problem["detail"]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 120
    _, other = new_key(guarded, KeyLimits(requests_per_minute=2))
    assert guarded.post({"text": "a"}, headers=other).status_code == 200, "each key has its own"


def test_a_rate_limits_characters(guarded: LiveServer) -> None:
    key_id, headers = new_key(guarded, KeyLimits(characters_per_minute=10))

    fits = guarded.post({"text": ["abc", "def"]}, headers=headers)
    over = guarded.post({"text": "abcde"}, headers=headers)
    never = guarded.post({"text": "a" * 11}, headers=headers)

    assert fits.headers["ratelimit"].startswith('"characters";r=4;t=')
    assert (
        "10 characters a minute; 4 are left, and the request has 5"
        in assert_problem(over, 429, "character-rate-exceeded")["detail"]
    )
    assert "retry-after" in over.headers
    assert_problem(never, 413, "text-too-long")
    assert used(guarded, key_id) == (6, 1), "what is refused is not counted"


def test_a_quota_ends_with_the_month(guarded: LiveServer) -> None:
    key_id, headers = new_key(guarded, KeyLimits(characters_per_month=10))

    guarded.post({"text": "abcdef"}, headers=headers)
    over = guarded.post({"text": "abcde"}, headers=headers)

    assert "10 characters a month; 6 are used" in assert_problem(over, 429, "quota-exceeded")["detail"]
    assert 1 <= int(over.headers["retry-after"]) <= 31 * 86_400
    assert guarded.post({"text": "abcd"}, headers=headers).status_code == 200
    assert used(guarded, key_id) == (10, 2)


def test_usage_shows_a_caller_its_own(guarded: LiveServer) -> None:
    key_id, headers = new_key(guarded, KeyLimits(600, None, 1000))
    _, other = new_key(guarded)
    guarded.post({"text": "abcdef"}, headers=headers)
    guarded.post({"text": "abcdefghij"}, headers=other)

    usage = get(guarded, "/usage", headers).json()

    today = datetime.now(UTC).date()
    assert usage == {
        "key": {"id": key_id, "name": "team", "expires_at": None},
        "month_start": today.replace(day=1).isoformat(),
        "month_end": usage["month_end"],
        "characters": 6,
        "requests": 1,
        "limits": {"requests_per_minute": 600, "characters_per_minute": None, "characters_per_month": 1000},
        "days": [{"day": today.isoformat(), "characters": 6, "requests": 1}],
    }


def test_a_failed_translation_is_not_charged() -> None:
    def failure(text: str) -> Exception | None:
        return RuntimeError(text) if "fail" in text else None

    with running(StubTranslator(failure=failure), keys="required") as live:
        key_id, headers = new_key(live, KeyLimits(characters_per_month=10))
        for _ in range(3):
            assert live.post({"text": "fail now"}, headers=headers).status_code == 500
        assert live.post({"text": "good"}, headers=headers).status_code == 200

        assert used(live, key_id) == (4, 4)


def test_a_client_that_leaves_before_its_answer_is_not_charged() -> None:
    translator = StubTranslator()
    with running(translator, keys="required") as live:
        key_id, headers = new_key(live)
        translator.gate.clear()
        head = f"Host: x\r\nAuthorization: {headers['authorization']}\r\nContent-Type: application/json"
        with socket.create_connection(("127.0.0.1", live.port)) as client:
            client.sendall(
                f'POST /translate HTTP/1.1\r\n{head}\r\nContent-Length: 14\r\n\r\n{{"text":"abc"}}'.encode()
            )
            eventually(lambda: used(live, key_id) == (3, 1))

        eventually(lambda: used(live, key_id) == (0, 1))  # the model is still at work on it


def test_an_alignment_is_its_callers_alone(guarded: LiveServer) -> None:
    _, headers = new_key(guarded)
    _, other = new_key(guarded)
    body = {"text": "one two", "alignment": "links"}
    (translation,) = guarded.post(body, headers=headers).json()["translations"]
    path = f"/translations/{translation['id']}/alignment"

    assert get(guarded, path, headers).status_code == 200
    assert_problem(get(guarded, path, other), 404, "no-such-alignment")


def test_without_keys_everybody_is_counted_together(live: LiveServer) -> None:
    before, _ = used(live, ANONYMOUS)
    answer = live.post({"text": "abc"}, headers={"authorization": f"Bearer {UNLIKELY}"})

    assert answer.status_code == 200
    assert "ratelimit" not in answer.headers
    usage = get(live, "/usage").json()
    assert (usage["key"], usage["characters"]) == (None, before + 3)


def test_metrics_may_be_opened() -> None:
    with running(StubTranslator(), keys="required", metrics_need_key=False) as live:
        assert get(live, "/metrics").status_code == 200
        assert get(live, "/usage").status_code == 401


def test_keys_are_off_on_this_machine_and_needed_elsewhere_unless_one_says_so() -> None:
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        assert not needs_keys("auto", host)
        assert needs_keys("required", host)
    for host in ("0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "example.org", "", "localhost.example.org"):
        assert needs_keys("auto", host)
        assert not needs_keys("off", host)


def test_an_app_that_does_not_know_its_address_needs_keys() -> None:
    app = create_app(Settings(keys="auto"), StubTranslator())

    assert app.state.service.keys_required
    app.state.service.database.close()


def test_a_server_for_others_does_not_start_without_a_key() -> None:
    database = Database(Settings())
    database.prepare()
    automatic, required = Settings(keys="auto"), Settings(keys="required")

    with pytest.raises(
        ConfigError, match=r"0\.0\.0\.0 can be reached .* run nmt keys create NAME .*PASSERELLE_KEYS=off"
    ):
        check_keys(automatic, "0.0.0.0", database)
    with capture_logs() as logs:
        assert check_keys(required, "127.0.0.1", database)
    assert [line["event"] for line in logs] == ["no_keys"]
    assert not check_keys(automatic, "127.0.0.1", database)
    assert not check_keys(Settings(keys="off"), "0.0.0.0", database)
    key, _ = database.keys.create("team")
    assert check_keys(automatic, "0.0.0.0", database)
    database.keys.revoke(key.id)
    with pytest.raises(ConfigError):
        check_keys(automatic, "0.0.0.0", database)
    database.close()


@pytest.mark.usefixtures("logging_restored")
@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_key_and_no_text_reaches_logs_errors_or_metrics(log_format: str) -> None:
    stream = io.StringIO()
    settings = {"log_format": log_format, "log_level": "debug", "keys": "required"}
    configure(Settings(**settings), stream)
    with running(StubTranslator(), **settings) as live:
        key_id, headers = new_key(live, KeyLimits(9, 100, 1000))
        shown = headers["authorization"].removeprefix("Bearer ")
        answers = [live.post({"text": CANARY}, headers=headers)]
        for wrong in (CANARY, UNLIKELY, shown[:-1] + CANARY):
            answers.append(live.post({"text": CANARY}, headers={"x-api-key": wrong}))
        answers.append(get(live, f"/translate?api_key={shown}"))
        answers.append(get(live, f"/{shown}"))
        live.service.database.keys.set_limits(key_id, KeyLimits(1, 10, 10))
        answers += [live.post({"text": CANARY}, headers=headers) for _ in range(2)]
        live.service.database.keys.revoke(key_id)
        answers.append(live.post({"text": CANARY}, headers=headers))
        _, others = new_key(live)
        live.service.database.transactions.engine.dispose()  # the database in memory is gone
        answers.append(live.post({"text": CANARY}, headers=others))
        metrics = live.service.metrics.render().decode()

    assert [answer.status_code for answer in answers] == [200, 401, 401, 401, 401, 401, 413, 429, 403, 503]
    secret = shown.split("_", 2)[2]
    for seen in (*(answer.text + str(answer.headers) for answer in answers[1:]), metrics, stream.getvalue()):
        assert CANARY not in seen
        assert secret not in seen
        assert shown not in seen
    assert key_id not in metrics
    assert key_id in stream.getvalue(), "who calls may be logged, by the key's id"
    assert "database_unavailable" in stream.getvalue()
    for reason in ("unknown", "revoked", "rate"):
        assert f'passerelle_key_rejections_total{{reason="{reason}"}}' in metrics


def test_a_database_that_does_not_answer_is_503_and_not_ready() -> None:
    with running(StubTranslator()) as live:
        assert get(live, "/health/ready").status_code == 200
        live.service.database.engine.dispose()

        answer = live.post({"text": CANARY})

        assert_problem(answer, 503, "database-unavailable")
        assert answer.headers["retry-after"] == "5"
        assert get(live, "/health/live").status_code == 200


def dialects() -> FastAPI:
    """An app with a route in each other dialect."""
    app = create_app(Settings(keys="required"), StubTranslator())
    deepl, libretranslate = APIRouter(), APIRouter()

    @deepl.get("/v2/who")
    async def who(caller: CallerDependency) -> str:
        return caller.key_id

    @libretranslate.post("/libretranslate/who")
    async def who_posts(caller: CallerDependency, request: fastapi.Request) -> list[str]:
        is_form = "form" in request.headers.get("content-type", "")
        body = await request.form() if is_form else await request.body()
        return [caller.key_id, body["q"] if is_form else body.decode()]

    include_behind_key(app, deepl, check_deepl_key)
    include_behind_key(app, libretranslate, check_libretranslate_key)
    return app


async def ask(app: FastAPI, *request: Any, **options: Any) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x") as client:
        return await client.request(*request, **options)


def test_each_dialect_finds_the_key_where_its_clients_put_it() -> None:
    import asyncio

    app = dialects()
    key, shown = app.state.service.database.keys.create("team")

    async def check() -> None:
        header = {"authorization": f"DeepL-Auth-Key {shown}"}
        assert (await ask(app, "GET", "/v2/who", headers=header)).json() == key.id
        for wrong in (
            {},
            {"authorization": f"Bearer {shown}"},
            {"authorization": f"DeepL-Auth-Key {UNLIKELY}"},
        ):
            assert (await ask(app, "GET", "/v2/who", headers=wrong)).status_code == 403
        path = "/libretranslate/who"
        body = {"q": "x", "api_key": shown}
        answer = await ask(app, "POST", path, json=body)
        assert answer.json() == [key.id, json.dumps(body, separators=(",", ":"))], (
            "the route reads the body again"
        )
        for options in ({"data": body}, {"files": {"f": b"x"}, "data": body}):
            assert (await ask(app, "POST", path, **options)).json() == [key.id, "x"], options
        assert (await ask(app, "POST", path, params={"api_key": shown})).json() == [key.id, ""]
        for wrong in (
            {"json": {"api_key": UNLIKELY}},
            {"json": {"api_key": [shown]}},
            {"json": [shown]},
            {"data": {"q": shown}},
            {"content": b"{", "headers": {"content-type": "application/json"}},
            {"content": b"[" * 100_000, "headers": {"content-type": "application/json"}},
            {"content": b"\xff", "headers": {"content-type": "application/json"}},
            {},
        ):
            assert (await ask(app, "POST", path, **wrong)).status_code == 403

    asyncio.run(check())
    app.state.service.database.close()


@pytest.mark.parametrize(("keys", "status"), [("required", 401), ("off", 500)])
def test_a_route_without_a_check_lets_nobody_in(keys: str, status: int) -> None:
    import asyncio

    app = create_app(Settings(keys=keys), StubTranslator())

    @app.get("/forgotten")
    async def forgotten(caller: CallerDependency) -> str:
        return caller.key_id

    assert asyncio.run(ask(app, "GET", "/forgotten")).status_code == status
    app.state.service.database.close()


def test_an_address_that_leads_nowhere_needs_a_key_too(guarded: LiveServer) -> None:
    _, headers = new_key(guarded)
    assert get(guarded, "/nothing").status_code == 401
    assert get(guarded, "/nothing", headers).status_code == 404


def test_without_a_key_no_byte_of_a_body_is_waited_for(guarded: LiveServer) -> None:
    wire = Wire(guarded.port)
    for path, method in sorted(set(routes(app_of(guarded)))):
        in_body = path.startswith("/libretranslate/") or (path.startswith(DEEPL) and method not in SAFE)
        if path not in PUBLIC and not in_body:  # where the key may be, for these
            headers = {"Content-Length": "900000", "Connection": "close"}
            status = wire.ask(method, re.sub(r"\{\w+\}", "x", path), headers, body="")
            assert status in (401, 403), f"{method} {path}"
