"""One form of address for all sentences of a text."""

from __future__ import annotations

import re

import pytest

from nmt.options import TranslationOptions
from nmt.text.address import address_of
from nmt.translator import Translator


@pytest.mark.parametrize(
    ("sentences", "language", "address"),
    [
        (["Do you know?", "It is yours."], "en", "formal"),
        (["Do you know?", "Your mom called."], "en", "informal"),
        (["Hey, do you know?", "I know you."], "en", "informal"),
        (["Do you know?", "He knows."], "en", None),
        (["He knows.", "A young man."], "en", None),
        (["Est-ce que you savez ?", "Your."], "fr", None),
        ([], "en", None),
    ],
)
def test_address(sentences: list[str], language: str, address: str | None) -> None:
    assert address_of(sentences, language) == address


TEXT = "Do you know this town? If you are lost, I can help you. What do you think? Are you sure of yourself?"


@pytest.mark.parametrize(
    ("text", "other"), [(TEXT, r"\b(?:tu|te|toi|ton|ta|tes|t')\b"), ("Hey! " + TEXT, r"\bvous\b")]
)
def test_a_text_keeps_to_one(text: str, other: str) -> None:
    translator = Translator.load("general", device="cpu")
    (translation,) = translator.translate([text])

    assert not re.search(other, translation.text, re.IGNORECASE), translation.text
    assert "register_unavailable" not in {flag.kind for flag in translation.flags}


def test_what_is_asked_for_comes_first() -> None:
    translator = Translator.load("general", device="cpu")
    (translation,) = translator.translate([TEXT], TranslationOptions(formality="informal"))

    assert not re.search(r"\bvous\b", translation.text), translation.text
