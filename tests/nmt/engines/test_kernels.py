"""Linear maps of fewer bits: close to the exact one, row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from nmt.engines.cpu import CpuFeatures
from nmt.engines.kernels import (
    FEW_ROWS,
    INT8_MOST,
    MOST_OF_TWO,
    FbgemmProduct,
    Float32Linear,
    Int8Linear,
    OneDnnLinear,
    OneDnnProduct,
    Precision,
    int8_product,
    int8_rows,
    pack,
    padded_rows,
)
from nmt.engines.projection import Projection
from tests.nmt.engines.marks import HERE, VNNI, needs_fbgemm

PRECISIONS: list[Precision] = [
    "float32",
    *(["bfloat16"] if HERE.bfloat16 else []),
    *(["int8"] if HERE.avx2 else []),
]
OF_16_BITS, UNSIGNED_MOST = 32_767, 255
needs_int8 = pytest.mark.skipif("int8" not in PRECISIONS, reason="this CPU has no int8 instructions")


@pytest.mark.parametrize("precision", PRECISIONS)
@torch.inference_mode()
def test_a_packed_map_is_the_maps_it_was_made_of_side_by_side(precision: Precision) -> None:
    torch.manual_seed(0)
    parts = [nn.Linear(64, 32), nn.Linear(64, 16)]
    packed = pack(parts, precision)
    x_ND, add_NF = torch.randn(5, 64), torch.randn(5, 48)
    expected = torch.cat([part(x_ND) for part in parts], dim=1)
    found = packed(x_ND.to(packed.dtype))
    torch.testing.assert_close(found.float(), expected, atol=0.03, rtol=0.02)
    found = packed(x_ND.to(packed.dtype), relu=True)
    torch.testing.assert_close(found.float(), expected.relu(), atol=0.03, rtol=0.02)
    found = packed(x_ND.to(packed.dtype), add_NF=add_NF.to(packed.dtype))
    torch.testing.assert_close(found.float(), expected + add_NF, atol=0.03, rtol=0.02)


@pytest.mark.parametrize("n_rows", [1, 2, FEW_ROWS, FEW_ROWS + 1])
@pytest.mark.parametrize("size", [(48, 64), (1024, 512)], ids=["small", "large"])
@pytest.mark.parametrize("has_onednn", [True, False])
@torch.inference_mode()
def test_float32_is_exact_whatever_multiplies(
    n_rows: int, size: tuple[int, int], has_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: has_onednn)
    weight_FD, bias_F = torch.randn(size), torch.randn(size[0])
    linear, unbiased = Float32Linear(weight_FD, bias_F), Float32Linear(weight_FD, None)
    assert linear._is_large == (size[0] == 1024)
    for part in (linear, unbiased):
        used: list[int] = []
        if part._onednn is not None:
            monkeypatch.setattr(part, "_onednn", _recording(part._onednn, used))
        x_ND, add_NF = torch.randn(n_rows, size[1]), torch.randn(n_rows, size[0])
        expected = x_ND @ weight_FD.t() + (bias_F if part is linear else 0)
        close = {"atol": 1e-4, "rtol": 1e-5}
        torch.testing.assert_close(part(x_ND), expected, **close)
        torch.testing.assert_close(part(x_ND, relu=True), expected.relu(), **close)
        torch.testing.assert_close(part(x_ND, add_NF=add_NF.clone()), expected + add_NF, **close)
        takes_onednn = has_onednn and n_rows > 1 and (n_rows <= FEW_ROWS or part._is_large)
        assert used == [n_rows] * (3 if takes_onednn else 0)


def _recording(linear: OneDnnLinear, used: list[int]) -> Callable[..., torch.Tensor]:
    def call(x_ND: torch.Tensor, **rest: Any) -> torch.Tensor:
        used.append(len(x_ND))
        return linear(x_ND, **rest)

    return call


@torch.inference_mode()
def test_without_matrix_units_int8_is_not_onednns() -> None:
    """Which multiplies inputs with a sign without them by its reference: 100 ms instead of 0.04."""
    weight_FD = torch.randn(8, 16)
    assert isinstance(int8_product(weight_FD, replace(VNNI, matrix_units=True)), OneDnnProduct)
    if HERE.pairs:
        for features in (VNNI, replace(VNNI, int8=False)):
            assert isinstance(int8_product(weight_FD, features), FbgemmProduct)


@torch.inference_mode()
def test_one_int8_row_is_never_multiplied_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """OneDNN takes 57 ms for one row of 256 numbers and 8,000 outputs, and 0.3 ms for two."""
    torch.manual_seed(0)
    monkeypatch.setattr(CpuFeatures, "here", lambda: replace(VNNI, matrix_units=True))
    linear = Int8Linear(torch.randn(32, 256), torch.randn(32))
    x_ND = torch.randn(3, 256)
    together_NF = linear(x_ND)
    product = linear._product
    assert isinstance(product, OneDnnProduct)
    multiply, seen = product._linear, []

    def recording(rows_ND: torch.Tensor, *rest: object) -> torch.Tensor:
        seen.append(len(rows_ND))
        return multiply(rows_ND, *rest)

    monkeypatch.setattr(product, "_linear", recording)
    alone_1F = linear(x_ND[:1])
    assert seen == [2]
    assert torch.equal(alone_1F, together_NF[:1])


def test_neighbouring_weights_are_small_enough_together() -> None:
    """And no smaller than that asks for, whichever the pair; an odd one out has none beside it."""
    torch.manual_seed(0)
    weight_FD = torch.randn(200, 33)
    weight_FD[0, 6:8] = 5
    weight_FD[1, 7:9] = 5  # no pair
    weight_FD[2] = 0
    weight_FD[3, :32], weight_FD[3, 32] = 0, 2
    rounded_FD, scale_F = int8_rows(weight_FD, in_pairs=True)
    pairs_FD = rounded_FD[:, :32].int().abs().unflatten(1, (16, 2)).sum(dim=2)
    assert int(pairs_FD.max()) == OF_16_BITS // UNSIGNED_MOST
    assert int(rounded_FD.int().abs().max()) == INT8_MOST
    assert rounded_FD[0, 6] == rounded_FD[0, 7] == 64
    assert rounded_FD[3, 32] == INT8_MOST
    assert not rounded_FD[2].any()
    error_FD = rounded_FD * scale_F[:, None] - weight_FD
    assert bool((error_FD.abs() <= 0.5001 * scale_F[:, None]).all())
    finer_F = int8_rows(weight_FD)[1]
    assert bool((scale_F >= finer_F).all())
    assert bool((scale_F < 2 * finer_F).all())
    as_fine = (weight_FD.abs() > 0).sum(dim=1) < 2  # or none beside it
    assert bool((scale_F[as_fine] == finer_F[as_fine]).all())


def pairs_at_their_most(n_outputs: int, n_inputs: int) -> torch.Tensor:
    """Weights, rounded already, of which two neighbours together are as large as they may be."""
    first = torch.randint(0, INT8_MOST + 1, (n_outputs, n_inputs // 2))
    first[:, 0] = INT8_MOST
    first[1::4] = INT8_MOST // 2 + 1
    second = INT8_MOST - first
    second[1::4] = first[1::4]
    signs = torch.randint(0, 2, (n_outputs, n_inputs)) * 2 - 1
    signs[1::2] = 1
    return torch.stack([first, second], dim=2).flatten(1) * signs


@needs_fbgemm
@pytest.mark.parametrize("n_inputs", [64, 1280, 50])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 40])
@torch.inference_mode()
def test_no_sum_of_products_is_too_large(n_rows: int, n_inputs: int) -> None:
    """Sums of 16 bits end at 32,767; which inputs are a pair is the library's business."""
    torch.manual_seed(0)
    rounded_FD = pairs_at_their_most(24, n_inputs)
    weight_FD = torch.where(rounded_FD.abs() == 64, rounded_FD.sign() * MOST_OF_TWO / 2, rounded_FD.float())
    found_FD, scale_F = int8_rows(weight_FD, in_pairs=True)
    assert torch.equal(found_FD.long(), rounded_FD)
    assert bool((scale_F == 1).all())
    x_ND = torch.full((n_rows, n_inputs), float(INT8_MOST))
    x_ND[1::3] *= -1
    x_ND[2::3, ::2] *= -1
    expected_NF = x_ND @ rounded_FD.float().t()
    assert torch.equal(FbgemmProduct(weight_FD, in_pairs=True)(x_ND.clone()), expected_NF)


@needs_fbgemm
@pytest.mark.parametrize("in_pairs", [True, *([False] if HERE.int8 else [])])
@torch.inference_mode()
def test_inputs_are_rounded_and_products_are_exact(in_pairs: bool) -> None:
    torch.manual_seed(0)
    weight_FD = torch.randint(-60, 61, (30, 50)).float()
    weight_FD[:, 0], weight_FD[:, 1] = 127, 0  # and so every scale is 1
    product = FbgemmProduct(weight_FD, in_pairs=in_pairs)
    x_ND = torch.empty(9, 50).uniform_(-INT8_MOST, INT8_MOST)
    assert torch.equal(product(x_ND.clone()), x_ND.round() @ weight_FD.t())


@needs_int8
@torch.inference_mode()
def test_int8_rows_have_scales_of_their_own() -> None:
    """A large row leaves its neighbours as they are, bit for bit; a row of zeros is no division by zero."""
    torch.manual_seed(0)
    linear = Int8Linear(torch.randn(32, 64), torch.zeros(32))
    x_ND = torch.randn(8, 64)
    beside_ND = x_ND.clone()
    beside_ND[3] *= 1e4
    beside_ND[4] = 0.0
    others = [0, 1, 2, 5, 6, 7]
    assert torch.equal(linear(beside_ND)[others], linear(x_ND)[others])
    assert not linear(beside_ND)[4].any()


def test_few_numbers_of_rows_are_computed_with_and_not_many_more_than_asked_for() -> None:
    widths = {padded_rows(n_rows, "bfloat16") for n_rows in range(1, 2000)}
    assert len(widths) < 50
    for n_rows in range(1, 2000):
        padded = padded_rows(n_rows, "bfloat16")
        assert n_rows <= padded <= 4 * n_rows / 3
        assert padded_rows(n_rows, "float32") == (padded if n_rows <= FEW_ROWS else n_rows)


@pytest.mark.parametrize("shift", [0.0, 30.0, -75.0, -200.0, 95.0, 400.0])
def test_logits_of_any_size_are_normalised(shift: float) -> None:
    torch.manual_seed(0)
    weight_VD, h_ND = torch.randn(500, 6), torch.randn(20, 6)
    weight_VD[:, 0] = 1.0
    h_ND[::2, 0] = shift
    logits_NV, log_totals_N = Projection(weight_VD, "float32")(h_ND)
    expected_NV = (h_ND.double() @ weight_VD.double().t()).log_softmax(dim=1)
    torch.testing.assert_close(
        (logits_NV - log_totals_N.unsqueeze(1)).double(), expected_NV, atol=2e-4, rtol=0
    )


def test_a_broken_row_stays_broken_and_alone() -> None:
    h_ND = torch.randn(3, 6)
    h_ND[1] = torch.nan
    _, log_totals_N = Projection(torch.randn(40, 6), "float32")(h_ND)
    assert log_totals_N.isnan().tolist() == [False, True, False]
