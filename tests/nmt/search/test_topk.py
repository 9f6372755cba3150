"""The largest by block maxima, against torch's own ``topk`` and ``max``."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from nmt.extensions import (
    LANES,
    Blocks,
    Extensions,
    best_of_blocks,
    block_maxima,
    in_blocks,
)
from nmt.search.topk import FEW_SCORES, best_extensions, blockwise_max


def assert_going_on(found: Extensions, beam_size: int, eos: int) -> None:
    """Those that go on are the best K that do not end, dead rows aside."""
    going = list(zip(*(part.view(-1, beam_size).tolist() for part in found[3:]), strict=True))
    for place, candidates in enumerate(zip(*(part.tolist() for part in found[:3]), strict=True)):
        expected = [one for one in zip(*candidates, strict=True) if one[2] != eos and one[0] > -math.inf]
        live = [one for one in zip(*going[place], strict=True) if one[0] > -math.inf]
        assert live == expected[:beam_size]
        assert len(going[place][0]) == beam_size


@pytest.mark.parametrize("width", [640, 6400, 1000, 997, 24, 64])
@pytest.mark.parametrize("beam_size", [1, 5, 11])
def test_the_best_extensions_are_the_largest_sums(width: int, beam_size: int) -> None:
    n_sentences, n_rows = 4, 4 * beam_size
    chance = torch.Generator().manual_seed(width + beam_size)
    scores_NV = torch.randn(n_rows, width, generator=chance)
    scores_NV[0, : width // 2] += 10  # all the largest close together
    scores_NV[beam_size : 2 * beam_size] = -torch.inf
    scores_NV[beam_size, 5] = -1.0
    offsets_N = torch.randn(n_rows, generator=chance)
    offsets_N[-beam_size + 1 :] = -torch.inf if beam_size > 1 else 0.0  # the last sentence has one live row
    before_NV = scores_NV.clone()
    sums_BX = (scores_NV + offsets_N.unsqueeze(1)).view(n_sentences, -1)
    expected_BC = sums_BX.topk(2 * beam_size).values
    for maxima_Nn in (None, block_maxima(scores_NV)):
        found = best_extensions(scores_NV, offsets_N, n_sentences, 5, maxima_Nn)
        values_BC, rows_BC, tokens_BC = found[:3]
        assert_going_on(found, beam_size, eos=5)
        assert torch.equal(values_BC, expected_BC)
        assert torch.equal((scores_NV + offsets_N.unsqueeze(1))[rows_BC, tokens_BC], values_BC)
        assert torch.equal(rows_BC // beam_size, torch.arange(n_sentences).unsqueeze(1).expand_as(rows_BC))
        assert all(len(set(row)) == 2 * beam_size for row in (rows_BC * width + tokens_BC).tolist())
    assert torch.equal(scores_NV, before_NV)


@pytest.mark.parametrize("width", [640, 6400, 997, 24])
@pytest.mark.parametrize("maxima_are_known", [True, False])
def test_what_is_forbidden_is_no_extension(width: int, maxima_are_known: bool) -> None:
    chance = torch.Generator().manual_seed(width)
    scores_NV, offsets_N = torch.randn(6, width, generator=chance), torch.zeros(6)
    scores_NV[:, [3, 7]] += 9.0
    forbidden_V = torch.zeros(width)
    forbidden_V[[3, 11]] = -torch.inf
    before_NV, allowed_NV = scores_NV.clone(), scores_NV + forbidden_V
    maxima_Nn = block_maxima(allowed_NV) if maxima_are_known else None
    found = best_extensions(scores_NV, offsets_N, 2, 7, maxima_Nn, forbidden_V)
    values_BC, rows_BC, tokens_BC = found[:3]
    assert_going_on(found, 3, eos=7)
    assert tokens_BC.eq(7).sum(dim=1).tolist() == [3, 3]
    assert torch.equal(values_BC, allowed_NV.view(2, -1).topk(6).values)
    assert torch.equal(allowed_NV[rows_BC, tokens_BC], values_BC)
    assert torch.equal(scores_NV, before_NV)


def test_whoever_ranks_is_given_blocks_and_their_largest() -> None:
    scores_NV, offsets_N = torch.randn(6, 640), torch.randn(6)
    given: list[Tensor] = []

    def rank(
        scores_BKZXG: Tensor,
        offsets_BK: Tensor,
        maxima_BKn: Tensor,
        forbidden_ZXG: Tensor | None,
        eos: int,
    ) -> Extensions:
        assert forbidden_ZXG is not None
        assert eos == 3
        given.extend([scores_BKZXG, offsets_BK, maxima_BKn, forbidden_ZXG])
        return best_of_blocks(scores_BKZXG, offsets_BK, maxima_BKn, forbidden_ZXG, eos)

    maxima_Nn, forbidden_V = block_maxima(scores_NV), torch.zeros(640)
    best_extensions(scores_NV, offsets_N, 2, 3, maxima_Nn, forbidden_V, rank)
    scores_BKZXG, offsets_BK, maxima_BKn, forbidden_ZXG = given
    blocks = Blocks.of(640)
    assert blocks.n_groups > 1
    assert torch.equal(forbidden_ZXG, forbidden_V.view(blocks))
    assert torch.equal(scores_BKZXG, scores_NV.view(2, 3, *blocks))
    assert torch.equal(offsets_BK, offsets_N.view(2, 3))
    assert torch.equal(maxima_BKn, scores_BKZXG.amax(dim=3).view(2, 3, blocks.n_blocks))


@pytest.mark.parametrize("vocab_size", [1, 48, 208, 997, 8000, 12_000, 32_000, 1000, 24])
def test_blocks_are_equal_and_hold_each_score_once(vocab_size: int) -> None:
    """Those of a group take turns: score after score, or register after register where they fill some."""
    n_groups, size, n_lanes = blocks = Blocks.of(vocab_size)
    assert n_groups * size * n_lanes == vocab_size
    assert n_lanes == math.gcd(vocab_size, LANES)
    scores_V = torch.arange(vocab_size)
    in_them_ZXG = in_blocks(scores_V)
    assert in_them_ZXG[-1, -1].tolist() == list(range(vocab_size - n_lanes, vocab_size))
    assert torch.equal(in_them_ZXG.flatten(), scores_V)
    maxima_n = block_maxima(scores_V)
    assert maxima_n.numel() == blocks.n_blocks
    assert maxima_n[:n_lanes].tolist() == [(size - 1) * n_lanes + lane for lane in range(n_lanes)]


@pytest.mark.parametrize(
    ("vocab_size", "size"), [(12_000, 30), (8_000, 25), (32_000, 50), (208, 13), (997, 1), (16, 1)]
)
def test_maxima_and_scores_that_are_left_to_look_at_are_few_together(vocab_size: int, size: int) -> None:
    """Of 997 there are no equal blocks but of one, or of all."""
    assert Blocks.of(vocab_size).size == size


@pytest.mark.parametrize("n_rows", [3, FEW_SCORES // 640, FEW_SCORES // 640 + 1])
@pytest.mark.parametrize("width", [640, 6400, 1000, 997, 24, 64])
def test_blockwise_max_is_the_maximum_and_its_place(width: int, n_rows: int) -> None:
    scores_NV = torch.randn(n_rows, width, generator=torch.Generator().manual_seed(width))
    scores_NV[1, :] = -torch.inf
    scores_NV[1, width - 1] = -1.0
    scores_NV[2, 0] = 50.0
    values_N, indices_N = blockwise_max(scores_NV)
    expected = scores_NV.max(dim=1)
    assert torch.equal(values_N, expected.values)
    assert torch.equal(indices_N, expected.indices)
    values_N, indices_N = blockwise_max(scores_NV, block_maxima(scores_NV))
    assert torch.equal(values_N, expected.values)
    assert torch.equal(indices_N, expected.indices)
