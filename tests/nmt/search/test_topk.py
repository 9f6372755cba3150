"""The k largest by block maxima, against torch's own topk."""

from __future__ import annotations

import math

import pytest
import torch

from nmt.search.topk import FEW_SCORES, best_extensions, blockwise_max, blockwise_topk


@pytest.mark.parametrize("width", [640, 6400, 1000, 997, 24, 64])
@pytest.mark.parametrize("k", [2, 10, 24])
def test_blockwise_topk_is_topk(width: int, k: int) -> None:
    scores_BX = torch.randn(7, width, generator=torch.Generator().manual_seed(width + k))
    scores_BX[0, : width // 2] += 10  # all the largest close together
    scores_BX[1, :] = -torch.inf
    scores_BX[1, 5] = -1.0
    values, indices = blockwise_topk(scores_BX, k)
    n_beside = math.gcd(width, 32)
    if width >= 2 * k * n_beside:  # maxima of blocks of another size, given
        known = best_extensions(scores_BX, torch.zeros(7), 7, k, scores_BX.view(7, -1, n_beside).amax(dim=2))
        assert torch.equal(known[0], values)
        assert torch.equal(scores_BX.gather(1, known[1]), values)
    expected = scores_BX.topk(k)
    assert torch.equal(values, expected.values)
    assert torch.equal(scores_BX.gather(1, indices), values)
    finite = expected.values > -torch.inf
    assert torch.equal(indices[finite], expected.indices[finite])
    assert all(len(set(row)) == k for row in indices.tolist())


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
    values_N, indices_N = blockwise_max(scores_NV, scores_NV.view(n_rows, -1, math.gcd(width, 8)).amax(dim=2))
    assert torch.equal(values_N, expected.values)
    assert torch.equal(indices_N, expected.indices)
