"""``alignment: heads`` of ``POST /translate``: the attention of every head, under its own limits."""

from __future__ import annotations

import pytest

from service.calls.limits import HEADS_MAX_CHARACTERS
from tests.service.conftest import LiveServer


def test_an_answer_has_the_heads_of_each_sentence(live: LiveServer) -> None:
    answer = live.post({"text": "one two three\nfour five", "target": "fr", "alignment": "heads"}).json()
    first, second = answer["translations"][0]["sentences"]
    assert first["heads"]["source"] == ["one", "two", "three", "</s>"]
    assert first["heads"]["read"] == ["<s>", "eerht", "owt", "eno"]
    assert second["heads"]["written"] == ["evif", "ruof", "</s>"]
    assert [len(layer) for layer in first["heads"]["cross"]] == [4, 4, 4, 4]
    assert first["heads"]["cross"][1][1][0] == [0.0, 0.0, 1.0, 0.0]
    assert first["attention"] is not None


def test_other_answers_have_none_and_what_is_kept_has_none(live: LiveServer) -> None:
    soft = live.post({"text": "one two", "target": "fr", "alignment": "soft"}).json()
    assert soft["translations"][0]["sentences"][0]["heads"] is None
    heads = live.post({"text": "one two", "target": "fr", "alignment": "heads"}).json()["translations"][0]
    with live.client() as client:
        kept = client.get(f"/translations/{heads['id']}/alignment").json()
    assert kept["sentences"][0]["heads"] is None
    assert kept["sentences"][0]["attention"] == heads["sentences"][0]["attention"]


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        (["one", "two"], 422, "one text, these are 2"),
        ("x" * (HEADS_MAX_CHARACTERS + 1), 413, f"the limit is {HEADS_MAX_CHARACTERS}"),
    ],
)
def test_more_than_one_short_text_is_refused_with_the_limit(
    live: LiveServer, text: str | list[str], status: int, message: str
) -> None:
    answer = live.post({"text": text, "target": "fr", "alignment": "heads"})
    assert answer.status_code == status
    assert message in answer.json()["detail"]
    assert "xx" not in answer.text
    assert live.post({"text": "x" * HEADS_MAX_CHARACTERS, "target": "fr", "alignment": "heads"}).is_success


def test_the_limit_is_told_and_the_drawing_is_served(live: LiveServer) -> None:
    with live.client() as client:
        assert client.get("/languages").json()["limits"]["heads_characters"] == HEADS_MAX_CHARACTERS
        assert client.get("/static/heads.js").headers["content-type"].startswith("text/javascript")
        assert client.get("/static/heads.css").headers["content-type"].startswith("text/css")
        assert client.get("/static/maps.py").status_code == 404
