"""Numbers of a sentence and its translation, by examples."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.numbers import compare_numbers, compare_spelled_numbers, in_french, is_unit


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("It costs $1,000.50 today", "Cela coûte 1 000,50 $ aujourd'hui"),
        ("It costs $1,000.50 today", "Cela coûte 1\u202f000,5 $"),
        ("10,000", "10.000"),
        ("1.5 million", "1,5 million"),
        ("at 3:30 pm", "à 15 h 30"),
        ("at 3:30 p.m.", "à 3 h 30"),
        ("at 12 am", "à 0 heure"),
        ("at 12:30", "à 12.30"),
        ("Tom has 3 cats and 17 dogs", "Tom a trois chats et 17 chiens"),
        ("five", "5"),
        ("twenty-five", "25"),
        ("five hundred", "500"),
        ("2 and 2", "2 et 2"),
        ("the 1990s", "les années 90"),
        ("the 1st", "le 1er"),
        ("555-1234", "555-1234"),
        ("no number", "aucun nombre"),
        ("5 kg and 3km", "3 kilomètres et 5 kg"),
        ("20 MB", "20 Mo"),
    ],
)
def test_the_same_numbers_written_in_another_way_are_fine(source: str, target: str) -> None:
    assert compare_numbers(source, target).ok


@pytest.mark.parametrize(
    ("source", "target", "missing", "invented"),
    [
        ("12,345 people in 1998", "140 personnes en 1990", ("12,345", "1998"), ("140", "1990")),
        ("17 dogs", "10 chiens", ("17",), ("10",)),
        ("a cat", "10 chats", (), ("10",)),
        ("2 and 2", "2", ("2",), ()),
        ("3.14", "314", ("3.14",), ("314",)),
        ("3:30", "15 h 30", ("3",), ("15",)),
        ("1,000", "10 000", ("1,000",), ("10 000",)),
        ("17 dogs", "des chiens", ("17",), ()),
        ("5 kg at 3 km/h", "5 à 3", ("kg", "km/h"), ()),
        ("5 kg", "5 makgo", ("kg",), ()),
    ],
)
def test_lost_and_invented_numbers_are_named(
    source: str, target: str, missing: tuple[str, ...], invented: tuple[str, ...]
) -> None:
    check = compare_numbers(source, target)
    assert (check.missing, check.invented) == (missing, invented)
    assert not check.ok


def test_spans_to_ignore_do_not_count() -> None:
    assert compare_numbers("v2.0.1 of 7", "7", ignore_source=[Span(0, 6)]).ok
    assert compare_numbers("7", "v2.0.1 de 7", ignore_target=[Span(0, 6)]).ok


def test_an_ordinal_that_is_copied_becomes_french() -> None:
    assert [in_french(number) for number in ("1st", "10th", "3.5", "21st")] == ["1er", "10e", "3.5", "21e"]


def test_the_symbol_of_a_unit_is_one_only_after_a_number() -> None:
    assert is_unit("5 MHz", 2, 5)
    assert is_unit("5MHz", 1, 4)
    assert not is_unit("a MHz", 2, 5)
    assert not is_unit("5 MHzes", 2, 7)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("two to fourteen days", "deux à quatorze jours"),
        ("Ninety-two people came.", "92 personnes sont venues."),
        ("at six in the evening", "à dix-huit heures"),
        ("a hundred and five, two thousand three hundred", "cent cinq, deux mille trois cents"),
        ("fifteen or so", "une quinzaine"),
        ("hundreds of people, ten per cent", "des centaines de personnes, dix pour cent"),
        ("both of them, one second later", "tous deux, une seconde plus tard"),
        ("a new building on the third floor", "un bâtiment neuf au troisième étage"),
    ],
)
def test_the_same_numbers_in_words_are_fine(source: str, target: str) -> None:
    assert compare_spelled_numbers(source, target).ok
    assert compare_spelled_numbers(target, source, source_language="fr", target_language="en").ok


@pytest.mark.parametrize(
    ("source", "target", "missing", "invented"),
    [
        ("two to fourteen days", "deux à quatre jours", ("fourteen",), ("quatre",)),
        ("There are ninety-two of them.", "Il y en a soixante-douze.", ("ninety-two",), ("soixante-douze",)),
        ("for eleven years", "depuis des années", ("eleven",), ()),
        ("for years", "depuis vingt et un ans", (), ("vingt et un",)),
    ],
)
def test_a_number_in_words_that_changed_is_named(
    source: str, target: str, missing: tuple[str, ...], invented: tuple[str, ...]
) -> None:
    found = compare_spelled_numbers(source, target)
    assert (found.missing, found.invented) == (missing, invented)
    assert not found.ok


def test_numbers_in_words_of_a_language_that_is_not_known_are_not_looked_for() -> None:
    assert compare_spelled_numbers("vierzehn Tage", "quatorze jours", source_language="de").invented
    assert compare_spelled_numbers("fourteen days", "vierzehn Tage", target_language="de").missing
