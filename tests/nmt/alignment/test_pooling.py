"""From shares of pieces to links of words, by hand."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from nmt.alignment.pooling import WordShares, piece_shares, pool_shares
from nmt.alignment.scorer_config import LinkRule
from nmt.text.words import whitespace_words
from nmt.tokenizer import Piece

RULE = LinkRule(agreement="geometric", threshold=0.5)
FORWARD = torch.tensor([[0.9, 0.0, 0.0], [0.0, 0.4, 0.5], [0.1, 0.1, 0.1]])
BACKWARD = torch.tensor([[0.8, 0.0, 0.0], [0.0, 0.9, 0.1], [0.1, 0.1, 0.2]])
SHARES = WordShares(FORWARD, BACKWARD)


def pieces(*spans):
    return [Piece(4, "x", start, end) for start, end in spans]


def pairs(links):
    return [(link.target, link.source) for link in links]


def test_shares_are_summed_over_the_pieces_pointed_to_and_averaged_over_those_that_point():
    source, target = "un chat", "ab"
    shares_SJ = piece_shares(pieces((0, 2), (3, 5), (5, 7)), whitespace_words(source))
    shares_TI = piece_shares(pieces((0, 1), (1, 2)), whitespace_words(target))
    forward_TS = torch.tensor([[0.1, 0.6, 0.2], [0.3, 0.2, 0.1]])
    backward_TS = torch.tensor([[0.1, 0.6, 0.2], [0.3, 0.2, 0.4]])
    pooled = pool_shares(forward_TS, backward_TS, shares_TI, shares_SJ)
    assert_close(pooled.forward_IJ, torch.tensor([[0.2, 0.55]]))
    assert_close(pooled.backward_IJ, torch.tensor([[0.4, 0.7]]))


def test_by_default_words_are_linked_that_agree():
    # sqrt(.9 * .8) = .85, sqrt(.4 * .9) = .6, sqrt(.5 * .1) = .22
    links = SHARES.links(RULE)
    assert pairs(links) == [(0, 0), (1, 1)]
    assert [link.score for link in links] == pytest.approx([0.72**0.5, 0.6])
    mean = LinkRule(agreement="mean", threshold=0.3)
    assert pairs(SHARES.links(mean)) == [(0, 0), (1, 1), (1, 2)]


def test_one_direction_links_what_has_more_than_no_word():
    # target word 2 has .1 at most and .7 on no word; source word 2 has .2 and .7 on no word
    assert pairs(SHARES.links(RULE, "argmax")) == [(0, 0), (1, 2)]
    assert pairs(SHARES.links(RULE, "backward")) == [(0, 0), (1, 1)]
    assert [link.score for link in SHARES.links(RULE, "backward")] == pytest.approx([0.8, 0.9])


def test_reversed_shares_give_the_same_links_the_other_way_round():
    other = SHARES.reversed()
    for method, same in (("default", "default"), ("argmax", "backward"), ("union", "union")):
        links = {(link.source, link.target) for link in SHARES.links(RULE, method)}
        assert {(link.target, link.source) for link in other.links(RULE, same)} == links


def test_both_directions_are_symmetrised():
    assert pairs(SHARES.links(RULE, "intersection")) == [(0, 0)]
    assert pairs(SHARES.links(RULE, "union")) == [(0, 0), (1, 1), (1, 2)]
    assert pairs(SHARES.links(RULE, "grow_diag")) == [(0, 0), (1, 1), (1, 2)]
    assert pairs(SHARES.links(RULE, "grow_diag_final_and")) == [(0, 0), (1, 1), (1, 2)]


def test_the_heat_map_has_rows_that_sum_to_one_or_are_zero():
    faint = WordShares(FORWARD * torch.tensor([[1.0], [1.0], [0.01]]), BACKWARD)
    matrix_IJ = faint.matrix(RULE)
    assert_close(matrix_IJ.sum(dim=1), torch.tensor([1.0, 1.0, 0.0]))
    assert_close(matrix_IJ[1, 1] / matrix_IJ[1, 2], torch.tensor((0.36 / 0.05) ** 0.5))


def test_a_side_without_words_has_no_links():
    empty = WordShares(torch.zeros(0, 3), torch.zeros(0, 3))
    for extraction in ("default", "argmax", "backward", "union"):
        assert empty.links(RULE, extraction) == []
    assert empty.matrix(RULE).shape == (0, 3)
