"""Loops in finished text: those that the source does not explain."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.text.repetition import longest_character_run, longest_run, repeats_itself

SOURCE = "The four-phase plan is based on scientific evidence."


@pytest.mark.parametrize(
    "target",
    [
        "Le plan de la santé de la santé de la santé de la santé de la santé est bon.",
        "Le plan le plan le plan le plan",
        "mot mot mot mot mot",
        "Oddddddddd, un plan.",
        "Le plan d'éminminminminmin est bon.",
        "Le plan !!!!!!!!!!!!",
        "nous serrés, à l'accord, nous serrés, à l'accord, au plan, nous serrés, à l'accord, il y a,"
        " nous serrés, à l'accord, à la nature, nous serrés, à l'accord, où nous serrés, à l'accord",
    ],
)
def test_a_loop_is_seen(target):
    assert repeats_itself(SOURCE, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (SOURCE, "Le plan en quatre phases est fondé sur des preuves scientifiques."),
        ("One trillion euros", "1 000 000 000 000 euros"),
        ("We sat down.", "Nous nous sommes assis."),
        ("Ha ha ha ha ha ha!", "Ha ha ha ha ha ha !"),
        ("very very very very very very very big", "très très très très très très très très grand"),
        ("Noooooooooooooo!", "Nooooooooooooooon !"),
        ("Name: ..................", "Nom : ...................."),
        ("a" * 5000, "a" * 5000),
        ("word " * 300, "mot " * 310),
        ("", ""),
    ],
)
def test_what_the_source_repeats_is_no_loop(source, target):
    assert not repeats_itself(source, target)


def test_over_twice_what_the_source_repeats_is_a_loop():
    assert repeats_itself("word " * 10, "mot " * 30)
    assert not repeats_itself("word " * 10, "mot " * 19)


def test_runs_by_hand():
    assert [longest_run(list("abababx"), period) for period in (1, 2, 3)] == [0, 4, 0]
    assert longest_run([], 1) == 0
    assert longest_character_run("xababababab!") == 10
    assert longest_character_run("aaaa bbbb") == 0


@given(st.text("ab ", max_size=80))
def test_no_text_repeats_itself_beyond_itself(text):
    assert not repeats_itself(text, text)


@pytest.mark.parametrize("text", ["a" * 100_000, "ab" * 50_000, "mot " * 25_000, "abcdefghij" * 10_000])
def test_long_text_takes_less_than_seconds(text):
    started = time.monotonic()
    repeats_itself(text, text)
    assert time.monotonic() - started < 5
