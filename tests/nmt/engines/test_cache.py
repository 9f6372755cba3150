"""The cache of what rows have read: it holds what a list of plain tensors would, wherever it puts it."""

from __future__ import annotations

import random

import pytest
import torch
from torch import Tensor

from nmt.engines.cache import FIRST_CAPACITY, Cache

WIDTH = 3


@pytest.mark.parametrize("beam_size", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_it_holds_what_each_row_has_read(seed: int, beam_size: int) -> None:
    """Whether it is read where it stands, or first put in its place, or now one and now the other."""
    chance = random.Random(f"{seed} {beam_size}")
    torch.manual_seed(seed)
    n_sentences = 9
    cache = Cache(n_sentences * beam_size, WIDTH, torch.float32)
    expected_TNW = torch.empty(0, cache.n_rows, WIDTH)
    for _ in range(FIRST_CAPACITY + 40):
        cache.grow()
        new_NW = torch.randn(cache.n_rows, WIDTH)
        expected_TNW = torch.cat([expected_TNW, new_NW[None]])
        if chance.random() < 0.2:
            cache.kept_TNW[-1] = new_NW
            assert torch.equal(cache.kept_TNW, expected_TNW)
        else:
            cache.past_TMW[-1, : cache.n_rows] = new_NW
        assert torch.equal(where_it_stands(cache), expected_TNW)
        if chance.random() < 0.7:
            staying = sorted(chance.sample(range(n_sentences), n_sentences - (chance.random() < 0.1)))
            n_sentences = max(1, len(staying))
            rows_N = torch.tensor(
                [
                    place * beam_size + chance.randrange(beam_size)
                    for place in staying or [0]
                    for _ in range(beam_size)
                ]
            )
            cache.select(rows_N)
            expected_TNW = expected_TNW[:, rows_N]
            assert torch.equal(where_it_stands(cache), expected_TNW)
    assert torch.equal(cache.kept_TNW, expected_TNW)
    assert n_sentences < 9


def where_it_stands(cache: Cache) -> Tensor:
    times_T1 = torch.arange(cache.n_tokens).unsqueeze(1)
    return cache.past_TMW[times_T1, cache.rows_TN]


def test_nothing_moves_until_half_have_left_or_somebody_asks() -> None:
    cache = Cache(8, WIDTH, torch.float32)
    for _ in range(4):
        cache.grow()
        cache.past_TMW[-1] = torch.randn(8, WIDTH)
    before = cache.past_TMW.data_ptr()
    cache.select(torch.tensor([1, 1, 0, 3, 4, 7]))
    cache.grow()
    assert cache.past_TMW.shape == (5, 8, WIDTH)
    assert cache.past_TMW.data_ptr() == before
    assert cache.rows_TN.tolist() == [[1, 1, 0, 3, 4, 7]] * 4 + [[0, 1, 2, 3, 4, 5]]
    cache.select(torch.tensor([0, 1, 2, 5]))
    assert cache.past_TMW.shape == (5, 4, WIDTH)
    assert cache.rows_TN.tolist() == [[0, 1, 2, 3]] * 5
    cache.select(torch.tensor([3, 2, 1]))
    assert cache.past_TMW.shape == (5, 4, WIDTH)
    assert cache.kept_TNW.shape == (5, 3, WIDTH)
    assert cache.past_TMW.shape == (5, 3, WIDTH)


def test_rows_may_leave_before_anything_is_read() -> None:
    cache = Cache(8, WIDTH, torch.float32)
    cache.select(torch.tensor([2, 3, 4, 5, 6]))
    cache.grow()
    cache.past_TMW[-1, :5] = 1.0
    assert cache.kept_TNW.tolist() == [[[1.0] * WIDTH] * 5]
