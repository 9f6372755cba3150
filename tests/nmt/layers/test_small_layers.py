import math

import pytest
import torch

from nmt.layers.dropout import Dropout, keep_scale
from nmt.layers.embedding import OutputProjection, ScaledEmbedding
from nmt.layers.feed_forward import FeedForward
from nmt.layers.positional_encoding import (
    LearnedPositionalEncoding,
    SinusoidalPositionalEncoding,
    sinusoids,
)


def test_sinusoids_match_numbers_worked_by_hand():
    encoding = sinusoids(3, 4)
    torch.testing.assert_close(encoding[0], torch.tensor([0.0, 1.0, 0.0, 1.0]))
    expected = [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)]  # 10000^(2/4) = 100
    torch.testing.assert_close(encoding[2], torch.tensor(expected))


@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEncoding])
def test_positions_read_one_by_one_equal_positions_read_at_once(kind: type):
    encoding = kind(6, 10)
    x_BTD = torch.randn(2, 4, 6)
    one_by_one = [encoding(x_BTD[:, t : t + 1], t) for t in range(4)]
    torch.testing.assert_close(torch.cat(one_by_one, 1), encoding(x_BTD))
    assert (encoding(x_BTD) - x_BTD).abs().amax(dim=(0, 2)).min() > 0


@pytest.mark.parametrize("kind", [SinusoidalPositionalEncoding, LearnedPositionalEncoding])
def test_a_position_past_the_limit_is_refused_with_the_limit(kind: type):
    encoding = kind(6, 10)
    with pytest.raises(ValueError, match="position 10 is past the model's 10 positions"):
        encoding(torch.zeros(1, 3, 6), 8)


def test_learned_positions_are_learned_and_sinusoids_are_not_saved():
    assert [name for name, _ in LearnedPositionalEncoding(4, 5).named_parameters()] == ["encoding_TD"]
    assert not SinusoidalPositionalEncoding(4, 5).state_dict()


def test_embeddings_are_scaled_by_the_root_of_d_model():
    embedding = ScaledEmbedding(10, 16)
    ids = torch.tensor([[3, 7]])
    torch.testing.assert_close(embedding(ids), embedding.weight_VD[ids] * 4.0)


def test_a_tied_projection_is_the_embedding_table_itself():
    embedding = ScaledEmbedding(10, 16)
    assert OutputProjection(10, 16, embedding).weight_VD is embedding.weight_VD
    free = OutputProjection(10, 16)
    assert free.weight_VD is not embedding.weight_VD
    x = torch.randn(2, 3, 16)
    torch.testing.assert_close(free(x), x @ free.weight_VD.T)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_feed_forward_is_two_linear_maps(activation: str):
    layer = FeedForward(4, 9, activation=activation)
    x = torch.randn(2, 3, 4)
    hidden = getattr(torch.nn.functional, activation)(x @ layer.up.weight.T + layer.up.bias)
    torch.testing.assert_close(layer(x), hidden @ layer.down.weight.T + layer.down.bias)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
def test_dropout_drops_its_share_and_keeps_the_mean(p: float):
    torch.manual_seed(0)
    layer = Dropout(p)
    y = layer(torch.ones(400, 1000))
    dropped = y.eq(0).float().mean().item()
    assert abs(dropped - layer.effective_p) < 4 * math.sqrt(p * (1 - p) / y.numel())
    assert abs(layer.effective_p - p) <= 1 / 512
    torch.testing.assert_close(y[y > 0], torch.full_like(y[y > 0], 1 / (1 - layer.effective_p)))
    assert abs(y.mean().item() - 1) < 0.01


def test_each_byte_of_a_random_word_drops_alike():
    torch.manual_seed(0)
    kept = keep_scale(torch.Size([40_000, 8]), 64, torch.float32).gt(0).float().mean(dim=0)
    assert (kept - 0.75).abs().max() < 0.01


def test_dropout_masks_follow_the_seed():
    layer, x = Dropout(0.3), torch.ones(64, 64)
    torch.manual_seed(5)
    first, second = layer(x), layer(x)
    torch.manual_seed(5)
    assert torch.equal(layer(x), first)
    assert not torch.equal(first, second)


def test_dropout_does_nothing_outside_training_or_at_zero():
    x = torch.randn(5, 7)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_the_gradient_of_dropout_passes_where_the_value_did():
    x = torch.ones(100, 100, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_a_dropout_of_one_is_refused():
    with pytest.raises(ValueError, match=r"\[0, 1\), not 1.0"):
        Dropout(1.0)
