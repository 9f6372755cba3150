"""Captions are told from merge fields, and read in the case that a model knows."""

from __future__ import annotations

import pytest

from nmt.spans import Span
from nmt.text.captions import is_caption
from nmt.text.casing import SurfaceForm
from nmt.text.literals import find_literals


@pytest.mark.parametrize("text", ["[DOOR OPENS]", "[LAUGHTER]", " [A DOG BARKS] ", "[Phone Ringing]"])
def test_a_caption_alone_on_its_line_is_no_literal(text: str) -> None:
    start = text.index("[")
    assert is_caption(text, start, text.index("]") + 1)
    assert find_literals(text) == []
    assert find_literals(f"Hello.\n{text}\nWho is there?") == []


@pytest.mark.parametrize(
    "text", ["[NAME]", "[FIRST NAME]", "[First Name]", "[INSERT YOUR TEXT HERE]", "[OK]"]
)
def test_a_merge_field_is_a_literal(text: str) -> None:
    assert [literal.span for literal in find_literals(text)] == [Span(0, len(text))]


def test_brackets_inside_a_line_are_a_literal() -> None:
    text = "Press [START GAME] now."
    assert [text[one.span.start : one.span.end] for one in find_literals(text)] == ["[START GAME]"]


@pytest.mark.parametrize(
    ("text", "read", "written", "restored"),
    [
        ("(LAUGHS)", "laughs", "rit", "RIT"),
        ("[Laughter]", "laughter", "rires", "Rires"),
        ("[THE DOOR OPENS]", "The Door Opens", "La porte s'ouvre", "LA PORTE S'OUVRE"),
        ("[music playing]", "music playing", "Musique douce", "musique douce"),
    ],
)
def test_a_caption_is_read_as_a_sentence_and_gets_its_case_back(
    text: str, read: str, written: str, restored: str
) -> None:
    form = SurfaceForm.of(text, prefers=str.capitalize)
    assert form.recased[form.core.start : form.core.end] == read
    assert form.in_case(written, [], text) == restored
