import math

import pytest
import torch
import torch.nn.functional as F

from nmt.layers.embedding import NEVER
from training import loss as loss_module
from training.loss import label_smoothed_cross_entropy, target_log_probs


def inputs(B: int = 3, T: int = 4, D: int = 6, V: int = 11) -> tuple[torch.Tensor, ...]:
    """hidden_BTD, weight_VD, target_BT and mask_BT with two positions of padding."""
    torch.manual_seed(0)
    mask_BT = torch.ones(B, T, dtype=torch.bool)
    mask_BT[0, 2:] = False
    hidden_BTD, weight_VD = torch.randn(B, T, D), torch.randn(V, D)
    return hidden_BTD.requires_grad_(), weight_VD.requires_grad_(), torch.randint(V, (B, T)), mask_BT


def test_loss_matches_a_number_worked_by_hand():
    # p = (1/2, 1/4, 1/4), eps = 0.3: 0.8 ln 2 + 0.1 ln 4 + 0.1 ln 4 = 1.2 ln 2
    hidden_BTD, weight_VD = torch.ones(1, 1, 1), torch.tensor([[math.log(2)], [0.0], [0.0]])
    loss = label_smoothed_cross_entropy(
        hidden_BTD, weight_VD, torch.tensor([[0]]), torch.ones(1, 1, dtype=torch.bool), 0.3
    )
    assert loss.smoothed.item() == pytest.approx(1.2 * math.log(2))
    assert loss.nll.item() == pytest.approx(math.log(2))
    assert loss.n_tokens.item() == 1


@pytest.mark.parametrize("block_elements", [25, 2**18])
def test_a_bias_of_the_projection_is_part_of_it(monkeypatch, block_elements: int):
    """As imported models have."""
    monkeypatch.setitem(loss_module.BLOCK_ELEMENTS, "cpu", block_elements)
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    bias_V = torch.tensor([*torch.randn(10).tolist(), -20.0]).requires_grad_()
    loss = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, 0.1, bias_V=bias_V)
    learnt = (hidden_BTD, weight_VD, bias_V)
    ours = torch.autograd.grad(3 * loss.smoothed, learnt)
    logits_RV = (hidden_BTD @ weight_VD.t() + bias_V)[mask_BT]
    expected = F.cross_entropy(logits_RV, target_BT[mask_BT], label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(loss.smoothed, expected)
    torch.testing.assert_close(ours, torch.autograd.grad(3 * expected, learnt))


@pytest.mark.parametrize("agreement", [0.0, 5.0])
def test_a_token_that_is_never_generated_changes_nothing_and_learns_nothing(agreement: float):
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    target_BT = target_BT.clamp(max=9)
    if agreement:
        hidden_BTD = torch.cat((hidden_BTD, torch.randn_like(hidden_BTD))).detach().requires_grad_()
    bias_V = torch.tensor([*torch.randn(10).tolist(), NEVER]).requires_grad_()
    learnt = (hidden_BTD, weight_VD, bias_V)

    def loss(n: int) -> torch.Tensor:
        biased = bias_V[:n]
        return label_smoothed_cross_entropy(
            hidden_BTD, weight_VD[:n], target_BT, mask_BT, 0.1, agreement, biased
        ).smoothed

    torch.testing.assert_close(loss(11), loss(10))
    torch.testing.assert_close(torch.autograd.grad(loss(11), learnt), torch.autograd.grad(loss(10), learnt))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("block_elements", [1, 25, 2**18])
@pytest.mark.parametrize("cached_elements", [1, 25, 2**18])
def test_loss_and_gradients_are_torchs_own(
    monkeypatch, smoothing: float, block_elements: int, cached_elements: int
):
    monkeypatch.setitem(loss_module.BLOCK_ELEMENTS, "cpu", block_elements)
    monkeypatch.setattr(loss_module, "CACHED_ELEMENTS", cached_elements)
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    loss = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, smoothing)
    ours = torch.autograd.grad(3 * loss.smoothed, (hidden_BTD, weight_VD))
    logits_RV = (hidden_BTD @ weight_VD.t())[mask_BT]
    expected = F.cross_entropy(logits_RV, target_BT[mask_BT], label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss.smoothed, expected)
    torch.testing.assert_close(ours, torch.autograd.grad(3 * expected, (hidden_BTD, weight_VD)))
    torch.testing.assert_close(loss.nll, F.cross_entropy(logits_RV, target_BT[mask_BT], reduction="sum"))


def test_padding_adds_neither_loss_nor_gradient():
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    before = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, 0.1)
    before.smoothed.backward()
    assert hidden_BTD.grad[~mask_BT].eq(0).all()
    assert hidden_BTD.grad[mask_BT].ne(0).all()
    with torch.no_grad():
        hidden_BTD[~mask_BT] = 1e4
    after = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, 0.1)
    torch.testing.assert_close(before.smoothed, after.smoothed)
    assert before.n_tokens.item() == 10


def test_half_precision_products_are_summed_in_float32():
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs(V=3000)
    exact = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, 0.1)
    rough = label_smoothed_cross_entropy(hidden_BTD.bfloat16(), weight_VD, target_BT, mask_BT, 0.1)
    assert rough.smoothed.dtype == torch.float32
    assert rough.smoothed.item() == pytest.approx(exact.smoothed.item(), rel=5e-3)
    (gradient_VD,) = torch.autograd.grad(rough.smoothed, weight_VD)
    assert gradient_VD.dtype == torch.float32


def test_without_gradient_no_matrix_is_kept():
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    with torch.no_grad():
        loss = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, 0.1)
    assert not loss.smoothed.requires_grad


@pytest.mark.parametrize("block_elements", [1, 25, 50, 2**18])
@pytest.mark.parametrize("cached_elements", [1, 25, 2**18])
def test_two_readings_give_the_mean_of_their_losses_and_what_the_paper_adds_for_their_divergence(
    monkeypatch, block_elements: int, cached_elements: int
):
    monkeypatch.setitem(loss_module.BLOCK_ELEMENTS, "cpu", block_elements)
    monkeypatch.setattr(loss_module, "CACHED_ELEMENTS", cached_elements)
    first_BTD, weight_VD, target_BT, mask_BT = inputs()
    second_BTD = torch.randn_like(first_BTD).requires_grad_()
    loss = label_smoothed_cross_entropy(
        torch.cat((first_BTD, second_BTD)), weight_VD, target_BT, mask_BT, 0.1, 5.0
    )
    target_R = target_BT[mask_BT]
    logits = [(hidden_BTD @ weight_VD.t())[mask_BT] for hidden_BTD in (first_BTD, second_BTD)]
    ce = sum(F.cross_entropy(one, target_R, label_smoothing=0.1, reduction="sum") for one in logits)
    first_RV, second_RV = (one.log_softmax(-1) for one in logits)
    both = F.kl_div(first_RV, second_RV, log_target=True, reduction="sum") + F.kl_div(
        second_RV, first_RV, log_target=True, reduction="sum"
    )
    expected = (ce + 5.0 / 2 * both) / 2  # Liang et al. 2021, equations 2 to 4, halved
    torch.testing.assert_close(loss.smoothed, expected)
    parts = (first_BTD, second_BTD, weight_VD)
    torch.testing.assert_close(
        torch.autograd.grad(3 * loss.smoothed, parts), torch.autograd.grad(3 * expected, parts)
    )
    nll = sum(F.cross_entropy(one, target_R, reduction="sum") for one in logits) / 2
    torch.testing.assert_close(loss.nll, nll)
    assert loss.n_tokens.item() == 10


def test_equal_readings_have_the_loss_of_one():
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    once = label_smoothed_cross_entropy(hidden_BTD, weight_VD, target_BT, mask_BT, 0.1)
    twice = label_smoothed_cross_entropy(
        torch.cat((hidden_BTD, hidden_BTD)), weight_VD, target_BT, mask_BT, 0.1, 5.0
    )
    torch.testing.assert_close(once.smoothed, twice.smoothed)
    gradients = [torch.autograd.grad(loss.smoothed, (hidden_BTD, weight_VD)) for loss in (once, twice)]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(("block_elements", "cached_elements"), [(2**23, 2**18), (44, 11), (30, 22)])
@pytest.mark.parametrize("biased", [False, True])
def test_log_probabilities_of_targets_and_their_gradients_are_torchs_own(
    monkeypatch, block_elements: int, cached_elements: int, biased: bool
):
    monkeypatch.setitem(loss_module.BLOCK_ELEMENTS, "cpu", block_elements)
    monkeypatch.setattr(loss_module, "CACHED_ELEMENTS", cached_elements)
    hidden_BTD, weight_VD, target_BT, mask_BT = inputs()
    target_R = target_BT[mask_BT]
    bias_V = torch.randn(len(weight_VD), requires_grad=True) if biased else None
    upstream_R = torch.randn(len(target_R))
    leaves = [hidden_BTD, weight_VD, *([] if bias_V is None else [bias_V])]
    logits_RV = F.linear(hidden_BTD[mask_BT], weight_VD, bias_V)
    true_R = -F.cross_entropy(logits_RV, target_R, reduction="none")
    true_gradients = torch.autograd.grad(true_R, leaves, upstream_R)
    found_R = target_log_probs(hidden_BTD[mask_BT], weight_VD, target_R, bias_V)
    gradients = torch.autograd.grad(found_R, leaves, upstream_R)
    torch.testing.assert_close(found_R, true_R)
    torch.testing.assert_close(gradients, true_gradients)
