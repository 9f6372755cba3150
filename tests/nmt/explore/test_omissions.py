"""Dropped and repeated words, counted on cases worked by hand."""

from __future__ import annotations

import pytest

from nmt.explore.omissions import count_omissions, n_dropped, n_repeated


@pytest.mark.parametrize(
    ("source", "translation", "linked", "dropped"),
    [
        ("The red car stops.", "La voiture s'arrête.", {0, 2, 3, 4}, 1),  # red
        ("The red car stops.", "La voiture rouge s'arrête.", {0, 1, 2, 3, 4}, 0),
        ("He is at the zoo.", "Il est au zoo.", set(), 1),  # the; two letters do not count, zoo is copied
        ("La voiture rouge s'arrête.", "The car stops.", {0, 1, 4}, 1),  # rouge; the other direction
        ("L'été est chaud.", "Summer is warm.", {1, 2, 3}, 0),  # an elided article does not count
        ("12 345 !", "", set(), 0),
        ("", "", set(), 0),
    ],
)
def test_words_without_a_link_are_dropped_but_for_short_and_copied_ones(
    source: str, translation: str, linked: set[int], dropped: int
) -> None:
    assert n_dropped(source, translation, linked) == dropped


@pytest.mark.parametrize(
    ("source", "translation", "repeated"),
    [
        ("a man", "un homme homme", 1),
        ("a man", "un homme et un homme", 0),  # two words again are no sequence of three
        ("a man in the park", "un homme dans le parc dans le parc", 1),
        ("a b c d", "un a un b un a un b", 2),  # "un a un" and "a un b" again
        ("un homme dans le parc", "a man in the park in the park", 1),
        ("nous nous levons", "we get up up", 0),  # French says a word twice here
        ("we get up", "nous nous levons", 1),  # and counts for it
        ("very very good", "très très bien", 0),  # the source does so too
        ("in the park in the park", "dans le parc dans le parc", 0),
        ("a man", "", 0),
    ],
)
def test_repetitions_that_the_source_has_not_are_counted(
    source: str, translation: str, repeated: int
) -> None:
    assert n_repeated(source, translation) == repeated


def test_counts_are_sums_over_sentences() -> None:
    found = count_omissions(
        ["The red car stops.", "a man"], ["La voiture s'arrête.", "un homme homme homme"], [{0, 2, 3}, {0, 1}]
    )
    assert (found.n_sentences, found.dropped, found.repeated) == (2, 1, 2)
    assert (found.sentences_with_drops, found.sentences_with_repeats) == (1, 1)
    assert (found.source_words, found.target_words) == (5, 7), "s' is no word by itself"
