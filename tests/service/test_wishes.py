"""What a request may wish for besides a translation: glossary, form of address, confidence, attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from nmt.config import AlignmentConfig
from nmt.options import DEFAULTS, TranslationOptions
from nmt.spans import Span
from nmt.text.glossary import AppliedTerm, Glossary, Term
from nmt.translator import Translation
from testbed.stub import StubTranslator
from tests.service.conftest import LiveServer, running
from tests.service.http.test_problems import assert_problem

CANARY = "xylophonequartz"
TERMS = [{"source": "one", "target": "un"}, {"source": "two", "target": "deux", "inflect": True}]


class WishedTranslator(StubTranslator):
    """Remembers what else it was asked for, and applies every term at once."""

    def translate(
        self, texts: Sequence[str], options: TranslationOptions = DEFAULTS, **arguments: Any
    ) -> list[Translation]:
        found = super().translate(texts, options, **arguments)
        glossary = options.glossary or Glossary()
        for translation in found:
            applied = tuple(
                AppliedTerm(Span(0, 3), Span(4, 7), term, "enforced") for term in glossary.terms[:1]
            )
            object.__setattr__(translation, "terms", applied)
            object.__setattr__(translation, "confidence", 0.51239)
        return found


@pytest.fixture(scope="module")
def wished():
    with running(WishedTranslator()) as live:
        yield live


def test_without_wishes_the_translator_is_asked_for_none(wished: LiveServer) -> None:
    wished.post({"text": "one", "glossary": []})

    assert wished.translator.wishes[-1] == {}


def test_every_wish_reaches_the_translator(wished: LiveServer) -> None:
    answer = wished.post(
        {
            "text": "one two",
            "alignment": "soft",
            "glossary": TERMS,
            "formality": "formal",
            "context": "Thank you.",
            "french_typography": True,
            "split_sentences": False,
            "quality": "best",
            "min_confidence": 0.25,
            "attention": {"layer": 3, "heads": [0, 2]},
        }
    )

    assert wished.translator.wishes[-1] == {
        "glossary": Glossary.of([Term("one", "un"), Term("two", "deux", inflect=True)]),
        "formality": "formal",
        "context": "Thank you.",
        "french_typography": True,
        "split_sentences": False,
        "quality": "best",
        "min_confidence": 0.25,
        "attention": AlignmentConfig(layer=3, heads=(0, 2)),
    }
    translation = answer.json()["translations"][0]
    assert translation["terms"] == [{"source": {"start": 0, "end": 3}, "target": {"start": 4, "end": 7}}]
    assert translation["confidence"] == 0.5124


def test_a_layer_alone_averages_its_heads(wished: LiveServer) -> None:
    wished.post({"text": "one", "alignment": "soft", "attention": {"layer": 0}})

    assert wished.translator.wishes[-1] == {"attention": AlignmentConfig(layer=0)}


@pytest.mark.parametrize("attention", [{"layer": 4}, {"layer": 0, "heads": [4]}])
def test_a_layer_or_head_that_is_not_there_is_refused_with_what_there_is(
    wished: LiveServer, attention: dict[str, Any]
) -> None:
    response = wished.post({"text": "one", "alignment": "soft", "attention": attention})

    assert_problem(response, 422, "invalid-input")
    assert "decoder layers 0 to 3 and heads 0 to 3" in response.json()["detail"]
    with wished.client() as client:
        assert client.get("/languages").json()["attention"] == {"layers": 4, "heads": 4}


def test_a_context_longer_than_a_text_is_refused_by_name(wished: LiveServer) -> None:
    response = wished.post({"text": "one", "context": "x" * 20_001})

    assert_problem(response, 413, "text-too-long")
    assert "Context has 20001 characters" in response.json()["detail"]


@pytest.mark.parametrize(
    ("wish", "kind", "told"),
    [
        ({"glossary": [TERMS[0], {"source": "One", "target": CANARY}]}, "invalid-input", "Glossary: entry 2"),
        ({"glossary": [{"source": "one"}]}, "invalid-request", "body.glossary.0.target"),
        ({"glossary": [{"source": CANARY, "target": ""}]}, "invalid-request", "body.glossary.0.target"),
        ({"glossary": [TERMS[0]] * 1001}, "invalid-request", "1000 items"),
        ({"formality": CANARY}, "invalid-request", "body.formality"),
        ({"min_confidence": 1.5}, "invalid-request", "body.min_confidence"),
        ({"attention": {"layer": -1}}, "invalid-request", "body.attention.layer"),
        ({"attention": {"layer": 0, "heads": []}}, "invalid-request", "body.attention.heads"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_by_name(
    wished: LiveServer, wish: dict[str, Any], kind: str, told: str
) -> None:
    response = wished.post({"text": "one", **wish})

    assert_problem(response, 422, kind)
    assert told in response.json()["detail"]
    assert CANARY not in response.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"quality": "best", "beam_size": 3}, "as beam_size does"),
        ({"quality": "fast", "n_best": 2}, "finds one translation"),
        ({"quality": "best"}, "the limit of this server is 4"),
    ],
)
def test_a_quality_at_odds_with_a_beam_is_refused(asked: dict[str, Any], words: str) -> None:
    with running(WishedTranslator(), max_beam_size=4) as live:
        answer = live.post({"text": "one", **asked})

    assert_problem(answer, 422, "invalid-input")
    assert words in answer.json()["detail"]
