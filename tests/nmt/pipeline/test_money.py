"""The shipped models translate amounts of money with any sign."""

from __future__ import annotations

import pytest

from nmt.translator import Translator


@pytest.mark.parametrize(
    ("model", "text", "held"),
    [
        ("general", "The house costs £1,250,000.", "1 250 000 £"),
        ("general", "We paid €45.50 for two tickets.", "45,50 €"),
        ("general", "It cost £3.5 million.", "3,5 millions de livres"),
        ("general", "Price: €45", "Prix : 45 €"),
        ("general_fr_en", "La maison coûte 1 250 000 £.", "£1,250,000"),
        ("general_fr_en", "Le chiffre d'affaires est de 3,5 Md€.", "€3.5 billion"),
        ("general_fr_en", "Les prix sont en €.", "€"),
    ],
)
def test_amounts_have_their_sign_where_the_language_has_it(model: str, text: str, held: str) -> None:
    (translation,) = Translator.load(model, device="cpu").translate([text])
    assert held in translation.text.replace("\u00a0", " ").replace("\u202f", " "), translation.text
    assert translation.flags == ()
