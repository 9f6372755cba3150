"""What the shipped models drop in brackets or leave in English is translated by itself, or flagged."""

from __future__ import annotations

import pytest

from nmt.pipeline.quality import Judge
from nmt.pipeline.result import Candidate
from nmt.translator import Translator


@pytest.fixture(scope="module")
def translators() -> dict[str, Translator]:
    models = {"en": "general", "fr": "general_fr_en"}
    return {language: Translator.load(model, device="cpu") for language, model in models.items()}


@pytest.mark.parametrize(
    ("language", "text", "held", "not_held"),
    [
        ("en", "The house (big and red) is old.", ("La maison (", " et rouge) est vieille."), "big"),
        ("en", "Press the button (twice).", ("(deux fois).",), "twice"),
        ("en", 'The word "red" is here.', ('"rouge"',), "red"),
        ("fr", "Nous avons vu un bateau (trop petit).", ("(too ",), "petit"),
        ("fr", "La réunion (samedi matin) est annulée.", ("morning)",), "matin"),
    ],
)
def test_words_in_brackets_and_quotes_are_translated(
    translators: dict[str, Translator], language: str, text: str, held: tuple[str, ...], not_held: str
) -> None:
    (translation,) = translators[language].translate([text])
    assert all(part in translation.text for part in held), translation.text
    assert not_held not in translation.text
    assert translation.flags == ()


def test_the_aside_that_was_put_back_is_linked_to_that_of_the_source(
    translators: dict[str, Translator],
) -> None:
    text = "Ma voiture (rouge) est en panne."
    (translation,) = translators["fr"].translate([text])
    kept = [(text[a.start : a.end], translation.text[b.start : b.end]) for a, b in translation.kept]
    assert kept == [("(rouge)", "(red)")]


def test_a_literal_in_brackets_stays(translators: dict[str, Translator]) -> None:
    (translation,) = translators["en"].translate(["The house (see {name} today) is old."])
    assert translation.text.count("{name}") == 1
    assert translation.text.count("(") == 1


def test_brackets_that_stay_away_are_flagged() -> None:
    judge = Judge("en", "fr")

    def flags(target: str) -> tuple[str, ...]:
        candidate = Candidate(target, (), -1.0, -1.0, finished=True)
        return judge.verdict("The house (big and red) is old.", 9, candidate, None).flags

    assert "literal_lost" in flags("La maison est vieille.")
    assert flags("La maison (grande et rouge) est vieille.") == ()
