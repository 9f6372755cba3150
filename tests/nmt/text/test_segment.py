"""Splitting into sentences loses nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.text.segment import Segment, join, split, split_at_gaps, split_lines, split_long

texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=60),
    st.text("aB. !?\n\r\t\u00a0\u2028«»\"'é…1", max_size=60),
    st.lists(
        st.sampled_from(
            [
                "Mr. Smith left.",
                "Hello!",
                "  ",
                "\n\n",
                "\r\n",
                "3.5 km",
                "« Bonjour ! »",
                "e.g. this",
                "\x1c",
            ]
        )
    ).map(" ".join),
)


@pytest.mark.parametrize("language", ["en", "fr"])
@given(text=texts)
def test_joining_what_was_split_gives_the_text_itself(language, text):
    segments = split(text, language)
    whole, spans = join(text, segments, [segment.text for segment in segments])
    assert whole == text
    assert spans == [(segment.start, segment.end) for segment in segments]


@pytest.mark.parametrize("language", ["en", "fr"])
@given(text=texts)
def test_between_sentences_is_white_space_only(language, text):
    position = 0
    for segment in split(text, language):
        assert text[position : segment.start].strip() == ""
        assert segment.text == text[segment.start : segment.end] == segment.text.strip() != ""
        position = segment.end
    assert text[position:].strip() == ""


@given(text=texts, translations=st.data())
def test_each_span_of_a_joined_text_holds_its_translation(text, translations):
    segments = split(text, "en")
    n = len(segments)
    words = translations.draw(st.lists(st.text("xyz ", max_size=5), min_size=n, max_size=n))
    whole, spans = join(text, segments, words)
    assert [whole[start:end] for start, end in spans] == words
    assert sum(map(len, words)) + len(text) - sum(len(s.text) for s in segments) == len(whole)


def test_sentences_abbreviations_and_blank_lines_by_hand():
    text = "  Mr. Smith came. He left!\n\n\tWhy?  "
    assert [segment.text for segment in split(text, "en")] == ["Mr. Smith came.", "He left!", "Why?"]
    assert join(text, split(text, "en"), ["A", "B", "C"])[0] == "  A B\n\n\tC  "


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\x0b", "\x85"])
def test_a_line_break_always_splits(line_break):
    assert [segment.text for segment in split(f"one{line_break}two", "en")] == ["one", "two"]


def test_lines_are_left_whole_and_blank_ones_out():
    text = "  Mr. Smith came. He left!\n \n\tWhy?  "
    assert [segment.text for segment in split_lines(text, "en")] == ["Mr. Smith came. He left!", "Why?"]
    assert join(text, split_lines(text, "en"), ["A", "B"])[0] == "  A\n \n\tB  "


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\u3000\n"])
def test_blank_text_has_no_sentences_and_joins_to_itself(text):
    assert split(text, "en") == []
    assert join(text, [], []) == (text, [])


def test_too_few_translations_are_an_error():
    with pytest.raises(ValueError, match="shorter"):
        join("One. Two.", split("One. Two.", "en"), ["Un."])


def whole(text: str) -> Segment:
    return Segment(text, 5, 5 + len(text))


@given(text=texts.map(str.strip).filter(bool), limit=st.integers(1, 12))
def test_parts_of_a_long_sentence_fit_and_lose_nothing(text, limit):
    parts = split_long(whole(text), lambda part: len(part) <= limit)
    padded = "-" * 5 + text
    assert join(padded, parts, [part.text for part in parts])[0] == padded
    assert all(padded[part.start : part.end] == part.text for part in parts)
    assert all(len(part.text) <= limit for part in parts)
    position = 5
    for part in parts:
        assert padded[position : part.start].strip() == ""
        position = part.end
    assert position == len(padded)


def test_a_long_sentence_is_cut_after_a_clause_then_at_a_space():
    text = "I came home late, because the train had stopped again"
    parts = [part.text for part in split_long(whole(text), lambda part: len(part) <= 40)]
    assert parts == ["I came home late,", "because the train had stopped again"]
    text = "one two three four five six"
    assert [p.text for p in split_long(whole(text), lambda p: len(p) <= 20)] == [
        "one two three",
        "four five six",
    ]


def test_a_sentence_that_fits_is_not_cut():
    assert split_long(whole("a, b"), lambda _: True) == [whole("a, b")]


def test_a_word_without_spaces_is_cut_but_never_between_a_letter_and_its_accent():
    parts = [part.text for part in split_long(whole("e\u0301" * 7), lambda part: len(part) <= 4)]
    assert "".join(parts) == "e\u0301" * 7
    assert all(part[0] == "e" for part in parts)


@pytest.mark.parametrize(
    "text", ["word " * 20_000, "x" * 100_000, "." * 100_000, "Hi. " * 25_000, "a\n" * 50_000]
)
def test_a_hundred_thousand_characters_take_seconds_at_most(text):
    started = time.monotonic()
    segments = [part for s in split(text, "en") for part in split_long(s, lambda part: len(part) <= 256)]
    assert join(text, segments, [s.text for s in segments])[0] == text
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        (
            "Mon voisin, M. Leroy, est malade. Il dort.",
            "fr",
            ["Mon voisin, M. Leroy, est malade.", "Il dort."],
        ),
        ("MM. Durand et Roy sont là.", "fr", ["MM. Durand et Roy sont là."]),
        ("I saw Dr. Black. He left.", "en", ["I saw Dr. Black.", "He left."]),
        ("It ends with M. ", "fr", ["It ends with M."]),
    ],
)
def test_a_title_does_not_end_a_sentence(text: str, language: str, sentences: list[str]) -> None:
    assert [segment.text for segment in split(text, language)] == sentences


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Home | About us | Contact", ["Home", "About us", "Contact"]),
        ("News · Sport", ["News", "Sport"]),
        ("a|b, x ·y", ["a|b, x ·y"]),
        ("one || two", ["one", "two"]),
        ("Small / Medium / Very large", ["Small", "Medium", "Very large"]),
        ("he / she went", ["he / she went"]),
        ("Open 24 / 7 and / or never", ["Open 24 / 7 and / or never"]),
    ],
)
def test_entries_between_separators_are_parts(text: str, parts: list[str]) -> None:
    assert [part.text for part in split_at_gaps(Segment(text, 0, len(text)))] == parts


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2009", "\u3000", "\t"])
def test_any_white_space_after_an_initial_is_borne(space: str) -> None:
    text = f"Vitamine A{space}. Et M{space}."
    assert "".join(segment.text for segment in split(text, "fr")).startswith(f"Vitamine A{space}.")


class PanicException(BaseException):
    pass


def test_a_line_at_which_the_library_panics_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(language: str, line: str) -> list[str]:
        raise PanicException if "!" in line else KeyboardInterrupt

    monkeypatch.setattr("nmt.text.segment.sentencex.segment", panic)

    assert [segment.text for segment in split("One! Two.", "en")] == ["One! Two."]
    with pytest.raises(KeyboardInterrupt):
        split("One.", "en")
