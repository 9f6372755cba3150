"""The lexicon of short texts: found whatever the capitals and marks of a text, given back in its shape."""

from __future__ import annotations

import pytest

from nmt.text.lexicon import look_up, look_up_plural
from nmt.text.lexicon.lookup import FOLDER, is_common
from scripts.make_lexicon import own_pairs


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("dog", "chien"),
        ("Dog", "Chien"),
        ("DOG", "CHIEN"),
        ("home", "maison"),
        ("Home", "Accueil"),
        ("Good morning!", "Bonjour !"),
        ("Good morning", "Bonjour"),
        ("Are you sure?", "Êtes-vous sûr ?"),
        ("germany", "Allemagne"),
        ("Search:", "Rechercher :"),
    ],
)
def test_english(text: str, first: str) -> None:
    entry = look_up(text, "en", "fr")
    assert entry is not None
    assert entry.translations[0] == first


@pytest.mark.parametrize(
    ("text", "first"),
    [("rechercher", "search"), ("Merci !", "Thank you!"), ("Aujourd’hui", "Today"), ("Où ?", "Where?")],
)
def test_french(text: str, first: str) -> None:
    entry = look_up(text, "fr", "en")
    assert entry is not None
    assert entry.translations[0] == first


def test_what_is_not_there_is_none() -> None:
    assert look_up("a text that nobody has written yet, surely not", "en", "fr") is None
    assert look_up("xyzzy", "en", "fr") is None
    assert look_up("dog", "en", "de") is None
    assert look_up("", "en", "fr") is None
    assert look_up("...", "en", "fr") is None


def test_a_question_is_not_its_statement() -> None:
    question, statement = look_up("Pardon?", "en", "fr"), look_up("Pardon", "en", "fr")
    assert question is not None
    assert statement != question


def test_another_known_translation_is_accepted_whatever_its_capitals() -> None:
    entry = look_up("Search", "en", "fr")
    assert entry is not None
    assert entry.has("recherche")
    assert entry.has("Rechercher.")
    assert not entry.has("Chien")


def test_the_file_has_three_columns_and_the_corpus_short_pairs() -> None:
    lines = (FOLDER / "en-fr.tsv").read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines]
    assert {len(row) for row in cells} == {3}
    assert {(english, french) for _, english, french in own_pairs()} <= {(row[0], row[1]) for row in cells}


@pytest.mark.parametrize(
    ("languages", "plural", "translation"),
    [
        ("en fr", "storks", "cigognes"),
        ("en fr", "Castles", "Châteaux"),
        ("en fr", "DISCOVERIES", "DÉCOUVERTES"),
        ("en fr", "Newspapers:", "Journaux :"),
        ("fr en", "leçons", "lessons"),
        ("fr en", "Châteaux", "Castles"),
        ("fr en", "bouleaux", "birches"),
        ("fr en", "journaux", "newspapers"),
    ],
)
def test_plurals_follow_from_singulars(languages: str, plural: str, translation: str) -> None:
    entry = look_up_plural(plural, *languages.split())
    assert entry is not None
    assert translation in entry.translations


@pytest.mark.parametrize("text", ["stork", "establishes", "two storks", "gas", "xyzzys", "Naples", "", "..."])
def test_what_is_no_plural_of_a_noun_has_no_entry(text: str) -> None:
    assert look_up_plural(text, "en", "fr") is None
    assert look_up_plural(text, "en", "de") is None


def test_common_words_are_no_names() -> None:
    common = [
        word
        for word in ("Castle", "CASTLES", "Dog", "Naples", "Jack", "Xyzzy")
        if is_common(word, "en", "fr")
    ]
    assert common == ["Castle", "CASTLES", "Dog"]
