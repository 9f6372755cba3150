"""The best continuations of a beam are the largest sums, and of them the best that do not end."""

from __future__ import annotations

import math

import pytest
import torch

from nmt.search.topk import Continuations, best_continuations

EOS = 5


def assert_going_on(found: Continuations, beam_size: int) -> None:
    """Those that go on are the best K that do not end, dead rows aside."""
    going = list(zip(*(part.view(-1, beam_size).tolist() for part in found[3:]), strict=True))
    for place, candidates in enumerate(zip(*(part.tolist() for part in found[:3]), strict=True)):
        expected = [one for one in zip(*candidates, strict=True) if one[2] != EOS and one[0] > -math.inf]
        live = [one for one in zip(*going[place], strict=True) if one[0] > -math.inf]
        assert live == expected[:beam_size]
        assert len(going[place][0]) == beam_size


@pytest.mark.parametrize("width", [640, 997, 24])
@pytest.mark.parametrize("beam_size", [1, 5, 11])
def test_the_best_continuations_are_the_largest_sums(width: int, beam_size: int) -> None:
    n_sentences, n_rows = 4, 4 * beam_size
    chance = torch.Generator().manual_seed(width + beam_size)
    log_probs_NV = torch.randn(n_rows, width, generator=chance)
    log_probs_NV[:, EOS] += 4.0
    log_probs_NV[beam_size : 2 * beam_size] = -torch.inf
    log_probs_NV[beam_size, EOS] = -1.0
    sums_N = torch.randn(n_rows, generator=chance)
    sums_N[-beam_size + 1 :] = -torch.inf if beam_size > 1 else 0.0  # the last sentence has one live row
    before_NV = log_probs_NV.clone()
    found = best_continuations(log_probs_NV, sums_N, n_sentences, EOS)
    sums_BC, rows_BC, tokens_BC = found[:3]
    extended_NV = log_probs_NV + sums_N.unsqueeze(1)
    assert_going_on(found, beam_size)
    assert torch.equal(sums_BC, extended_NV.view(n_sentences, -1).topk(2 * beam_size).values)
    assert torch.equal(extended_NV[rows_BC, tokens_BC], sums_BC)
    assert torch.equal(rows_BC // beam_size, torch.arange(n_sentences).unsqueeze(1).expand_as(rows_BC))
    assert all(len(set(row)) == 2 * beam_size for row in (rows_BC * width + tokens_BC).tolist())
    assert torch.equal(log_probs_NV, before_NV)
