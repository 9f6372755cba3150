"""Sentences by server-sent events, and the client's own deadline."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from service.routes.translate import EVENT_STREAM
from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import assert_problem

TEXT = "one two three\n\nfour five\nsix"


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    failure = lambda text: RuntimeError("CANARY") if "fail" in text else None  # noqa: E731
    with running(StubTranslator(failure=failure), request_timeout_s=30) as server:
        yield server


def events(response: httpx.Response) -> list[tuple[str, Any]]:
    found = []
    for block in response.text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def stream(live: LiveServer, **body: Any) -> httpx.Response:
    return live.post(body, headers={"Accept": EVENT_STREAM})


def test_sentences_come_in_order_and_the_whole_answer_last(live: LiveServer) -> None:
    response = stream(live, text=[TEXT, "seven"], alignment="links")

    assert response.status_code == 200
    assert response.headers["content-type"].startswith(EVENT_STREAM)
    assert response.headers["cache-control"] == "no-store"
    *sentences, (last, whole) = events(response)
    assert {name for name, _ in sentences} == {"sentence"}
    assert last == "done"
    assert [(event["text_index"], event["sentence_index"]) for _, event in sentences] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
    ]
    assert [event["n_sentences"] for _, event in sentences] == [3, 3, 3, 1]
    assert [TEXT[e["source"]["start"] : e["source"]["end"]] for _, e in sentences[:3]] == [
        "one two three",
        "four five",
        "six",
    ]
    first = sentences[0][1]
    assert first["text"] == "eerht owt eno"
    assert [token["start"] for token in first["source_tokens"]] == [0, 4, 8]
    assert sentences[1][1]["source_tokens"][0] == {"text": "four", "start": 0, "end": 4}
    assert [(link["source"], link["target"]) for link in sentences[1][1]["links"]] == [(1, 0), (0, 1)]
    assert whole["translations"][0]["text"] == backwards(TEXT)
    plain = live.post({"text": [TEXT, "seven"], "alignment": "links"}).json()
    for one, other in zip(whole["translations"], plain["translations"], strict=True):
        one.pop("id")
        other.pop("id")
        assert one == other


def test_the_alignment_of_a_streamed_answer_is_kept(live: LiveServer) -> None:
    (*_, (_, whole)) = events(stream(live, text="one two", alignment="links"))
    with live.client() as client:
        kept = client.get(f"/translations/{whole['translations'][0]['id']}/alignment")
    assert kept.status_code == 200


def test_what_goes_wrong_before_the_first_sentence_has_a_status_of_its_own(live: LiveServer) -> None:
    assert_problem(stream(live, text="a", source="de"), 422, "unsupported-language")
    failed = stream(live, text="fail")
    assert_problem(failed, 500, "internal-error")
    assert "CANARY" not in failed.text


def test_a_client_may_set_a_shorter_deadline(live: LiveServer) -> None:
    live.translator.gate.clear()
    started = time.monotonic()
    late = live.post({"text": "slow"}, headers={"X-Request-Timeout": "0.3"})
    assert_problem(late, 504, "timeout")
    assert "0.3 seconds" in late.json()["detail"]
    assert time.monotonic() - started < 10
    live.translator.gate.set()


@pytest.mark.parametrize("value", ["0", "-1", "31", "soon", "nan"])
def test_a_deadline_that_cannot_be_is_refused_with_the_limit(live: LiveServer, value: str) -> None:
    refused = live.post({"text": "a"}, headers={"X-Request-Timeout": value})
    assert_problem(refused, 422, "invalid-input")
    assert "30" in refused.json()["detail"]
    assert value not in refused.json()["detail"] or value in ("0", "31", "-1")
