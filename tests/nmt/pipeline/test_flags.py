"""Each flag: a sentence that must raise it and one that must not."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from nmt.pipeline.flags import (
    FLAG_KINDS,
    Flag,
    copied_words,
    doubled_words,
    is_copy,
    is_in_other_language,
    is_too_short,
    is_unaligned,
    wrong_marks,
)
from nmt.text.words import words

SOURCE = "The two young men are playing football in the park with Anna."


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (SOURCE, SOURCE),
        (SOURCE, "Les two young men are playing football in the parc."),
        ("TURN OFF THE LIGHT NOW", "TURN OFF THE LIGHT NOW"),
    ],
)
def test_a_copy_of_the_source_is_seen(source, target):
    assert is_copy(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (SOURCE, "Les deux jeunes hommes jouent au football dans le parc avec Anna."),
        ("Anna Maria Smith, John Brown, Paris, London", "Anna Maria Smith, John Brown, Paris, London"),
        ("Restaurant", "Restaurant"),
        ("The international conference on nature", "La conférence internationale sur la nature"),
        ("12 345 67", "12 345 67"),
        ("", ""),
    ],
)
def test_names_single_words_and_cognates_are_no_copy(source, target):
    assert not is_copy(source, target)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Das ist ein sehr schönes Haus und ich möchte dort wohnen.", "fr"),
        ("This is a very beautiful house and I want to live there.", "fr"),
        ("C'est une très belle maison et je voudrais y habiter.", "en"),
        ("Esta casa es muy hermosa y nosotros queremos vivir allí para siempre.", "fr"),
        ("De man loopt over het water en wil daar elke week nog een hand geven.", "en"),
    ],
)
def test_another_language_is_seen(text, language):
    assert is_in_other_language(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("C'est une très belle maison et je voudrais y habiter.", "fr"),
        ("This is a very beautiful house and I want to live there.", "en"),
        ("Guten Tag", "fr"),  # too little to tell
        ("12 345 678 910 11 12 13 14", "fr"),
        ("", "fr"),
    ],
)
def test_the_right_language_and_too_few_words_raise_nothing(text, language):
    assert not is_in_other_language(text, language)


def test_a_stretch_of_words_without_links_is_seen_across_punctuation():
    target = words("un deux, trois - quatre cinq six")
    plain = [(0, index) for index, word in enumerate(target) if word.text.isalnum()]
    assert is_unaligned([], target, [])
    assert is_unaligned([], target, plain[:1])
    assert not is_unaligned([], target, plain[1:2])
    assert not is_unaligned([], target, plain)
    assert not is_unaligned([], words("! ? ! ? ! ? ! ?"), [])
    assert not is_unaligned([], [], [])


def test_a_source_of_which_most_has_no_link_is_seen():
    source, target = words("one two, three four five"), words("un deux")
    assert is_unaligned(source, target, [(0, 0)])
    assert not is_unaligned(source, target, [(0, 0), (3, 1)])
    assert not is_unaligned(source[:5], target, [(0, 0)]), "four words are too few to tell"


def test_a_translation_far_shorter_than_its_source_is_seen():
    assert is_too_short(SOURCE, "Les deux hommes.")
    assert not is_too_short(SOURCE, "Les deux jeunes hommes jouent.")
    assert not is_too_short("Yes, of course, my friend.", "Oui.")


def test_every_kind_of_flag_is_explained_in_its_docstring():
    import inspect

    from nmt.pipeline import flags

    source = inspect.getsource(flags.Flag)
    assert all(f"    {kind}: " in source for kind in FLAG_KINDS)
    assert get_type_hints(Flag)["sentence"] is int


@pytest.mark.parametrize(
    ("source", "target", "copied"),
    [
        ("She is looking for heavy boots.", "Elle looking des bottes heavy.", ["looking", "heavy"]),
        ("Heavy rain", "Heavy pluie", ["heavy"]),
        ("Looking Glass is a game by John Baker.", "Looking Glass est un jeu de John Baker.", ["looking"]),
        ("The table is in Looking Glass.", "La table est dans Looking Glass.", []),
        ("a simple question", "une simple question", []),
    ],
)
def test_ordinary_words_of_the_source_that_were_copied_are_named(
    source: str, target: str, copied: list[str]
) -> None:
    assert copied_words(source, target, "en") == copied


def test_a_language_without_a_word_list_has_no_copied_words() -> None:
    assert copied_words("the heavy rain", "the heavy rain", "de") == []


@pytest.mark.parametrize(
    ("source", "target", "doubled"),
    [
        ("The dog is here.", "Le chien chien est ici.", ["chien chien"]),
        ("Terms and policy", "la vie privée et la vie privée", ["la vie privée et la vie privée"]),
        ("Terms", "la vie privée et de la vie privée", ["la vie privée et de la vie privée"]),
        ("Terms", "les conditions et les conditions", ["les conditions et les conditions"]),
        ("Terms & rules", "Conditions & Conditions", ["Conditions & Conditions"]),
        ("again and again", "encore et encore", []),
        ("bye bye, dog dog", "Le chien chien", []),
        ("We thank you.", "Nous nous remercions.", []),
        ("A man with a man", "Un homme avec un homme", []),
    ],
)
def test_doubled_words_and_phrases_are_seen(source: str, target: str, doubled: list[str]) -> None:
    assert doubled_words(source, target) == doubled


@pytest.mark.parametrize(
    ("source", "target", "wrong"),
    [
        ("The house (old) is red.", "La maison (vieille) est rouge.", []),
        ("The house (old) is red.", "La maison est rouge.", ["()"]),
        ("The house (old) is red.", "La maison () est rouge.", ["()"]),
        ("The house is red.", "La maison (est rouge.", ["()"]),
        ('The word "old" is here.', "Le mot « vieux » est ici.", []),
        ('The word "old" is here.', "Le mot vieux est ici.", ['""']),
        ('The word "old" is here.', 'Le mot "vieux est ici.', ['"']),
        ("item(s) (s)", "article(s)", []),
    ],
)
def test_marks_that_are_lost_or_alone_are_seen(source: str, target: str, wrong: list[str]) -> None:
    assert wrong_marks(source, target) == wrong


def test_words_in_lower_case_or_capitals_that_came_back_are_a_copy() -> None:
    assert is_copy("[DOOR OPENS]", "[DOOR OPENS]")
    assert is_copy("big house", "big house")
    assert not is_copy("RUBY CARTER", "RUBY CARTER")
    assert not is_copy("Big House", "Big House")
