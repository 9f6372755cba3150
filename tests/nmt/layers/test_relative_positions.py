"""Rotary and ALiBi positions: numbers by hand, others' code, and what only distance decides."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from nmt.layers.alibi import AlibiPositions, slopes
from nmt.layers.attention import MultiHeadAttention, RelativePositions, causal_mask
from nmt.layers.rotary import RotaryPositions, rotate

POSITIONS: dict[str, Callable[[bool], RelativePositions]] = {
    "rotary": lambda _: RotaryPositions(),
    "alibi": lambda causal: AlibiPositions(is_encoder=not causal),
}


def test_a_plane_is_turned_by_its_positions_angle():
    x_BHTE = torch.tensor([1.0, 0.0, 0.0, 1.0]).expand(1, 1, 3, 4)
    slow = 10_000**-0.5  # theta of the second of two planes
    expected = [[math.cos(p), math.sin(p), -math.sin(p * slow), math.cos(p * slow)] for p in (2, 3, 4)]
    torch.testing.assert_close(rotate(x_BHTE, 2)[0, 0], torch.tensor(expected))


def test_rotary_equals_the_code_of_gpt_j():
    gptj = pytest.importorskip("transformers.models.gptj.modeling_gptj", reason="transformers is missing")
    x_BHTE = torch.randn(2, 3, 7, 8)
    sin_TI, cos_TI = gptj.create_sinusoidal_positions(7, 8).chunk(2, dim=-1)
    theirs_BTHE = gptj.apply_rotary_pos_emb(x_BHTE.transpose(1, 2), sin_TI[None], cos_TI[None])
    torch.testing.assert_close(rotate(x_BHTE, 0), theirs_BTHE.transpose(1, 2), rtol=1e-4, atol=1e-5)


def test_rotary_scores_depend_on_the_distance_alone():
    query_BHTE, key_BHSE = torch.randn(2, 2, 4, 8), torch.randn(2, 2, 4, 8)
    near = rotate(query_BHTE, 0) @ rotate(key_BHSE, 0).transpose(-2, -1)
    far = rotate(query_BHTE, 50) @ rotate(key_BHSE, 50).transpose(-2, -1)
    torch.testing.assert_close(near, far, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("n_heads", [1, 2, 4, 6, 8, 12])
def test_slopes_equal_the_code_of_bloom(n_heads: int):
    bloom = pytest.importorskip("transformers.models.bloom.modeling_bloom", reason="transformers is missing")
    theirs_H1S = bloom.build_alibi_tensor(torch.ones(1, 2), n_heads, torch.float32)
    torch.testing.assert_close(torch.tensor(slopes(n_heads)), theirs_H1S[:, 0, 1])


def test_the_bias_is_slope_times_distance_on_both_sides():
    query_BHTE, key_BHSE = torch.zeros(1, 2, 2, 4), torch.zeros(1, 2, 3, 4)
    _, _, bias_HTS = AlibiPositions(is_encoder=False).place(query_BHTE, key_BHSE)
    steep = [[-1.0, 0.0, -1.0], [-2.0, -1.0, 0.0]]  # the queries stand at 1 and 2
    expected = torch.stack([torch.tensor(steep) * 2**-4, torch.tensor(steep) * 2**-8])
    torch.testing.assert_close(bias_HTS, expected)
    _, _, bias_HTS = AlibiPositions(is_encoder=True).place(query_BHTE, key_BHSE)
    back, ahead = [[-1.0, 0.0, -16e4], [-2.0, -1.0, 0.0]], [[-256e4, 0.0, -1.0], [-256e4, -256e4, 0.0]]
    expected = torch.stack([torch.tensor(back) * 2**-4, torch.tensor(ahead) * 2**-8])
    torch.testing.assert_close(bias_HTS, expected)


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("causal", [False, True])
def test_attention_equals_the_sum_written_out(name: str, causal: bool):
    """One query and one key at a time."""
    torch.manual_seed(1)
    attention = MultiHeadAttention(8, 2, relative=POSITIONS[name](causal)).eval()
    x_BTD = torch.randn(1, 5, 8)
    query_BHTE, (key_BHSE, value_BHSE) = (
        attention._split_heads(attention.query(x_BTD)),
        attention.project(x_BTD),
    )
    context_BHTE = torch.zeros_like(query_BHTE)
    for h in range(2):
        for t in range(5):
            seen = range(t + 1 if causal else 5)
            scores = []
            for s in seen:
                q, k = query_BHTE[0, h, t], key_BHSE[0, h, s]
                if name == "rotary":
                    q, k = (
                        torch.view_as_real(
                            torch.view_as_complex(v.view(2, 2))
                            * torch.polar(torch.ones(2), torch.tensor([p * 1.0, p * 0.01]))
                        ).flatten()
                        for v, p in ((q, t), (k, s))
                    )
                bias = -abs(t - s) * slopes(2)[h] if name == "alibi" else 0.0
                if name == "alibi" and (s > t if h == 0 else s < t) and not causal:
                    bias = -math.inf
                scores.append(q @ k / 2 + bias)
            weights = torch.stack(scores).softmax(0)
            context_BHTE[0, h, t] = weights @ value_BHSE[0, h, : len(seen)]
    expected = attention._merge_heads(context_BHTE)
    found, weights_BHTS = attention.forward_with_weights(x_BTD, attention.project(x_BTD), causal=causal)
    torch.testing.assert_close(found, expected)
    with torch.no_grad():  # torch's fused kernel
        torch.testing.assert_close(attention(x_BTD, attention.project(x_BTD), causal=causal), expected)
    if causal:
        assert not weights_BHTS.masked_select(~causal_mask(5)).any()


def test_a_bias_keeps_what_the_mask_hides_hidden():
    attention = MultiHeadAttention(8, 2, relative=AlibiPositions(is_encoder=True)).eval()
    x_BTD, mask = torch.randn(1, 4, 8), torch.tensor([True, True, False, True])
    _, weights_BHTS = attention.forward_with_weights(x_BTD, attention.project(x_BTD), mask)
    assert not weights_BHTS[..., 2].any()
    torch.testing.assert_close(weights_BHTS.sum(-1), torch.ones(1, 2, 4))
