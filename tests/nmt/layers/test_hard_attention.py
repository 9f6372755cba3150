"""Hard attention: what is read, and the gradient of REINFORCE against the sum over all choices."""

from __future__ import annotations

import torch

from nmt.layers import hard_attention
from nmt.layers.hard_attention import UNCHOSEN, HardAttention, choice_loss, read_chosen

WEIGHTS_NS = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def test_decoding_reads_the_position_of_the_largest_weight():
    memory_BSM = torch.randn(1, 3, 4)
    choice_N = HardAttention(2, 4, 5).eval().choose(WEIGHTS_NS)
    read_NM = read_chosen(memory_BSM, choice_N, torch.zeros(2, 4))
    torch.testing.assert_close(read_NM, memory_BSM[0, [0, 2]])


def test_training_draws_from_the_weights_and_reads_the_expectation_half_of_the_time():
    torch.manual_seed(1)
    choice_N = HardAttention(2, 4, 5).train().choose(WEIGHTS_NS[:1].expand(20_000, 3))
    shares = torch.bincount(choice_N + 1, minlength=4) / 20_000
    torch.testing.assert_close(shares, torch.tensor([0.5, 0.35, 0.1, 0.05]), atol=0.02, rtol=0)
    memory_BSM, expected_NM = torch.randn(1, 3, 4), torch.randn(2, 4)
    read_NM = read_chosen(memory_BSM, torch.tensor([UNCHOSEN, 1]), expected_NM)
    torch.testing.assert_close(read_NM, torch.stack([expected_NM[0], memory_BSM[0, 1]]))


def test_its_gradient_is_on_average_that_of_the_expected_reward(monkeypatch):
    """d/ds of sum_j a_j r_j, a = softmax(s): the baseline changes the variance alone."""
    monkeypatch.setattr(hard_attention, "ENTROPY", 0.0)
    torch.manual_seed(2)
    scores, reward_S = torch.tensor([0.5, -0.2, 0.1]), torch.tensor([-1.0, -3.0, -0.5])
    exact = scores.clone().requires_grad_()
    (exact.softmax(0) @ reward_S).backward()
    n = 200_000
    drawn_T = torch.multinomial(scores.softmax(0), n, replacement=True)
    sampled = scores.clone().requires_grad_()
    weights_BTS = sampled.softmax(0).expand(1, n, 3)
    mask_BT = torch.ones(1, n, dtype=torch.bool)
    choice_loss(weights_BTS, drawn_T[None], reward_S[drawn_T][None], mask_BT).backward()
    torch.testing.assert_close(-sampled.grad / n, exact.grad, atol=0.01, rtol=0.05)


def test_padding_and_what_read_the_expectation_are_not_rewarded(monkeypatch):
    monkeypatch.setattr(hard_attention, "ENTROPY", 0.0)
    weights_BTS = WEIGHTS_NS[None].clone().requires_grad_()
    choice_BT, mask_BT = torch.tensor([[UNCHOSEN, 1]]), torch.tensor([[True, False]])
    choice_loss(weights_BTS, choice_BT, torch.tensor([[-1.0, -2.0]]), mask_BT).backward()
    assert not weights_BTS.grad.any()


def test_entropy_is_kept_up():
    weights_BTS, mask_BT = WEIGHTS_NS[None], torch.ones(1, 2, dtype=torch.bool)
    loss = choice_loss(weights_BTS, torch.tensor([[0, 2]]), torch.tensor([[-1.0, -1.0]]), mask_BT)
    entropy = torch.distributions.Categorical(WEIGHTS_NS).entropy().sum()
    torch.testing.assert_close(loss, -hard_attention.ENTROPY * entropy)
