"""Quotation marks follow the kind of the source's."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.edits import Rewriting
from nmt.text.quotes import quote_edits


@pytest.mark.parametrize(
    ("source", "written", "language", "expected"),
    [
        ('He says "yes".', "Il dit « oui ».", "fr", 'Il dit "oui".'),
        ('He says "yes".', 'Il dit "oui".', "fr", 'Il dit "oui".'),
        ("He says “yes”.", 'Il dit "oui".', "fr", "Il dit « oui »."),
        ("He says “yes”.", "Il dit «\u00a0oui\u00a0».", "fr", "Il dit «\u00a0oui\u00a0»."),
        ("Il dit « oui ».", "He says “yes”.", "en", 'He says "yes".'),
        ("Il dit “oui”.", 'He says "yes".', "en", "He says “yes”."),
        ("“Windows 95” is old.", '"Windows 95" est vieux.', "fr", "« Windows 95 » est vieux."),
        ("“It goes on.", '"Cela continue.', "fr", "« Cela continue."),
        ("It ends.”", 'Cela finit."', "fr", "Cela finit. »"),
        ('“Yes,” he says, “a 5" pipe.”', 'Dit-il "oui" de 5" ?', "fr", 'Dit-il « oui » de 5" ?'),
        ('“One”, said the "boss".', 'Dit le "patron".', "fr", 'Dit le "patron".'),
        ("“a 5 inch pipe”", 'un tuyau de 5"', "fr", 'un tuyau de 5"'),
        ("“One” «two»", '"Un" "deux"', "fr", "« Un » « deux »"),
        ("no quotes", 'pas de "marques"', "fr", 'pas de "marques"'),
        ('He says "yes".', "Er sagt „ja“.", "de", "Er sagt „ja“."),
    ],
)
def test_quotes_by_examples(source: str, written: str, language: str, expected: str) -> None:
    assert Rewriting.of(written, quote_edits(source, written, language)).new == expected


def test_what_is_copied_stays() -> None:
    written = 'Il dit "{x}" et "oui"'
    edits = quote_edits("He says “{x}” and “yes”", written, "fr", [Span(7, 12)])

    assert Rewriting.of(written, edits).new == 'Il dit "{x}" et « oui »'
