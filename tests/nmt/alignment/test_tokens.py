"""Counted tokens: what is written out, and which word a token is a part of."""

from __future__ import annotations

import pytest

from nmt.alignment.tokens import counted_tokens
from nmt.text.words import whitespace_words, words


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("L’heure du départ aux îles", "fr", "le/0 heure/1 de/2 le/2 départ/3 à/4 les/4 îles/5"),
        ("Qu'il n'ait aujourd'hui", "fr", "que/0 il/1 ne/2 ait/3 aujourd'/4 hui/4"),
        ("I don't; John's", "en", "i/0 do/1 n't/1 ;/2 john/3 's/3"),
        ("Du côté", "en", "du/0 côté/1"),
        ("«Oui»", "fr", '"/0 oui/1 "/2'),
    ],
)
def test_words_are_lower_cased_and_written_out(text, language, expected):
    found = counted_tokens(words(text), language)
    assert " ".join(f"{token.text}/{token.word}" for token in found) == expected


def test_what_is_written_out_already_stays_token_by_token():
    text = "de le 's n't aujourd' hui"
    found = counted_tokens(whitespace_words(text), "fr")
    assert [token.word for token in found] == list(range(6))
