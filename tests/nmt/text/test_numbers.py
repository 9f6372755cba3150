"""Numbers of a sentence and its translation, by examples."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.edits import Rewriting
from nmt.text.numbers import compare_numbers, compare_spelled_numbers, in_french, is_unit, number_edits


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


@pytest.mark.parametrize(
    ("source", "target", "source_language"),
    [
        ("Le prix est de 12 500,00 euros.", "The price is 12,500,000 euros.", "fr"),
        ("Il a payé 1 250,00 €.", "He paid 1,250,000 €.", "fr"),
        ("2,500 kg", "2,500 kg", "fr"),
        ("1,250.00 USD", "1 250.000 USD", "en"),
        ("USD 1,261 were sent.", "1 USD 261 ont été envoyés.", "en"),
        ("70,000.00 USD", "70.000.000 USD", "en"),
        ("1,250 people", "1,250 personnes", "en"),
        ("12.500 litres", "12 500 litres", "en"),
    ],
)
def test_a_thousandfold_is_another_number(source: str, target: str, source_language: str) -> None:
    other = {"en": "fr", "fr": "en"}[source_language]
    assert not compare_numbers(source, target, source_language=source_language, target_language=other).ok


@pytest.mark.parametrize(
    ("source", "target", "source_language"),
    [
        ("12 500,00 euros", "12,500.00 euros", "fr"),
        ("12.500 euros", "12,500 euros", "fr"),
        ("3,5 km", "3,5 km", "fr"),
        ("1,250,000", "1,250,000", "en"),
        ("1,250.00 USD", "1,250.00 USD", "en"),
        ("0.125", "0,125", "en"),
        ("12.5.2020", "12.5.2020", "en"),
    ],
)
def test_one_number_in_the_ways_of_two_languages(source: str, target: str, source_language: str) -> None:
    other = {"en": "fr", "fr": "en"}[source_language]
    assert compare_numbers(source, target, source_language=source_language, target_language=other).ok


@pytest.mark.parametrize(
    ("source", "written", "source_language", "better"),
    [
        ("1,412,034.51 USD", "1,412 034.51 USD", "en", "1 412 034,51 USD"),
        ("£65,467.66 a year", "£65,467.66 par an", "en", "65 467,66 £ par an"),
        ("I owe you $5.", "Je vous dois $5.", "en", "Je vous dois 5 $."),
        ("5 € et 1 250,00 €", "5 € and 1 250,00 €", "fr", "€5 and €1,250.00"),
        ("coûte €5", "costs €5", "fr", "costs €5"),
        ("$12.50", "12.50 $", "en", "12,50 $"),
        ("at 12.50 metres", "à 12.50 mètres", "en", "à 12.50 mètres"),
        ("12 500,00 euros", "12 500,00 euros", "fr", "12,500.00 euros"),
        ("31\u202f821,25 USD", "31 821,25 USD", "fr", "31,821.25 USD"),
        ("6 000 et 7 000", "6,000 and 7 000", "fr", "6,000 and 7,000"),
        ("1,250.00", "1 250.000", "en", "1 250.000"),
        ("1.250 euros", "1.250 euros", "fr", "1.250 euros"),
        ("1,250", "1\u202f250", "en", "1\u202f250"),
        ("de 3 339 727,66 €", "of 3339 727.66 €", "fr", "of €3,339,727.66"),
        ("en 2024, 1 250 personnes", "in 2024 12 50 people", "fr", "in 2024 1,250 people"),
        ("1 250 en 2024", "in 2024 125 and 1250", "fr", "in 2024 125 and 1,250"),
        ("2e et 11e", "2th and 11th", "fr", "2nd and 11th"),
        ("versions 1.2.3", "versions 1.2.3", "en", "versions 1.2.3"),
    ],
)
def test_numbers_look_as_the_language_writes_them(
    source: str, written: str, source_language: str, better: str
) -> None:
    other = {"en": "fr", "fr": "en"}[source_language]
    assert Rewriting.of(written, number_edits(source, written, (source_language, other))).new == better


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("Total: $1,250.00", "Total : 1 250,00", ("$",)),
        ("USD 7,179.72", "UTILISE 7 179,72", ("USD",)),
        ("USD 7,179.72", "7 179,72 dollars", ()),
        ("USD 7,179.72", "7 179,72 Dollars", ("USD",)),
        ("USD 7,179.72", "7 179,72 DOLLARS", ()),
        ("It costs £5", "Cela coûte 5 livres", ()),
        ("a $HOME of 5", "un $HOME de 5", ()),
    ],
)
def test_the_sign_of_money_is_in_the_translation(source: str, target: str, missing: tuple[str, ...]) -> None:
    assert compare_numbers(source, target).missing == missing


def test_numbers_of_what_is_kept_stay() -> None:
    assert number_edits("1,250 x", "1,250 x", ("en", "fr"), [Span(0, 5)]) == []
    edits = number_edits("£1,250.00", "£1,250.00", ("en", "fr"), [Span(0, 1)])
    assert Rewriting.of("£1,250.00", edits).new == "£1 250,00"


def test_groups_are_written_as_french_does() -> None:
    written = [in_french(number) for number in ("1,250.00", "$70,000", "12,500,000 USD", "1,2,3", "3.11")]
    assert written == ["1 250,00", "70 000 $", "12 500 000 USD", "1,2,3", "3.11"]


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
