"""A text in another language than the model's is flagged, and so is one whose language nobody said or saw."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.stub import StubTranslator, backwards
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import assert_problem

ENGLISH = "The meeting was moved to Friday afternoon."
FRENCH = "La réunion a été déplacée à vendredi après-midi."


def translated(live: LiveServer, text: str, **body: Any) -> dict[str, Any]:
    response = live.post({"text": text, **body})
    assert response.status_code == 200, response.text
    return response.json()["translations"][0]


@pytest.mark.parametrize("source", [{}, {"source": "auto"}, {"source": "en"}])
def test_the_language_of_the_model_is_detected_and_not_flagged(live: LiveServer, source: dict) -> None:
    translation = translated(live, ENGLISH, **source)

    assert translation["detected_source"]["language"] == "en"
    assert 0.5 <= translation["detected_source"]["score"] <= 1
    assert translation["flags"] == []


@pytest.mark.parametrize("source", [{}, {"source": "auto"}, {"source": "en"}])
def test_another_language_is_translated_and_flagged(live: LiveServer, source: dict) -> None:
    translation = translated(live, FRENCH, **source)

    assert translation["text"] == backwards(FRENCH)
    assert translation["detected_source"]["language"] == "fr"
    assert translation["flags"] == [{"kind": "wrong_source_language", "sentence": None}]


def test_a_word_is_flagged_as_unknown_unless_the_request_says_its_language(live: LiveServer) -> None:
    unsaid, said = translated(live, "Paris"), translated(live, "Paris", source="en")

    assert unsaid["detected_source"]["language"] is said["detected_source"]["language"] is None
    assert [flag["kind"] for flag in unsaid["flags"]] == ["unknown_source_language"]
    assert said["flags"] == []


def test_blank_text_is_in_no_language_and_nothing_is_wrong_with_it(live: LiveServer) -> None:
    for text in ("", " \n"):
        assert translated(live, text)["flags"] == []


def test_each_text_of_a_list_has_its_own_language(live: LiveServer) -> None:
    translations = live.post({"text": [ENGLISH, FRENCH, "", ENGLISH]}).json()["translations"]

    assert [t["detected_source"]["language"] for t in translations] == ["en", "fr", None, "en"]
    assert [len(t["flags"]) for t in translations] == [0, 1, 0, 0]


def test_a_source_that_the_model_does_not_read_is_refused(live: LiveServer) -> None:
    assert_problem(live.post({"text": FRENCH, "source": "fr"}), 422, "unsupported-language")
    assert_problem(live.post({"text": ENGLISH, "target": "auto"}), 422, "unsupported-language")


def test_the_expected_language_is_that_of_the_model() -> None:
    translator = StubTranslator()
    translator.config = translator.config.model_copy(
        update={"source_language": "fr", "target_language": "en"}
    )
    with running(translator) as live:
        assert translated(live, FRENCH, target="en")["flags"] == []
        assert translated(live, ENGLISH, target="en")["flags"] == [
            {"kind": "wrong_source_language", "sentence": None}
        ]
