"""Words for people, with spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.text.words import whitespace_words, words

texts = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=40),
    st.text("l'’qud e\u0301-3,.…!?_ \u200d😀"),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("L'homme d’à côté.", ["L'", "homme", "d’", "à", "côté", "."]),
        ("Aujourd'hui, qu'il n'a", ["Aujourd'hui", ",", "qu'", "il", "n'", "a"]),
        ("I don't know John's dog!", ["I", "don't", "know", "John's", "dog", "!"]),
        ("quelqu'un lorsqu'on", ["quelqu'un", "lorsqu'", "on"]),
        ("arc-en-ciel : 3,5 km à 10:30...", ["arc-en-ciel", ":", "3,5", "km", "à", "10:30", "..."]),
        ("« Oui\u00a0! »", ["«", "Oui", "!", "»"]),
        ("(50%)", ["(", "50", "%", ")"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("👍🏽👍🏽, 🇫🇷🇬🇧 👩‍🚀 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿", ["👍🏽👍🏽", ",", "🇫🇷", "🇬🇧", "👩‍🚀", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]),
        ("", []),
        (" \n", []),
    ],
)
def test_words_by_hand(text, expected):
    assert [token.text for token in words(text)] == expected


@given(texts)
def test_every_character_but_white_space_is_in_exactly_one_word(text):
    tokens = words(text)
    covered = [i for token in tokens for i in range(token.start, token.end)]
    assert covered == sorted(set(covered))
    assert {i for i, character in enumerate(text) if not character.isspace()} == set(covered)
    assert all(text[token.start : token.end] == token.text for token in tokens)


@given(texts)
def test_white_space_words_are_those_of_split(text):
    tokens = whitespace_words(text)
    assert [token.text for token in tokens] == text.split()
    assert all(text[token.start : token.end] == token.text for token in tokens)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你好，我叫王。", ["你", "好", "，", "我", "叫", "王", "。"]),
        ("今天是2024年", ["今", "天", "是", "2024", "年"]),
        ("コンピューターは3,5円", ["コンピューター", "は", "3,5", "円"]),
        ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
        ("नमस्ते दुनिया!", ["नमस्ते", "दुनिया", "!"]),
        ("كيف حالك؟", ["كيف", "حالك", "؟"]),
        ("Что-то ещё…", ["Что-то", "ещё", "…"]),
        ("한국어 문장.", ["한국어", "문장", "."]),
    ],
)
def test_words_of_other_scripts(text: str, expected: list[str]):
    assert [token.text for token in words(text)] == expected
