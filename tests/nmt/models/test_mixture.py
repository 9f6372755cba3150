"""Copying and pointing: the distribution summed up word by word, from the parts of the papers."""

from __future__ import annotations

import pytest
import torch

from nmt.batch import Batch
from nmt.config import RnnConfig
from nmt.models.copying import CopyingModel
from nmt.models.mixture import mix
from nmt.models.pointing import PointingModel
from tests.nmt.models.conftest import CONFIGS, sharpened


def test_a_word_at_several_places_gets_the_sum_and_all_sums_to_one():
    vocabulary = torch.tensor([0.1, 0.2, 0.3, 0.4])
    gate, weights, words = torch.tensor([0.25]), torch.tensor([0.25, 0.3, 0.2]), torch.tensor([2, 0, 2])
    expected = torch.tensor([0.025 + 0.3, 0.05, 0.075 + 0.45, 0.1])
    torch.testing.assert_close(mix(vocabulary.log(), gate.log(), weights, words).exp(), expected)


def test_no_gradient_is_lost_where_nothing_is_pointed_at():
    weights = torch.tensor([0.0, 0.5], requires_grad=True)
    log_probs = torch.tensor([0.2, 0.8]).log().requires_grad_()
    mix(log_probs, torch.tensor([0.5]).log(), weights, torch.tensor([0, 0])).sum().backward()
    assert torch.isfinite(weights.grad).all()
    assert torch.isfinite(log_probs.grad).all()


@pytest.mark.parametrize("name", ["transformer-copying", "rnn-copying"])
def test_copying_mixes_vocabulary_and_attention(name: str, batch: Batch):
    model = sharpened(CONFIGS[name])
    assert isinstance(model, CopyingModel)
    hidden_BTD, attention_BTS = model.translator.decode_with_attention(batch)
    gate_BT1 = torch.sigmoid(model.gate(hidden_BTD))
    expected_BTV = gate_BT1 * model.output(hidden_BTD).softmax(-1)
    for b in range(3):
        for t in range(batch.target_in_BT.size(1)):
            for j, word in enumerate(batch.source_BS[b].tolist()):
                expected_BTV[b, t, word] += (1 - gate_BT1[b, t, 0]) * attention_BTS[b, t, j]
    found_BTV = model.log_probs(batch).exp()
    torch.testing.assert_close(found_BTV, expected_BTV, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found_BTV.sum(-1), torch.ones(found_BTV.shape[:2]))


@pytest.mark.parametrize("name", ["transformer-pointing", "rnn-pointing"])
def test_pointing_shares_one_softmax_with_the_sentinel(name: str, batch: Batch):
    model = sharpened(CONFIGS[name])
    assert isinstance(model, PointingModel)
    hidden_BTD, _ = model.translator.decode(batch)
    found_BTV = model.log_probs(batch).exp()
    for b in range(3):
        for t in range(batch.target_in_BT.size(1)):
            query_D = torch.tanh(model.query(hidden_BTD[b, t]))
            scores = [query_D @ hidden_BTD[b, i] for i in range(1, t + 1)]
            shares = torch.stack([*scores, query_D @ model.sentinel_D]).softmax(0)
            expected_V = shares[-1] * model.output(hidden_BTD[b, t]).softmax(-1)
            for i in range(1, t + 1):
                expected_V[batch.target_in_BT[b, i]] += shares[i - 1]
            torch.testing.assert_close(found_BTV[b, t], expected_V, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found_BTV.sum(-1), torch.ones(found_BTV.shape[:2]))


@pytest.mark.parametrize("attention", ["none", "hard"])
def test_copying_needs_soft_attention(attention: str):
    with pytest.raises(ValueError, match=f"pointer source copies along soft attention, this is {attention}"):
        RnnConfig(vocab_size=40, attention=attention, pointer="source")
