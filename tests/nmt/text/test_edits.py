"""Positions in a text before and after replacements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting


def test_replacing_inserting_and_deleting_by_hand() -> None:
    old = "- Visit http://x.y now!!!"
    edits = [Edit(Span(0, 2), ""), Edit(Span(8, 18), "⟦0⟧"), Edit(Span(22, 25), "!"), Edit(Span(25, 25), "?")]
    rewriting = Rewriting.of(old, reversed(edits))
    assert rewriting.new == "Visit ⟦0⟧ now!?"
    assert rewriting.forward(2, 7) == Span(0, 5)
    assert rewriting.forward(8, 18) == Span(6, 9)
    assert rewriting.forward(19, 22) == Span(10, 13)
    assert rewriting.backward(0, 5) == Span(2, 7)
    assert rewriting.backward(6, 9) == Span(8, 18)
    assert rewriting.backward(7, 8) == Span(8, 18), "a part of a replaced span stands for all of it"
    assert rewriting.backward(4, 8) == Span(6, 18)
    assert rewriting.backward(13, 14) == Span(22, 25)


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap at character 2"):
        Rewriting.of("abcdef", [Edit(Span(1, 3), "x"), Edit(Span(2, 4), "y")])


@given(st.data())
def test_unchanged_characters_keep_their_place_both_ways(data: st.DataObject) -> None:
    old = data.draw(st.text(alphabet="abc ", max_size=12))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(old)), max_size=6, unique=True)))
    edits = [
        Edit(Span(start, end), data.draw(st.text(alphabet="xyz", max_size=3)))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    rewriting = Rewriting.of(old, edits)
    for place in range(len(old)):
        if any(edit.span.start <= place < edit.span.end for edit in edits):
            continue
        span = rewriting.forward(place, place + 1)
        assert rewriting.new[span.start : span.end] == old[place]
        assert rewriting.backward(span.start, span.end) == Span(place, place + 1)
    for edit in edits:
        span = rewriting.forward(edit.span.start, edit.span.end)
        assert rewriting.new[span.start : span.end] == edit.text
