"""``/alternatives`` and the prefix of ``/translate`` on a real server with the shipped models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from nmt.translator import Translator
from tests.service.conftest import LiveServer, running

WOMAN = "A young woman is reading a book in the park."
LANGUAGES = {"source": "en", "target": "fr"}


@pytest.fixture(scope="module")
def live() -> Iterator[LiveServer]:
    translator = Translator.load("general", device="cpu")
    translator.warm_up()
    with running(translator, max_text_characters=500) as server:
        yield server


def ask(live: LiveServer, **fields: Any) -> httpx.Response:
    with live.client() as client:
        return client.post("/alternatives", json={"text": WOMAN, **LANGUAGES, **fields})


def assert_problem(answer: httpx.Response, status: int) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def translated(live: LiveServer, text: str | list[str], prefix: str | list[str], **fields: Any) -> Any:
    answer = live.post({"text": text, "prefix": prefix, **LANGUAGES, **fields})
    return answer.raise_for_status().json()["translations"][0]


def test_words_that_may_follow_come_likeliest_first(live: LiveServer) -> None:
    answer = ask(live, prefix="Une", count=4)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()
    assert (found["source"], found["target"], found["model"]) == ("en", "fr", live.translator.config.name)
    first, *others = found["alternatives"]
    assert (first["text"], first["prefix"]) == ("jeune", "Une jeune")
    assert len(others) == 3
    shares = [one["probability"] for one in found["alternatives"]]
    assert 1 >= shares[0] >= shares[1] >= shares[2] >= shares[3] > 0

    assert len(ask(live).json()["alternatives"]) == 5
    assert ask(live).json()["alternatives"][0]["prefix"] == "Une"


def test_each_alternative_can_be_gone_on_with(live: LiveServer) -> None:
    for alternative in ask(live, prefix="Une jeune femme", count=3).json()["alternatives"]:
        found = translated(live, WOMAN, alternative["prefix"], alignment="links")
        assert found["text"].startswith(alternative["prefix"])
        assert found["links"]
        assert found["sentences"][0]["confidence"] is not None


def test_the_language_may_be_left_to_the_server(live: LiveServer) -> None:
    with live.client() as client:
        found = client.post("/alternatives", json={"text": WOMAN, "prefix": "Une"}).json()
    assert found["alternatives"][0]["text"] == "jeune"


def test_a_text_of_several_sentences_has_a_prefix_for_each(live: LiveServer) -> None:
    found = translated(live, f"It is late. {WOMAN}", ["", "Une jeune fille"], n_best=3)
    second = found["sentences"][1]
    assert found["text"][second["target"]["start"] :].startswith("Une jeune fille ")
    assert all(one["text"].startswith("Une jeune fille ") for one in second["alternatives"])
    assert translated(live, WOMAN, ["  "])["text"] == translated(live, WOMAN, "Une")["text"]


def test_a_stream_begins_sentences_as_they_were_given(live: LiveServer) -> None:
    body = {"text": f"It is late. {WOMAN}", "prefix": ["", "Une jeune fille"], **LANGUAGES}
    answer = live.post(body, headers={"accept": "text/event-stream"})
    assert answer.text.count("event: sentence") == 2
    assert "Une jeune fille " in answer.text


@pytest.mark.parametrize(
    ("fields", "status", "detail"),
    [
        ({"text": "One. Two.\nThree."}, 422, "1 prefixes for a text of 2 sentences"),
        ({"text": ""}, 422, "1 prefixes for a text of 0 sentences"),
        ({"text": "a" * 501}, 413, "the limit is 500"),
        ({"prefix": "a" * 501}, 413, "prefix has 501 characters; the limit is 500"),
        ({"source": "fr", "target": "en"}, 422, "this server translates from en to fr only"),
        ({"french_typography": 3}, 422, ""),
        ({"count": 0}, 422, ""),
        ({"count": 21}, 422, ""),
        ({"texts": "a"}, 422, ""),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_a_problem(
    live: LiveServer, fields: dict[str, Any], status: int, detail: str
) -> None:
    answer = ask(live, **fields)
    assert_problem(answer, status)
    assert detail.lower() in answer.json()["detail"].lower()
    assert "aaaa" not in answer.text


@pytest.mark.parametrize(
    ("fields", "status", "detail"),
    [
        ({"text": [WOMAN, WOMAN], "prefix": "Une"}, 422, "prefix is of one text, and these are 2"),
        ({"prefix": ["Une", "Deux"]}, 422, "2 prefixes for a text of 1 sentences"),
        ({"prefix": "Une", "min_confidence": 0.1}, 422, "min_confidence"),
        ({"prefix": "Une", "markup": "html"}, 422, "leave out prefix"),
        ({"prefix": ["a" * 300, "a" * 300]}, 413, "prefix has 600 characters; the limit is 500"),
    ],
    ids=str,
)
def test_a_prefix_that_cannot_be_kept_is_a_problem(
    live: LiveServer, fields: dict[str, Any], status: int, detail: str
) -> None:
    answer = live.post({"text": WOMAN, **LANGUAGES, **fields})
    assert_problem(answer, status)
    assert detail.lower() in answer.json()["detail"].lower()


def test_it_needs_a_key_and_characters_where_translations_do(live: LiveServer) -> None:
    with running(live.translator, keys="required") as closed, closed.client() as client:
        body = {"text": WOMAN, "prefix": "Une", **LANGUAGES}
        assert_problem(client.post("/alternatives", json=body), 401)
        _, key = closed.service.database.keys.create("team")
        headers = {"authorization": f"Bearer {key}"}
        assert client.post("/alternatives", json=body, headers=headers).status_code == 200
        usage = client.get("/usage", headers=headers).json()
        assert str(len(WOMAN)) in str(usage)
