"""Spans of requests, in memory: what they tell, and that they tell nothing of what was sent."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from nmt.errors import ConfigError
from service.http.tracing import exporting_provider
from service.settings import Settings
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, eventually, running

CANARY = "xylophonequartz"


class Traced:
    """A server and the spans it has made."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.live: LiveServer

    def spans(self, n: int) -> list[ReadableSpan]:
        """The first ``n``; a span ends a moment after its answer."""
        eventually(lambda: len(self.exporter.get_finished_spans()) >= n)
        return list(self.exporter.get_finished_spans())


@pytest.fixture
def traced() -> Iterator[Traced]:
    made = Traced()
    failing = StubTranslator(failure=lambda text: ValueError(text) if "fail" in text else None)
    with running(failing, tracing=made.provider) as live:
        made.live = live
        yield made


def test_a_request_has_a_span_named_by_its_route(traced: Traced) -> None:
    response = traced.live.post({"text": "one"})

    (span,) = traced.spans(1)
    assert span.name == "POST /translate"
    assert dict(span.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/translate",
        "http.response.status_code": 200,
        "passerelle.request_id": response.headers["x-request-id"],
    }


def test_a_span_belongs_to_the_trace_of_the_request(traced: Traced) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    traced.live.post({"text": "one"}, headers={"traceparent": f"00-{trace}-{parent}-01"})

    (span,) = traced.spans(1)
    assert f"{span.context.trace_id:032x}" == trace
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == parent


def test_only_errors_of_the_server_are_errors_of_its_spans(traced: Traced) -> None:
    traced.live.post({"text": "fail"})
    traced.live.post({})

    failed, refused = traced.spans(2)
    assert (failed.attributes or {})["http.response.status_code"] == 500
    assert not failed.status.is_ok
    assert (refused.attributes or {})["http.response.status_code"] == 422
    assert refused.status.is_ok


def test_nothing_that_was_sent_is_in_a_span(traced: Traced) -> None:
    with traced.live.client() as client:
        client.post("/translate", json={"text": f"{CANARY} fail"})
        client.get(f"/{CANARY}?{CANARY}={CANARY}", headers={"user-agent": CANARY, "tracestate": "a=b"})
        client.get(f"/translations/{CANARY}/alignment")
        client.request(CANARY.upper(), "/languages")

    spans = traced.spans(4)
    assert [span.name for span in spans] == [
        "POST /translate",
        "GET unmatched",
        "GET /translations/{id}/alignment",
        "_OTHER /languages",
    ]
    for span in spans:
        told = json.loads(span.to_json())
        assert CANARY not in json.dumps(told).lower()
        assert told["events"] == []


def test_without_the_setting_no_exporter_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.app.exporting_provider", lambda: pytest.fail("it was made"))
    with running(StubTranslator()) as live:
        assert live.post({"text": "one"}).status_code == 200


def test_the_exporter_says_who_sends() -> None:
    provider = exporting_provider()
    try:
        assert provider.resource.attributes["service.name"] == "passerelle"
    finally:
        provider.shutdown()


def test_a_missing_package_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_otlp(name: str, *args: Any, **options: Any) -> Any:
        if name.startswith("opentelemetry.exporter"):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without_otlp)
    with pytest.raises(ConfigError, match=r"pip install 'passerelle\[otel\]' or turn it off"):
        exporting_provider()
    assert Settings().otel is False
