"""What is in the target language, or has no words, is returned as it is; stars stay at their words."""

from __future__ import annotations

import pytest

from nmt.pipeline.flags import is_already_in
from nmt.text.casing import SurfaceForm
from nmt.text.literals import find_literals
from nmt.text.passthrough import reason_to_copy
from nmt.translator import Translator


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load("general", device="cpu")


@pytest.mark.parametrize("text", ["A B C", "X, Y, Z", "M O", "R O."])
def test_letters_alone_are_copied_without_a_flag(translator: Translator, text: str) -> None:
    (translation,) = translator.translate([text])
    assert (translation.text, translation.flags) == (text, ())


@pytest.mark.parametrize("text", ["I", "A cat", "A B cat", "a b", "OK"])
def test_words_are_no_letters_alone(text: str) -> None:
    assert reason_to_copy(text, "en") is None


def test_text_in_the_target_language_is_returned_with_a_flag(translator: Translator) -> None:
    text = "Nous avons vu le livre dans une voiture."
    (translation,) = translator.translate([text])
    assert translation.text == text
    assert {flag.kind for flag in translation.flags} == {"untranslated", "wrong_language"}


@pytest.mark.parametrize(
    ("text", "language", "read", "expected"),
    [
        ("Le chat est sur la table.", "fr", "en", True),
        ("The cat is on the table.", "en", "fr", True),
        ("The cat is on la table du chef.", "fr", "en", False),
        ("La Vie en Rose", "fr", "en", False),
        ("Le chat", "fr", "en", False),
        ("The house is old and red.", "fr", "en", False),
    ],
)
def test_only_what_is_certain_is_taken_for_translated(
    text: str, language: str, read: str, expected: bool
) -> None:
    assert is_already_in(text, language, read) is expected


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("**Note:** the **house** is big.", ["**"] * 4),
        ("2**3 and a ** b, ***", []),
    ],
)
def test_stars_around_words_are_literals(text: str, spans: list[str]) -> None:
    found = [text[one.span.start : one.span.end] for one in find_literals(text)]
    assert [one for one in found if one == "**"] == spans


def test_stars_around_all_of_a_text_are_taken_off() -> None:
    text = "**Read this first**"
    form = SurfaceForm.of(text, find_literals(text))
    assert text[form.core.start : form.core.end] == "Read this first"


@pytest.mark.parametrize("text", ["**Read this first**", "**Note:** The house is big."])
def test_stars_stay_and_words_are_translated(translator: Translator, text: str) -> None:
    (translation,) = translator.translate([text])
    assert translation.text.startswith("**")
    assert translation.text.count("**") == 2
    assert "** " not in translation.text.removesuffix("**").replace(":** ", "")
    assert translation.flags == ()
