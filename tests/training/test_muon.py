"""Muon beside torch's own, which multiplies in bfloat16 everywhere."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import training.muon
from training.muon import Muon, nearest_orthogonal

SHAPES = ((24, 24), (48, 16), (16, 48))
OPTIONS = {"lr": 0.02, "weight_decay": 0.1, "momentum": 0.9}


@pytest.fixture(params=[True, False], ids=["bfloat16", "float32"])
def bf16(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(training.muon, "has_bf16_units", lambda device: request.param)
    return bool(request.param)


def matrices() -> list[nn.Parameter]:
    torch.manual_seed(0)
    return [nn.Parameter(torch.randn(shape)) for shape in SHAPES]


def test_its_steps_are_those_of_torch(bf16: bool) -> None:
    ours, theirs = matrices(), matrices()
    muon = Muon(ours, **OPTIONS)
    other = torch.optim.Muon(theirs, **OPTIONS, adjust_lr_fn="match_rms_adamw")
    for seed in range(3):
        torch.manual_seed(seed)
        for one, twin in zip(ours, theirs, strict=True):
            one.grad = torch.randn_like(one)
            twin.grad = one.grad.clone()
        muon.step()
        other.step()

    for one, twin in zip(ours, theirs, strict=True):
        if bf16:
            assert torch.equal(one, twin)
        else:
            largest_step = OPTIONS["lr"] * 0.2 * math.sqrt(max(one.shape))
            torch.testing.assert_close(one, twin, rtol=0, atol=0.03 * largest_step)
        assert torch.equal(muon.state[one]["momentum_buffer"], other.state[twin]["momentum_buffer"])


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values_come_near_one_and_directions_stay(bf16: bool, shape: tuple[int, int]) -> None:
    torch.manual_seed(3)
    matrix = torch.randn(shape)
    found = nearest_orthogonal(matrix)

    assert found.dtype == (torch.bfloat16 if bf16 else torch.float32)
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    seen = (left.T @ found.float() @ right.T).diagonal()
    likely = values > 0.1 * values.max()
    assert seen[likely].min() > 0.5
    assert seen[likely].max() < 1.3


def test_what_it_is_given_stays_as_it_is(bf16: bool) -> None:
    matrix = torch.randn(8, 8)
    before = matrix.clone()
    nearest_orthogonal(matrix)
    assert torch.equal(matrix, before)


def test_a_matrix_without_a_gradient_stays_where_it_is(bf16: bool) -> None:
    one, other = (nn.Parameter(torch.ones(4, 4)) for _ in range(2))
    one.grad = torch.eye(4)
    Muon([one, other], **OPTIONS).step()
    assert torch.equal(other, torch.ones(4, 4))
    assert not torch.equal(one, torch.ones(4, 4))
