import math

import pytest
import torch

from nmt.layers.attention import (
    KeyValue,
    MultiHeadAttention,
    causal_mask,
    scaled_dot_product_attention,
)

B, T, S, D, H = 2, 5, 7, 12, 3


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def source_mask() -> torch.Tensor:
    mask_BS = torch.ones(B, S, dtype=torch.bool)
    mask_BS[1, 4:] = False
    return mask_BS[:, None, None, :]


def test_reference_attention_matches_numbers_worked_by_hand():
    query = torch.tensor([[[[1.0, 0.0]]]])
    key = torch.tensor([[[[math.sqrt(2) * math.log(3), 5.0], [0.0, -2.0]]]])  # scores ln 3 and 0
    value = torch.tensor([[[[4.0, 8.0], [0.0, 4.0]]]])
    context, weights = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(weights, torch.tensor([[[[0.75, 0.25]]]]))
    torch.testing.assert_close(context, torch.tensor([[[[3.0, 7.0]]]]))


def test_masked_positions_get_no_weight_and_rows_sum_to_one():
    query, key, value = (torch.randn(B, H, length, 4) for length in (T, S, S))
    _, weights_BHTS = scaled_dot_product_attention(query, key, value, source_mask())
    assert weights_BHTS[1, :, :, 4:].eq(0).all()
    torch.testing.assert_close(weights_BHTS.sum(-1), torch.ones(B, H, T))


@pytest.mark.parametrize("causal", [False, True])
def test_fused_attention_equals_the_reference(causal: bool):
    attention = MultiHeadAttention(D, H).eval()
    x_BTD, memory_BSD = torch.randn(B, T, D), torch.randn(B, S, D)
    memory = attention.project(x_BTD if causal else memory_BSD)
    mask = None if causal else source_mask()
    with torch.no_grad():
        fused = attention(x_BTD, memory, mask, causal=causal)
    reference, _ = attention.forward_with_weights(x_BTD, memory, mask, causal=causal)
    torch.testing.assert_close(fused, reference)


@pytest.mark.parametrize("training", [False, True])
def test_multi_head_attention_equals_torchs_own(training: bool):
    ours = MultiHeadAttention(D, H).train(training)
    torchs = torch.nn.MultiheadAttention(D, H, batch_first=True).train(training)
    with torch.no_grad():
        torchs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
        torchs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
        torchs.out_proj.load_state_dict(ours.output.state_dict())
    x_BTD, memory_BSD = torch.randn(B, T, D), torch.randn(B, S, D)
    expected, expected_weights = torchs(
        x_BTD, memory_BSD, memory_BSD, ~source_mask()[:, 0, 0], average_attn_weights=False
    )
    memory = ours.project(memory_BSD)
    torch.testing.assert_close(ours(x_BTD, memory, source_mask()), expected)
    torch.testing.assert_close(ours.forward_with_weights(x_BTD, memory, source_mask())[1], expected_weights)


def test_causal_attention_does_not_see_what_comes_after():
    attention = MultiHeadAttention(D, H)
    x_BTD = torch.randn(B, T, D)
    changed_BTD = x_BTD.clone()
    changed_BTD[:, 3:] += 1.0
    before = attention(x_BTD, attention.project(x_BTD), causal=True)
    after = attention(changed_BTD, attention.project(changed_BTD), causal=True)
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert (before[:, 3:] - after[:, 3:]).abs().amin(dim=-1).amax() > 0


def test_causal_mask_is_true_up_to_the_position_itself():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_attention_dropout_changes_the_output_in_training_alone():
    attention = MultiHeadAttention(D, H, dropout=0.5)
    x_BTD = torch.randn(B, T, D)
    memory = attention.project(x_BTD)
    assert not torch.equal(attention(x_BTD, memory), attention(x_BTD, memory))
    attention.eval()
    torch.testing.assert_close(attention(x_BTD, memory), attention(x_BTD, memory))


def test_gradients_are_those_of_the_reference():
    attention = MultiHeadAttention(D, H)
    x_BTD = torch.randn(B, T, D, requires_grad=True)
    attention(x_BTD, attention.project(x_BTD)).square().sum().backward()
    ours = x_BTD.grad
    x_BTD.grad = None
    query, key, value = (
        layer(x_BTD).view(B, T, H, D // H).transpose(1, 2)
        for layer in (attention.query, attention.key, attention.value)
    )
    context, _ = scaled_dot_product_attention(query, *KeyValue(key, value))
    attention.output(context.transpose(1, 2).reshape(B, T, D)).square().sum().backward()
    torch.testing.assert_close(ours, x_BTD.grad)
