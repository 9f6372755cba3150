"""Shorthand of chats is written in full, and nothing else is."""

from __future__ import annotations

import pytest

from nmt.text.edits import Rewriting
from nmt.text.shorthand import find_laughter, shorthand_edits


def full(text: str, language: str = "en") -> str:
    return Rewriting.of(text, shorthand_edits(text, language)).new


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("can u call me later?", "can you call me later?"),
        ("r u ok? thx for ur help", "are you ok? thanks for your help"),
        ("Pls send it asap, ur the best", "Please send it as soon as possible, you're the best"),
        ("btw im late, tbh", "by the way, I'm late, to be honest"),
        ("wanna come? i dont wanna go", "do you want to come? i don't want to go"),
        ("lets go", "let's go"),
        ("c u 2moro", "see you tomorrow"),
        ("k", "OK"),
    ],
)
def test_english_shorthand(text: str, written: str) -> None:
    assert full(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("slt, t où ?", "salut, tu es où ?"),
        ("tkt c'est pas grave", "ne t'inquiète pas, c'est pas grave"),
        ("g pas compris, à tte", "j'ai pas compris, à tout à l'heure"),
        ("Merci, a+", "Merci, à plus tard"),
        ("Dsl, rdv ds 5 min", "Désolé, rendez-vous dans 5 min"),
        ("il ya du monde, ya tt le monde", "il y a du monde, il y a tout le monde"),
    ],
)
def test_french_shorthand(text: str, written: str) -> None:
    assert full(text, "fr") == written


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It lets you choose, and u = 3 or u, v and w.", "en"),
        ("The US, Plan B, vitamin C, IM and a R script.", "en"),
        ("See ur.com, @thx, #asap, pls-file and im_port.", "en"),
        ("5 k, 20 m and b4_x", "en"),
        ("Le plan C, 3 g de sel, le point t et le degré c.", "fr"),
        ("u r ok", "de"),
        ("", "en"),
    ],
)
def test_the_rest_stays(text: str, language: str) -> None:
    assert full(text, language) == text


def test_the_end_of_a_text_gets_no_comma() -> None:
    assert full("omg") == "oh my God"
    assert full("omg look") == "oh my God, look"


def test_laughter_is_written_as_the_other_language_does() -> None:
    assert [(span.start, laughter) for span, laughter in find_laughter("LOL, lollipop", "en", "fr")] == [
        (0, "mdr")
    ]
    assert [laughter for _, laughter in find_laughter("mdr ptdr", "fr", "en")] == ["lol", "lol"]
    assert find_laughter("lol", "en", "de") == []
