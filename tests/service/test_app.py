"""Around the translations: pages, headers, request ids, logs, metrics, the OpenAPI description, settings."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, ValidationError

import service
from nmt import __version__
from nmt.errors import ConfigError
from service import schemas
from service.http.logs import configure
from service.settings import Settings, load_settings
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import assert_problem
from tests.service.two_ways import ShoutingTranslator, both_ways

CANARY = "xylophonequartz"
WEB = Path(service.__file__).parent / "web"


def get(live: LiveServer, path: str, **options: Any) -> httpx.Response:
    with live.client() as client:
        return client.get(path, **options)


def test_languages_tell_the_pair_and_the_limits(live: LiveServer) -> None:
    body = get(live, "/languages").json()

    attention = {"layers": 4, "heads": 4}
    pair = {"source": "en", "target": "fr", "model": "stub", "formality": False, "attention": attention}
    assert body["pairs"] == [pair]
    assert {"code": "fr", "name": "French"} in body["languages"]
    assert body["model"] == "stub"
    assert body["limits"] == {
        "texts": 100,
        "text_characters": 20_000,
        "request_characters": 50_000,
        "beam_size": 16,
        "heads_characters": 1000,
    }


class Resources(HTMLParser):
    """What a page loads or runs."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.inline: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [values[name] or "" for name in ("src", "href") if name in values]
        if (tag == "script" and "src" not in values) or tag == "style":
            self.inline.append(tag)
        self.inline += [name for name in values if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_a_page_and_all_it_needs_come_from_here(live: LiveServer, path: str) -> None:
    response = get(live, path)

    assert response.headers["content-type"] == "text/html; charset=utf-8"
    resources = Resources(response.text)
    assert resources.inline == []
    assert "static/style.css" in resources.links
    for link in resources.links:
        assert not re.match(r"[a-z]+:|//", link), f"{link} is elsewhere"
        assert get(live, str(httpx.URL(live.url + path).join(link).path)).status_code == 200
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_no_file_of_the_page_names_another_host() -> None:
    for path in WEB.iterdir():
        addresses = set(re.findall(r"https?://[^\s\"'<>)]+", path.read_text(encoding="utf-8")))
        assert addresses <= {"http://www.w3.org/2000/svg"}, f"{path.name} names {addresses}"


def test_static_files_are_revalidated_and_nothing_else_is_served(live: LiveServer) -> None:
    first = get(live, "/static/app.js")
    again = get(live, "/static/app.js", headers={"if-none-match": first.headers["etag"]})

    assert first.headers["content-type"].startswith("text/javascript")
    assert (again.status_code, again.content) == (304, b"")
    for name in ("app.py", "%2e%2e%2fapp.py", CANARY):
        assert_problem(get(live, f"/static/{name}"), 404, "not-found")


@pytest.mark.parametrize("path", ["/", "/languages", "/nothing", "/static/icon.svg", "/openapi.json"])
def test_every_answer_carries_the_security_headers(live: LiveServer, path: str) -> None:
    headers = get(live, path, headers={"origin": "https://example.org"}).headers

    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_a_request_id_is_taken_over_if_it_can_stand_in_a_log(live: LiveServer) -> None:
    given = get(live, "/languages", headers={"x-request-id": "job-17_a.b"}).headers["x-request-id"]
    assert given == "job-17_a.b"
    for bad in ("two words", "x" * 65, "a;b", 'a"b', ""):
        made = get(live, "/languages", headers={"x-request-id": bad}).headers["x-request-id"]
        assert re.fullmatch(r"[0-9a-f]{16}", made)


def test_openapi_describes_every_operation_and_every_error_as_a_problem(live: LiveServer) -> None:
    description = get(live, "/openapi.json").json()

    assert description["info"]["version"] == __version__
    assert set(description["paths"]) == {
        "/translate",
        "/alternatives",
        "/check",
        "/jobs",
        "/jobs/{id}",
        "/jobs/{id}/result",
        "/translations/{id}/alignment",
        "/documents",
        "/documents/{id}",
        "/documents/{id}/content",
        "/translation-memories",
        "/translation-memories/{id}",
        "/translation-memories/{id}/export",
        "/translation-memories/{id}/search",
        "/translation-memories/{id}/units",
        "/languages",
        "/usage",
        "/health/live",
        "/health/ready",
        "/metrics",
    }
    for path, operations in description["paths"].items():
        for operation in operations.values():
            assert operation["summary"]
            assert operation["description"]
            for status, answer in operation["responses"].items():
                if not status.startswith("2"):
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)
    assert {"400", "408", "413", "415", "422", "429", "500", "503", "504"} < set(
        description["paths"]["/translate"]["post"]["responses"]
    )
    for reference in re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(description)):
        assert reference in description["components"]["schemas"]


def test_the_answer_has_exactly_the_fields_that_openapi_describes(live: LiveServer) -> None:
    shapes = get(live, "/openapi.json").json()["components"]["schemas"]
    body = live.post({"text": "one two\nthree", "alignment": "soft", "n_best": 2}).json()
    (translation,) = body["translations"]

    for value, name in [
        (body, "TranslateAnswer"),
        (translation, "TranslationOut"),
        (translation["sentences"][0], "SentenceOut"),
        (translation["source_tokens"][0], "TokenOut"),
        (translation["links"][0], "LinkOut"),
        (translation["alternatives"][0], "AlternativeOut"),
        (live.post({}).json(), "Problem"),
    ]:
        assert set(value) == set(shapes[name]["properties"]), name


def test_the_examples_of_the_description_are_valid_requests() -> None:
    with both_ways(StubTranslator(), ShoutingTranslator()) as live:
        shapes = get(live, "/openapi.json").json()["components"]["schemas"]
        examples = shapes["TranslateRequest"]["examples"]

        assert len(examples) == 2
        assert [live.post(example).status_code for example in examples] == [200, 200]


def test_metrics_count_requests_by_route_and_never_by_what_was_sent() -> None:
    with running(StubTranslator()) as live:
        translation = live.post({"text": "one two", "alignment": "links"}).json()["translations"][0]
        get(live, f"/translations/{translation['id']}/alignment")
        get(live, f"/{CANARY}")
        get(live, f"/translations/{CANARY}/alignment?format={CANARY}")
        live.post({"text": CANARY, "source": CANARY})
        with live.client() as client:
            client.request(CANARY.upper(), "/languages")
        response = get(live, "/metrics")

    assert response.headers["content-type"].startswith("text/plain; version=")
    text = response.text
    assert 'passerelle_requests_total{method="POST",route="/translate",status="200"} 1.0' in text
    assert 'passerelle_requests_total{method="GET",route="unmatched",status="404"} 1.0' in text
    assert 'method="other"' in text
    assert 'passerelle_source_tokens_total{direction="en-fr"} 2.0' in text
    assert "passerelle_alignments 1.0" in text
    assert CANARY not in text.lower()
    assert translation["id"] not in text


@pytest.mark.usefixtures("logging_restored")
@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_text_of_a_user_reaches_logs_errors_or_metrics(log_format: str) -> None:
    def failure(text: str) -> Exception | None:
        return ValueError(f"cannot translate {text!r}") if "fail" in text else None

    stream = io.StringIO()
    translator = StubTranslator(failure=failure)
    settings = {"log_format": log_format, "log_level": "debug", "max_text_characters": 100}
    configure(Settings(**settings), stream)
    bodies = [
        {"text": CANARY},
        {"text": [f"{CANARY} fail", "fine"]},
        {"text": CANARY * 20},
        {"text": "a", CANARY: CANARY},
        {"text": "a", "alignment": CANARY},
        {"text": "a", "source": CANARY},
        [CANARY],
    ]
    with running(translator, **settings) as live:
        answers = [live.post(body) for body in bodies]
        answers.append(get(live, f"/{CANARY}?{CANARY}={CANARY}", headers={"user-agent": CANARY}))
        answers.append(get(live, f"/translations/{CANARY}/alignment"))
        with live.client() as client:
            json_type = {"content-type": "application/json"}
            answers.append(client.post("/translate", content=f'{{"text": "{CANARY}', headers=json_type))
            answers.append(client.post("/translate", content=CANARY, headers={"content-type": CANARY}))
        metrics = get(live, "/metrics").text

    assert [answer.status_code for answer in answers] == [
        200,
        500,
        413,
        422,
        422,
        422,
        422,
        404,
        404,
        422,
        415,
    ]
    for answer in answers[1:]:
        assert CANARY not in answer.text + str(answer.headers)
    assert CANARY not in metrics
    logged = stream.getvalue()
    assert "request_failed" in logged
    assert "ValueError" in logged
    assert "stub.py" in logged, "where it failed is there"
    assert answers[1].headers["x-request-id"] in logged
    assert CANARY not in logged


@pytest.mark.usefixtures("logging_restored")
def test_log_lines_of_libraries_are_json_without_messages_of_exceptions() -> None:
    import logging

    stream = io.StringIO()
    configure(Settings(), stream)
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger("uvicorn.error").exception("it failed")

    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"], line["error"]) == ("it failed", "error", "ValueError")
    assert CANARY not in stream.getvalue()


def test_every_setting_and_every_field_of_an_answer_is_described() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name
    shapes = [
        shape for shape in vars(schemas).values() if isinstance(shape, type) and issubclass(shape, BaseModel)
    ]
    assert all(shape.__doc__ for shape in shapes)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSERELLE_MAX_TEXTS", "7")
    monkeypatch.setenv("PASSERELLE_OF_ANOTHER_PROGRAM", "1")
    settings = load_settings()

    assert settings.max_texts == 7
    with pytest.raises(ValidationError, match="frozen"):
        settings.max_texts = 8


def test_a_wrong_setting_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"PASSERELLE_MAX_TEXT = '3'.*not permitted"):
        load_settings(max_text=3)
    with pytest.raises(ConfigError, match="larger than max_request_characters 10; raise the second"):
        load_settings(max_request_characters=10)
    monkeypatch.setenv("PASSERELLE_MAX_TEXTS", "many")
    with pytest.raises(ConfigError, match="PASSERELLE_MAX_TEXTS = 'many': Input should be a valid integer"):
        load_settings()


def test_the_service_does_not_wait_for_torch_until_it_loads_a_model() -> None:
    code = "import sys, service.main; sys.exit('torch' in sys.modules or 'matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


class FullDisk(io.StringIO):
    """Takes nothing until there is room again."""

    has_room = False

    def write(self, line: str) -> int:
        if not self.has_room:
            raise OSError(28, "No space left on device")
        return super().write(line)


@pytest.mark.usefixtures("logging_restored")
def test_a_full_log_disk_fails_no_request_and_what_was_lost_is_counted() -> None:
    disk = FullDisk()
    configure(Settings(), disk)
    with running(StubTranslator(failure=lambda text: ValueError() if text == "fail" else None)) as live:
        assert live.post({"text": "one two"}).status_code == 200
        assert live.post({"text": "fail"}).status_code == 500
        disk.has_room = True
        assert live.post({"text": "one two"}).status_code == 200

    lines = [json.loads(line) for line in disk.getvalue().splitlines()]
    assert lines[0]["event"] == "log_lines_lost"
    assert lines[0]["n"] >= 3
    assert lines[1]["event"] == "request"
