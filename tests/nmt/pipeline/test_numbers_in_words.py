"""Numbers in words and centuries that a shipped model changes are searched for again."""

from __future__ import annotations

import pytest

from nmt.translator import Translator


@pytest.mark.parametrize(
    ("model", "text", "held"),
    [
        ("general", "Delivery takes two to fourteen days.", ("deux", "quatorze")),
        ("general", "It takes between seven and sixteen hours.", ("sept", "seize")),
        ("general", "The 13th century was a time of war.", ("XIIIe siècle",)),
        ("general_fr_en", "Réponse en neuf à seize jours.", ("nine", "sixteen")),
        ("general_fr_en", "Il vivait au XIXe siècle.", ("in the 19th century",)),
        ("general_fr_en", "Lisez la partie VI du livre.", ("VI",)),
    ],
)
def test_numbers_are_those_of_the_source(model: str, text: str, held: tuple[str, ...]) -> None:
    (translation,) = Translator.load(model, device="cpu").translate([text])
    assert all(part in translation.text for part in held), translation.text
    assert translation.flags == ()
