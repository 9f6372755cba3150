"""The determiner before a word that takes another's place."""

from __future__ import annotations

import pytest

from nmt.text.determiners import beginnings


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("Je vois la ", "faisceau", ["Je vois le ", "Je vois la "]),
        ("Je vois la ", "arnaque", ["Je vois l'"]),
        ("ce genre d'", "moule", ["ce genre de "]),
        ("le prix de la ", "auto", ["le prix de l'"]),
        ("L'", "rougeole", ["Le ", "La "]),
        ("Ma ", "amie", ["Mon "]),
        ("l’", "hôtel", ["le ", "la ", "l'"]),
        ("voilà ", "rien", ["voilà "]),
        ("", "Rien", [""]),
        ("Il mange une ", "pomme", ["Il mange un ", "Il mange une "]),
    ],
)
def test_french_determiners_fit_the_word(before: str, word: str, expected: list[str]) -> None:
    assert sorted(beginnings(before, word, "fr")) == sorted(expected)


def test_english_has_two_forms_of_one_article() -> None:
    assert beginnings("This is a ", "apple", "en") == ["This is an "]
    assert beginnings("This is an ", "pear", "en") == ["This is a "]
    assert beginnings("A banana and ", "apple", "en") == ["A banana and "]


def test_a_language_without_rules_keeps_what_stands_there() -> None:
    assert beginnings("der ", "Hund", "de") == ["der "]
