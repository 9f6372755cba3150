"""Amounts whose sign a model does not know are read in words; the sign comes back."""

from __future__ import annotations

import pytest

from nmt.text.casing import SurfaceForm
from nmt.text.edits import Rewriting
from nmt.text.money import amounts_in_words, signs_again
from nmt.text.numbers import number_edits


def read(text: str, language: str, known: str = "$") -> str:
    """What a model reads that knows the signs of ``known``."""
    return Rewriting.of(text, amounts_in_words(text, language, known.__contains__)).new


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "It costs £1,250,000.", "It costs 1,250,000 pounds."),
        ("en", "€45.50 or €3", "45.50 euros or 3 euros"),
        ("en", "a £50,000 prize", "a 50,000 pounds prize"),
        (
            "en",
            "£5 million, £1.2bn, €3m, £20k",
            "5 million pounds, 1.2 billion pounds, 3 million euros, 20 thousand pounds",
        ),
        ("en", "£10-£20 or €5–10 million", "10-20 pounds or 5–10 million euros"),
        ("en", "50€ and 50 €", "50 euros and 50 euros"),
        ("en", "$20 and €20", "$20 and 20 euros"),
        ("en", "prices in €, £ or $", "prices in €, £ or $"),
        ("en", "A£20 and 3.€5", "A£20 and 3.€5"),
        ("fr", "1 250 000 £ et 45,50 €", "1 250 000 livres sterling et 45,50 euros"),
        (
            "fr",
            "3,5 M€, 2 Mds€ et 5 millions €",
            "3,5 millions d'euros, 2 milliards d'euros et 5 millions d'euros",
        ),
        ("fr", "un million de ¥ ou 3 M¥", "un million de ¥ ou 3 millions de yens"),
        ("fr", "15 k€", "15 k€"),
        ("de", "Es kostet 20 €.", "Es kostet 20 €."),
    ],
)
def test_amounts_are_read_in_words(language: str, text: str, words: str) -> None:
    assert read(text, language) == words


def test_a_model_that_knows_a_sign_reads_it() -> None:
    assert read("It costs €20 or £20.", "en", "$€") == "It costs €20 or 20 pounds."


@pytest.mark.parametrize(
    ("languages", "source", "written", "signed"),
    [
        ("en fr", "It costs £20.", "Cela coûte 20 livres.", "Cela coûte 20 £."),
        ("en fr", "£1,250", "1 250 livres sterling", "1 250 £"),
        ("en fr", "£5 million", "5 millions de livres", "5 millions de livres"),
        ("en fr", "€5-10 each", "5-10 euros chacun", "5-10 € chacun"),
        ("en fr", "IT COSTS €20", "CELA COÛTE 20 EUROS", "CELA COÛTE 20 €"),
        ("en fr", "£20 for 30 books", "20 livres pour 30 livres", "20 £ pour 30 livres"),
        ("fr en", "45,50 €", "45.50 euros", "€45.50"),
        (
            "fr en",
            "3,5 M€ et un billet de 20 €",
            "3.5 million euros and a 20-euro note",
            "€3.5 million and a €20 note",
        ),
        ("fr en", "120 €", "20 euros", "20 euros"),
        ("fr de", "45,50 €", "45,50 Euro", "45,50 Euro"),
    ],
)
def test_signs_come_back(languages: str, source: str, written: str, signed: str) -> None:
    read, other = languages.split()
    assert Rewriting.of(written, signs_again(source, written, (read, other), "£€")).new == signed


def test_what_is_kept_stays_in_words() -> None:
    written = "Cela coûte 20 livres."
    kept = next(iter(signs_again("It costs £20.", written, ("en", "fr"), "£"))).span
    assert signs_again("It costs £20.", written, ("en", "fr"), "£", [kept]) == []


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("1 millions de livres", "1 million de livres"),
        ("1,5 milliards", "1,5 milliard"),
        ("0,3 millions", "0,3 million"),
        ("2,1 millions et 21 millions", "2,1 millions et 21 millions"),
        ("11 milliards, 4 001 millions", "11 milliards, 4 001 millions"),
    ],
)
def test_french_scales_below_two_are_singular(written: str, right: str) -> None:
    assert Rewriting.of(written, number_edits("", written, ("en", "fr"))).new == right


@pytest.mark.parametrize(
    ("text", "recased"),
    [
        ("Price: $45", "price: $45"),
        ("Room : 12", "room : 12"),
        ("Price: high", "price: high"),
        ("Price 45", "Price 45"),
        ("Price: 45 dollars.", "Price: 45 dollars."),
    ],
)
def test_a_label_of_a_number_begins_with_a_small_letter(text: str, recased: str) -> None:
    assert SurfaceForm.of(text).recased == recased
