"""What the demonstrations claim, in their numbers."""

from __future__ import annotations

import pytest
import torch

from training.evaluation.length_buckets import LengthBucket
from training.learn.bottleneck import drop
from training.learn.figures import thinned
from training.learn.order import ORDER, apart
from training.learn.positions import rotary_scores
from training.learn.quadratic import attention_cost
from training.learn.scaling import measured
from training.learn.warmup import end, started


def test_scores_of_large_vectors_saturate_the_softmax_unless_they_are_divided():
    for d_k in (64, 1024):
        plain, divided = measured(d_k, scaled=False), measured(d_k, scaled=True)
        assert plain.spread == pytest.approx(d_k**0.5, rel=0.1)
        assert divided.spread == pytest.approx(1.0, rel=0.1)
        assert plain.peak > 0.8
        assert divided.peak < 0.3
    assert measured(1024, scaled=False).gradient < 0.3 * measured(1024, scaled=True).gradient
    assert measured(1, scaled=False) == pytest.approx(measured(1, scaled=True))


def test_the_gradient_is_the_norm_of_the_jacobian(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("training.learn.scaling.QUERIES", 1)
    generator = torch.Generator().manual_seed(1)
    query_1E, key_SE = torch.randn(1, 4, generator=generator), torch.randn(32, 4, generator=generator)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(0), (query_1E @ key_SE.t())[0] / 2)
    assert measured(4, scaled=True).gradient == pytest.approx(float(jacobian.norm()), rel=1e-4)


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned", "rotary", "alibi"])
def test_another_order_moves_a_words_vector_only_where_there_are_positions(kind):
    own = torch.stack([apart(kind)[word, place] for place, word in enumerate(ORDER) if place != word])
    assert (own.max() < 1e-3) == (kind == "none")


def test_rotary_scores_fall_from_one_with_the_distance():
    scores = rotary_scores()
    assert scores[0.0] == pytest.approx(1.0)
    assert scores[0.0] > scores[1.0] > scores[3.0] > scores[20.0]


def test_weights_of_attention_grow_with_the_square_of_the_length():
    assert attention_cost(64).mib == pytest.approx(16 * attention_cost(16).mib)


def test_the_drop_is_to_the_longest_bucket_with_enough_sentences():
    buckets = [
        LengthBucket(n, n, count, n, bleu, 1.0)
        for n, count, bleu in ((1, 9, 90), (2, 40, 50), (3, 30, 40), (4, 2, 5))
    ]
    assert [bucket.bleu for bucket in drop(buckets)] == [50, 40]


def test_a_curve_is_thinned_to_means():
    found = thinned({float(update): float(update) for update in range(1, 81)})
    assert len(found) == 40
    assert found[2.0] == 1.5
    assert found[80.0] == 79.5


@pytest.mark.exhaustive
def test_at_a_high_rate_a_post_norm_transformer_needs_warm_up_and_a_pre_norm_one_does_not():
    without, with_warm_up, pre_norm = map(end, started(400).values())
    assert without > 3 * max(with_warm_up, pre_norm)
