"""The shipped models translate what people type in chats."""

from __future__ import annotations

import pytest

from nmt.translator import Translator


@pytest.mark.parametrize(
    ("model", "text", "translation"),
    [
        ("general", "im tired", "je suis fatigué"),
        ("general", "c u later", "à plus tard"),
        ("general", "Pls help me", "Veuillez m'aider"),
        ("general_fr_en", "chui fatigué", "I'm tired"),
        ("general_fr_en", "je t'aime bcp", "I love you a lot"),
    ],
)
def test_shorthand_is_read_in_full(model: str, text: str, translation: str) -> None:
    (found,) = Translator.load(model, device="cpu").translate([text])
    assert found.text == translation
    assert found.flags == ()


def test_laughter_is_written_by_rule() -> None:
    (found,) = Translator.load("general", device="cpu").translate(["lol that is so funny"])
    assert "mdr" in found.text


def test_capitals_are_no_shorthand() -> None:
    (found,) = Translator.load("general", device="cpu").translate(["HE DIED IN THE YEAR 300 BC"])
    assert "PARCE QUE" not in found.text
    assert "CAR" not in found.text.split()
