"""The lists of known words hold what the script packs."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.text import known_words
from nmt.text.known_words import packed, unknown_words
from scripts.make_known_words import own_words


def test_a_packed_word_is_known_and_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "fr.bloom").write_bytes(packed([f"mot{letter}mot" for letter in "abcdefgh"]))
    monkeypatch.setattr(known_words, "FOLDER", tmp_path)
    known_words._filter_of.cache_clear()
    try:
        assert unknown_words("", "le motamot et le motzmot", "fr") == ["motzmot"]
    finally:
        known_words._filter_of.cache_clear()


def test_the_words_of_the_own_corpus_are_in_the_lists() -> None:
    for column, language in enumerate(("en", "fr")):
        words = sorted(own_words(column))[:2000]
        assert unknown_words("", " ".join(words), language) == []
