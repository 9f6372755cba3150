"""One form of address for all sentences of a text."""

from __future__ import annotations

import re

import pytest

from nmt.options import TranslationOptions
from nmt.text.address import address_context, address_of
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


@pytest.mark.parametrize(
    ("context", "address"),
    [
        ([], None),
        (["The train is late."], None),
        (["Thank you for your letter."], "formal"),
        (["Hey mate!"], "informal"),
        (["Tu viens demain."], "informal"),
        (["Comment allez-vous ?"], "formal"),
        (["Je vous attends au rendez-vous."], "formal"),
        (["Il est au rendez-vous."], None),
        (["Tu sais ?", "Et vous ?"], None),
    ],
)
def test_what_stands_around_a_text_tells(context: list[str], address: str | None) -> None:
    assert address_of(["Do you know this town?"], "en", context) == address
    assert address_of(["He knows this town."], "en", context) is None
    assert address_of(["Do you know this town?"], "fr", context) is None


def test_a_document_is_its_own_context() -> None:
    assert address_context(["Your files", "Cancel", "Are you sure?"]) == "Your files\nAre you sure?"
    assert address_context(["Your files", "Cancel"]) == ""
    assert address_context(["Are you sure, mate?"] * 10_000).count("\n") == 49


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


@pytest.mark.parametrize(
    ("context", "address"), [("Hey mate!", r"\btu\b"), ("Sir,\nthank you for your letter.", r"\bvous\b")]
)
def test_a_translation_addresses_as_its_context_does(context: str, address: str) -> None:
    translator = Translator.load("general", device="cpu")
    (translation,) = translator.translate(["Do you know this town?"], TranslationOptions(context=context))

    assert re.search(address, translation.text, re.IGNORECASE), translation.text
    assert len(translation.sentences) == 1, "the context is not translated"
