"""Words that a model makes up are told from forms that were never seen."""

from __future__ import annotations

import pytest

from nmt.pipeline.check import check_translation
from nmt.spans import Span
from nmt.text.known_words import unknown_words


@pytest.mark.parametrize(
    ("source", "target", "language", "unknown"),
    [
        ("Preheat the oven.", "Préheat le four.", "fr", ["Préheat"]),
        ("The sharpened knife", "Le couteau sharpéné", "fr", ["sharpéné"]),
        ("Éteignez la lampe.", "Exstinguish the lamp.", "en", ["Exstinguish"]),
        ("He is old.", "Il est vieux et la maison est grande.", "fr", []),
        ("We saw the zorbling.", "Nous avons vu le zorbling.", "fr", []),
        ("He met Zorblatt.", "Il a vu Blattzor.", "fr", []),
        ("They would unscrew it.", "Ils le dévissaient.", "fr", []),
        ("The knife", "Das Zorbling", "de", []),
    ],
)
def test_made_up_words_are_named(source: str, target: str, language: str, unknown: list[str]) -> None:
    assert unknown_words(source, target, language) == unknown


def test_what_was_copied_is_left_out() -> None:
    assert unknown_words("a", "le zorbling", "fr") == ["zorbling"]
    assert unknown_words("a", "le zorbling", "fr", [Span(3, 11)]) == []


def test_a_check_names_the_word() -> None:
    problems = check_translation("The chemist's is open.", "La chemisserquie est ouverte.")
    assert [(one.kind, one.detail) for one in problems] == [("unknown_word", "chemisserquie")]
