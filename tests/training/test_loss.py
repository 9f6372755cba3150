import math

import pytest
import torch
import torch.nn.functional as F

from training import loss as loss_module
from training.loss import label_smoothed_cross_entropy


def inputs(B: int = 3, T: int = 4, V: int = 11) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    mask_BT = torch.ones(B, T, dtype=torch.bool)
    mask_BT[0, 2:] = False
    return torch.randn(B, T, V, requires_grad=True), torch.randint(V, (B, T)), mask_BT


def test_loss_matches_a_number_worked_by_hand():
    # p = (1/2, 1/4, 1/4), eps = 0.3: 0.8 ln 2 + 0.1 ln 4 + 0.1 ln 4 = 1.2 ln 2
    logits = torch.tensor([[[math.log(2), 0.0, 0.0]]])
    loss = label_smoothed_cross_entropy(logits, torch.tensor([[0]]), torch.ones(1, 1, dtype=torch.bool), 0.3)
    assert loss.smoothed.item() == pytest.approx(1.2 * math.log(2))
    assert loss.nll.item() == pytest.approx(math.log(2))
    assert loss.n_tokens.item() == 1


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_elements", [1, 25, 2**18])
def test_loss_and_gradient_are_torchs_own(monkeypatch, smoothing: float, chunk_elements: int):
    monkeypatch.setattr(loss_module, "CHUNK_ELEMENTS", chunk_elements)
    logits_BTV, target_BT, mask_BT = inputs()
    loss = label_smoothed_cross_entropy(logits_BTV, target_BT, mask_BT, smoothing)
    (3 * loss.smoothed).backward()
    ours, logits_BTV.grad = logits_BTV.grad, None
    expected = F.cross_entropy(
        logits_BTV[mask_BT], target_BT[mask_BT], label_smoothing=smoothing, reduction="sum"
    )
    (3 * expected).backward()
    torch.testing.assert_close(loss.smoothed, expected)
    torch.testing.assert_close(ours, logits_BTV.grad)
    torch.testing.assert_close(
        loss.nll, F.cross_entropy(logits_BTV[mask_BT], target_BT[mask_BT], reduction="sum")
    )


def test_padding_adds_neither_loss_nor_gradient():
    logits_BTV, target_BT, mask_BT = inputs()
    before = label_smoothed_cross_entropy(logits_BTV, target_BT, mask_BT, 0.1)
    before.smoothed.backward()
    assert logits_BTV.grad[~mask_BT].eq(0).all()
    with torch.no_grad():
        logits_BTV[~mask_BT] = 1e4
    after = label_smoothed_cross_entropy(logits_BTV, target_BT, mask_BT, 0.1)
    torch.testing.assert_close(before.smoothed, after.smoothed)
    assert before.n_tokens.item() == 10


def test_half_precision_logits_are_summed_in_float32():
    logits_BTV, target_BT, mask_BT = inputs(V=3000)
    exact = label_smoothed_cross_entropy(logits_BTV, target_BT, mask_BT, 0.1)
    rough = label_smoothed_cross_entropy(logits_BTV.bfloat16(), target_BT, mask_BT, 0.1)
    assert rough.smoothed.dtype == torch.float32
    assert rough.smoothed.item() == pytest.approx(exact.smoothed.item(), rel=1e-3)


def test_without_gradient_no_matrix_is_kept():
    logits_BTV, target_BT, mask_BT = inputs()
    with torch.no_grad():
        loss = label_smoothed_cross_entropy(logits_BTV, target_BT, mask_BT, 0.1)
    assert not loss.smoothed.requires_grad
