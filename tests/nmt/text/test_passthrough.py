"""What is copied and what is translated; cutting non-words out loses nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.text.passthrough import LONGEST_WORD, isolate_non_words, reason_to_copy
from nmt.text.segment import Segment, join


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("12 + 34 = 46", "no_letters"),
        ("😀😀😀", "no_letters"),
        ("----", "no_letters"),
        ("\x01\x02", "no_letters"),
        ("Это очень красивый дом.", "other_script"),
        ("你好世界", "other_script"),
        ("مرحبا بالعالم", "other_script"),
        ("שלום hi", "other_script"),
        ("x" * 101, "no_word"),
        (f"«{'é' * 101}»!", "no_word"),
    ],
)
def test_what_is_not_for_the_model_has_its_reason(text, reason):
    assert reason_to_copy(text, "en") == reason


@pytest.mark.parametrize(
    "text",
    [
        "A",
        "Hello!",
        "Café",
        "He said Привет to her.",
        "x" * 100,
        "https://example.org/" + "a" * 200,
        "x" * 101 + " and more",
        "𝐁𝐨𝐥𝐝 and Ｗｉｄｅ",
    ],
)
def test_text_of_the_language_is_translated(text):
    assert reason_to_copy(text, "en") is None


def test_a_language_of_unknown_script_is_translated_whatever_it_looks_like():
    assert reason_to_copy("你好世界" * 50, "zh") is None
    assert reason_to_copy("!!", "zh") == "no_letters"
    assert len(isolate_non_words(Segment("你" * 500, 0, 500), "zh")) == 1


@given(
    st.lists(st.sampled_from(["a word", "x" * 101, "y" * 150 + "!", ", then", " ", "/" + "z" * 120]))
    .map(" ".join)
    .map(str.strip)
    .filter(bool)
)
def test_cutting_out_non_words_loses_nothing_and_leaves_none_inside(text):
    padded = "-" * 5 + text
    parts = isolate_non_words(Segment(text, 5, 5 + len(text)), "en")
    assert join(padded, parts, [part.text for part in parts])[0] == padded
    assert all(padded[part.start : part.end] == part.text == part.text.strip() != "" for part in parts)
    position = 5
    for part in parts:
        assert padded[position : part.start].strip() == ""
        position = part.end
        inside = [word for word in part.text.split() if len(word) > LONGEST_WORD and "/" not in word]
        assert inside in ([], [part.text])


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "a-" * 50_000, ("x" * 100 + "-") * 900, "word " * 20_000, "." * 100_000]
)
def test_a_hundred_thousand_characters_take_no_time(text):
    started = time.monotonic()
    isolate_non_words(Segment(text, 0, len(text)), "en")
    reason_to_copy(text, "en")
    assert time.monotonic() - started < 3
