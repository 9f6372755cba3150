"""The lexical translation table: each line is found, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nmt.text.lexical_table import table, translations_of


@pytest.fixture
def own_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setattr(table, "FOLDER", tmp_path)
    for remembered in (table._file, translations_of):
        remembered.cache_clear()
    yield tmp_path / "en-fr.tsv"
    for remembered in (table._file, translations_of):
        remembered.cache_clear()


def test_every_word_of_a_file_is_found_and_no_beginning_of_one(own_table: Path) -> None:
    words = sorted((f"w{number}" for number in range(200)), key=str.encode)
    own_table.write_text("".join(f"{word}\t7\tf{word}:4 été:3\n" for word in words), encoding="utf-8")
    for word in words:
        found = translations_of(word, "en", "fr")
        assert found is not None
        assert (found.count, found.forms) == (7, ((f"f{word}", 4), ("été", 3)))
        assert found.share(4) == pytest.approx(4 / 7)
    for word in ("", "w", "w200", "a", "z", "w1 "):
        assert translations_of(word, "en", "fr") is None


def test_without_a_table_nothing_is_known(own_table: Path) -> None:
    assert translations_of("word", "en", "fr") is None
    assert translations_of("word", "en", "de") is None


@pytest.mark.parametrize("languages", [("en", "fr"), ("fr", "en")])
def test_the_tables_that_ship_are_sorted_and_whole(languages: tuple[str, str]) -> None:
    lines = (table.FOLDER / f"{'-'.join(languages)}.tsv").read_bytes().splitlines()
    words = [line.split(b"\t")[0] for line in lines]
    assert words == sorted(words)
    assert len(words) == len(set(words)) > 30_000
    for line in lines[:: len(lines) // 500]:
        found = translations_of(line.split(b"\t")[0].decode(), *languages)
        assert found is not None
        counts = [count for _, count in found.forms]
        assert counts == sorted(counts, reverse=True)
        assert sum(counts) <= found.count


def test_rare_words_have_their_translations() -> None:
    measles, rougeole = translations_of("measles", "en", "fr"), translations_of("rougeole", "fr", "en")
    assert measles is not None
    assert rougeole is not None
    assert measles.forms[0][0] == "rougeole"
    assert rougeole.forms[0][0] == "measles"
