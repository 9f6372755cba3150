"""What the check of the project's own corpus refuses, and that the corpus passes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts.check_corpus import CORPUS, Pair, faults, held_out_runs, overlapping, read, repeated


def pair(english: str, french: str) -> Pair:
    return Pair("a.tsv", 1, english, french)


@pytest.mark.parametrize(
    ("english", "french", "fault"),
    [
        ("Is it late?", "Est-il tard?", "no space before"),
        ("Is it late ?", "Est-il tard ?", "a space before a mark in English"),
        ("Is it late?", "Il est tard.", "different marks"),
        ("It's late.", "L\u2019heure est tardive.", "curly apostrophe"),
        ("It is  late.", "Il est tard.", "spaces too many"),
        ("", "Il est tard.", "empty"),
    ],
)
def test_faults_of_form_are_named(english: str, french: str, fault: str):
    assert any(fault in found for found in faults(pair(english, french)))


def test_a_pair_in_good_form_has_no_fault():
    assert not list(faults(pair('"Is it 2:30 p.m.?" she asked.', "« Est-il 14 h 30 ? » demanda-t-elle.")))


def test_a_file_with_a_third_column_is_refused(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("One.\tUn.\nTwo.\tDeux.\tdeux\n", encoding="utf-8")
    pairs, problems = read(tmp_path / "a.tsv")
    assert len(pairs) == 1
    assert problems == ["a.tsv:2: 3 columns instead of 2"]


def test_a_repeated_pair_is_found_whatever_its_case():
    twice = [pair("One day we met by chance.", "Un jour."), pair("one day we met by chance", "Un jour !")]
    assert len(list(repeated(twice))) == 1


def test_short_texts_may_differ_by_their_case_alone():
    assert not list(repeated([pair("today", "aujourd'hui"), pair("Today", "Aujourd'hui")]))
    assert len(list(repeated([pair("today", "aujourd'hui"), pair("today", "aujourd'hui")]))) == 1


def test_seven_words_in_a_row_of_a_held_out_sentence_are_refused_and_six_are_not():
    held_out = {("un", "deux", "trois", "quatre", "cinq", "six", "sept")}
    seven = pair("x", "Zéro, un, deux, trois ; quatre cinq SIX sept huit.")
    six = pair("x", "Zéro, un, deux, trois ; quatre cinq SIX huit.")
    assert [problem.split(": ")[0] for problem in overlapping([seven, six], held_out)] == ["a.tsv:1"]


def test_the_corpus_is_in_good_form_and_apart_from_what_is_scored():
    data = os.environ.get("NMT_DATA")
    if data is None and Path("../shared/data/flores").is_dir():
        data = "../shared/data"
    held_out = held_out_runs(None if data is None else Path(data))
    problems: list[str] = []
    pairs: list[Pair] = []
    for file in sorted(CORPUS.rglob("*.tsv")):
        found, wrong = read(file)
        pairs += found
        problems += wrong
    problems += [*repeated(pairs), *overlapping(pairs, held_out)]
    assert len(pairs) > 3000
    assert problems == []
