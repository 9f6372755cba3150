"""The Pharaoh format, symmetrisation and the alignment error rate, by hand."""

from __future__ import annotations

import pytest

from nmt.alignment.pharaoh import (
    AlignmentScores,
    Link,
    alignment_error_rate,
    alignment_scores,
    parse_pharaoh,
    precision_and_recall,
    symmetrize,
    to_pharaoh,
)
from nmt.errors import DataError


def links(*pairs):
    return [Link(source, target, 1.0) for source, target in pairs]


def pairs(found):
    return {(link.source, link.target) for link in found}


def test_links_are_written_by_source_then_target():
    assert to_pharaoh(links((1, 2), (0, 3), (10, 0), (0, 0))) == "0-0 0-3 1-2 10-0"
    assert to_pharaoh([]) == ""


def test_sure_links_are_possible_too():
    assert parse_pharaoh("0-0 1p2  11-3\n") == ({(0, 0), (11, 3)}, {(0, 0), (1, 2), (11, 3)})
    assert parse_pharaoh("") == (set(), set())


@pytest.mark.parametrize("line", ["0-", "a-b", "1x2", "0-1-2", "-1-2", "0:1", "²-1"])
def test_what_is_no_link_is_named(line):
    with pytest.raises(DataError, match=f"'{line}' is no link"):
        parse_pharaoh(f"0-0 {line}")


def test_reading_what_was_written_gives_the_pairs():
    found = links((3, 1), (0, 0))
    assert parse_pharaoh(to_pharaoh(found))[0] == pairs(found)


def test_error_rate_by_hand():
    # |A| = 4, |S| = 3; A & S = {00, 11}, A & P = {00, 11, 12}: AER = 1 - (2 + 3) / (4 + 3)
    found = [links((0, 0), (1, 1)), links((1, 2), (5, 5))]
    sure = [{(0, 0), (1, 1)}, {(2, 2)}]
    possible = [set(), {(1, 2)}]
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - 5 / 7)
    assert precision_and_recall(found, sure, possible) == (pytest.approx(3 / 4), pytest.approx(2 / 3))


def test_f1_by_hand():
    # precision 3/4 and recall 2/3, as above: 2 * 3/4 * 2/3 / (3/4 + 2/3) = 12/17
    found = [links((0, 0), (1, 1)), links((1, 2), (5, 5))]
    scores = alignment_scores(found, [{(0, 0), (1, 1)}, {(2, 2)}], [set(), {(1, 2)}])
    assert (scores.error_rate, scores.precision, scores.recall) == pytest.approx((2 / 7, 3 / 4, 2 / 3))
    assert scores.f1 == pytest.approx(12 / 17)
    assert AlignmentScores(1.0, 0.0, 0.0).f1 == 0


def test_a_sure_link_that_is_found_counts_twice_and_a_possible_one_once():
    # Och and Ney 2003: |A & S| + |A & P| over |A| + |S|, and a missing possible link costs nothing
    sure, possible = [{(0, 0)}], [{(0, 0), (0, 1), (1, 1)}]
    assert alignment_error_rate([links((0, 0))], sure, possible) == 0
    assert alignment_error_rate([links((0, 1))], sure, possible) == pytest.approx(1 - 1 / 2)
    assert alignment_error_rate([links((0, 0), (0, 1))], sure, possible) == 0


def test_error_rate_of_a_perfect_and_of_a_useless_alignment():
    assert alignment_error_rate([links((0, 0))], [{(0, 0)}], [{(0, 0), (1, 1)}]) == 0
    assert alignment_error_rate([links((0, 1))], [{(0, 0)}], [{(0, 0)}]) == 1
    assert alignment_error_rate([[]], [set()], [set()]) == 0


def test_error_rate_refuses_lists_of_unequal_length():
    with pytest.raises(ValueError, match="shorter"):
        alignment_error_rate([links((0, 0))], [], [])


def test_symmetrisation_by_hand():
    forward = links((0, 0), (1, 1), (2, 1), (4, 4))
    backward = links((0, 0), (1, 1), (1, 2), (3, 3))
    assert pairs(symmetrize(forward, backward, "intersection")) == {(0, 0), (1, 1)}
    assert pairs(symmetrize(forward, backward, "union")) == pairs(forward) | pairs(backward)
    assert pairs(symmetrize(forward, backward, "grow_diag")) == {(0, 0), (1, 1), (2, 1), (1, 2)}
    # (2, 1) and (1, 2) touch (1, 1) and bring in new words; (3, 3) and (4, 4) touch nothing but
    # join two free words
    grown = pairs(symmetrize(forward, backward, "grow_diag_final_and"))
    assert grown == {(0, 0), (1, 1), (2, 1), (1, 2), (3, 3), (4, 4)}


def test_growing_takes_no_link_between_two_words_already_linked():
    forward = links((0, 0), (1, 1), (0, 1))
    backward = links((0, 0), (1, 1))
    assert pairs(symmetrize(forward, backward, "grow_diag_final_and")) == {(0, 0), (1, 1)}


def test_final_and_needs_both_words_free():
    forward = links((0, 0), (5, 0), (5, 5))
    backward = links((0, 0))
    assert pairs(symmetrize(forward, backward, "grow_diag_final_and")) == {(0, 0), (5, 5)}


def test_scores_of_two_directions_are_averaged():
    forward, backward = [Link(0, 0, 0.8), Link(1, 1, 0.6)], [Link(0, 0, 0.4)]
    assert [link.score for link in symmetrize(forward, backward, "union")] == [
        pytest.approx(0.6),
        pytest.approx(0.3),
    ]
