"""Pairs of words that need no parser, in sentences written by hand."""

from __future__ import annotations

import pytest

from nmt.explore.pairs import certain_pairs


def pairs(sentence: str) -> list[tuple[str, str, str]]:
    """Kind, first and second word of each pair."""
    return [
        (kind, *(sentence[slice(*parse.spans[place])] for place in (first, second)))
        for parse in certain_pairs([sentence], 1)
        for first, second, kind in parse.arcs
    ]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Both the man and his dog ran.", [("correlative", "Both", "and")]),
        ("He is either very tired or ill.", [("correlative", "either", "or")]),
        ("It was not only cold but wet.", [("correlative", "only", "but")]),
        ("He has more than that.", []),  # neighbours
        ("He has more money than sense.", [("comparison", "more", "than")]),
        ("It is as cold as ice.", [("comparison", "as", "as")]),
        ("It will be.", []),
        ("It will soon be over.", [("auxiliary", "will", "be")]),
        ("It has never been so. He can go.", [("auxiliary", "has", "been")]),
        ("Who can? It must not be.", [("auxiliary", "must", "be")]),
        ("Who can? It will be.", []),  # another clause
        ("They can swim in the cold sea and be glad.", []),  # too far
        ("He (the man) ran.", [("bracket", "(", ")")]),
        ("He ran (the man.", []),
        (") the man (", []),
        ('"I see", he said, "a man".', [("quotation", '"', '"')] * 2),
        ("\u201cI see\u201d", [("quotation", "\u201c", "\u201d")]),
        ("", []),
    ],
)
def test_only_certain_pairs_with_words_between_are_told(
    sentence: str, expected: list[tuple[str, str, str]]
) -> None:
    assert pairs(sentence) == expected


def test_no_more_sentences_than_asked_are_kept() -> None:
    assert len(certain_pairs(["A man.", "It was as cold as ice."] * 3, 2)) == 2
