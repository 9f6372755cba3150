"""Greetings beside merge fields, and greetings that a model left as they were."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.edits import Rewriting
from nmt.text.greetings import greeting, left_greeting
from nmt.translator import Translator


@pytest.mark.parametrize(
    ("text", "languages", "expected"),
    [
        ("Dear [Field],", ("en", "fr"), "Bonjour [Field],"),
        ("Welcome, [Field]!", ("en", "fr"), "Bienvenue, [Field] !"),
        ("Merci [Field] !", ("fr", "en"), "Thank you [Field]!"),
        ("Bonjour [Field],", ("fr", "en"), "Hello [Field],"),
        ("Hello [Field], the order is here.", ("en", "fr"), None),
        ("Delete [Field]", ("en", "fr"), None),
        ("dear [Field],", ("en", "fr"), None),
    ],
)
def test_a_greeting_with_a_field(text: str, languages: tuple[str, str], expected: str | None) -> None:
    start = text.index("[")
    edits = greeting(text, Span(start, start + len("[Field]")), *languages)
    assert (None if edits is None else Rewriting.of(text, edits).new) == expected


@pytest.mark.parametrize(
    ("source", "written", "expected"),
    [
        ("Hello, all of you.", "Hello, vous tous.", "Bonjour, vous tous."),
        ("HELLO!", "HELLO !", "BONJOUR !"),
        (">> Hi!", ">> Hi !", ">> Salut !"),
        ("Hello Kitty is a cat.", "Hello Kitty est un chat.", None),
        ("Good day.", "Hello, vous.", None),
        ("He said hello.", "Il a longuement dit hello.", None),
    ],
)
def test_a_greeting_left_in_its_language(source: str, written: str, expected: str | None) -> None:
    edits = left_greeting(source, written, ("en", "fr"))
    assert (Rewriting.of(written, edits).new if edits else None) == expected


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Dear [Last Name],", "Bonjour [Last Name]", ","),
        ("Hello ##CLIENT##, welcome.", "Bonjour ##CLIENT##", "."),
        (">> Hello, my friends.", ">> Bonjour,", "."),
    ],
)
def test_the_model_greets(text: str, start: str, end: str) -> None:
    (translation,) = Translator.load("general", device="cpu").translate([text])
    assert translation.text.startswith(start)
    assert translation.text.endswith(end)
