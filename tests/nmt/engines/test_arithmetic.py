"""Arithmetic of compiled functions, against torch's own."""

from __future__ import annotations

import pytest
import torch

from nmt.engines.arithmetic import (
    LONGEST_SUM,
    exponential,
    exponentials,
    largest,
    scaled,
    sum_of_exponentials,
)
from nmt.engines.kernels import INT8_MOST
from nmt.extensions import LANES


def test_its_exponential_is_the_exact_one_but_for_rounding() -> None:
    x = torch.linspace(-80, 0, 1_000_001)
    error = (exponential(x).double() / x.double().exp() - 1).abs()
    assert float(error[x > -0.3].max()) < 2e-7
    assert float((error / (1 - x)).max()) < 3e-7, "x itself is rounded to so much of it"
    edges = exponential(torch.tensor([0.0, -88.0, -89.0, -100.0, -177.0, -1e4, -1e12]))
    assert edges[0] == 1
    assert bool(((edges[1:] >= 0) & (edges[1:] < 2e-38)).all())
    assert bool(exponential(torch.tensor([torch.nan, -torch.inf])).isnan().all())


@pytest.mark.parametrize("dim", [0, 1])
def test_exponentials_of_scores_that_are_hidden_are_next_to_nothing(dim: int) -> None:
    scores = 5 * torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    scores[1, 2] = -torch.inf
    found = exponentials(scores, dim)
    torch.testing.assert_close(found, (scores - scores.amax(dim, keepdim=True)).exp())
    assert 0 <= float(found[1, 2]) < 2e-38


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize("size", [1, 4, 5, 7, 9, 10, 2 * LANES, 3 * LANES, 4 * LANES, 5 * LANES, 100])
def test_the_largest_is_found_in_parts(size: int, dim: int) -> None:
    """Wherever it is, and NaN before it."""
    sizes = [2, 3, 2]
    sizes[dim] = size
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(size))
    for place in range(size):
        x.select(dim, place).fill_(9 + place)
        assert torch.equal(largest(x, dim), x.amax(dim=dim))
    x.select(dim, size // 2)[..., 0] = torch.nan
    torch.testing.assert_close(largest(x, dim), x.amax(dim=dim), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("width", [1, 7, LONGEST_SUM, LONGEST_SUM + 1, 3 * LONGEST_SUM, 12_007])
def test_a_sum_of_exponentials_is_that_of_torch(width: int) -> None:
    """However it is divided; a prime number of them cannot be."""
    x_ND = 5 * torch.randn(3, width, generator=torch.Generator().manual_seed(width))
    highest_N1 = x_ND.amax(dim=1, keepdim=True)
    expected_N = (x_ND - highest_N1).exp().sum(dim=1)
    torch.testing.assert_close(sum_of_exponentials(x_ND, highest_N1), expected_N)


def test_rows_are_scaled_to_the_range_of_int8_and_back() -> None:
    x_ND = torch.tensor([[1.0, -4.0, 2.0], [0.0, 0.0, 0.0], [1e-20, 5e-21, 0.0]])
    scaled_ND, scale_N1 = scaled(x_ND)
    assert scaled_ND.abs().amax(dim=1).tolist() == pytest.approx([INT8_MOST, 0.0, INT8_MOST])
    torch.testing.assert_close(scaled_ND * scale_N1, x_ND, atol=0, rtol=1e-6)
    for unusable in (torch.nan, torch.inf):
        x_ND[0, 1] = unusable
        scaled_ND, scale_N1 = scaled(x_ND)
        assert not bool((scaled_ND * scale_N1)[0].isfinite().all()), "search refuses such a row"
        assert bool((scaled_ND * scale_N1)[1:].isfinite().all())
