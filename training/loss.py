"""Label-smoothed cross-entropy (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).

The variant: the true token gets 1 - eps + eps/V and every other token eps/V, the sum spread over all V tokens
(as ``torch.nn.functional.cross_entropy`` has it; fairseq and others spread eps over V - 1 or V - 2 of them).

The projection to the vocabulary is part of the loss: logits are made a block of positions at a time, become
their own gradient in place, and are gone. The R x V matrix, the largest of a training step by far, never is.

Dimensions: B sentences, T target length, R positions (B*T), C positions of a block, D model, V vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

BLOCK_ELEMENTS = {"cpu": 2**23, "cuda": 2**28}
"""Logits of a block: large enough for matrix products at full speed."""
CACHED_ELEMENTS = 2**18
"""Of a block's logits, what a CPU works on at once: 1 MiB in float32, within a core's second-level cache."""


class Loss(NamedTuple):
    """Sums over real positions, to be divided by ``n_tokens`` by whoever knows the global batch."""

    smoothed: Tensor
    """Label-smoothed cross-entropy: what is minimised. Scalar, float32, carries the gradient."""
    nll: Tensor
    """Negative log-likelihood of the true tokens: exp(nll / n_tokens) is the perplexity. No gradient."""
    n_tokens: Tensor
    """Number of real positions, a float32 scalar."""


def label_smoothed_cross_entropy(
    hidden_BTD: Tensor, weight_VD: Tensor, target_BT: Tensor, mask_BT: Tensor, smoothing: float
) -> Loss:
    """Sum the loss of softmax(hidden W') over positions where ``mask_BT`` is True.

    Args:
        hidden_BTD: what is projected to the vocabulary, float32 or a half precision; products are in its
            precision, all else in float32.
        weight_VD: the projection's weight.
        target_BT: true token ids.
        mask_BT: True at real positions.
        smoothing: eps in [0, 1).
    """
    hidden_RD, target_R, weight_R = hidden_BTD.flatten(0, 1), target_BT.flatten(), mask_BT.flatten().float()
    if hidden_RD.device.type == "cpu":  # elsewhere, to know how many are real would wait for the device
        real_R = mask_BT.flatten().nonzero().squeeze(1)
        hidden_RD, target_R, weight_R = hidden_RD[real_R], target_R[real_R], weight_R[real_R]
    smoothed, nll = _ProjectedCrossEntropy.apply(hidden_RD, weight_VD, target_R, weight_R, smoothing)  # type: ignore[no-untyped-call]
    return Loss(smoothed, nll, mask_BT.sum(dtype=torch.float32))


class _ProjectedCrossEntropy(torch.autograd.Function):
    """loss = -(1-eps) log p_target - eps mean(log p);  d loss / d logits = p - eps/V - (1-eps) [target]."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        hidden_RD: Tensor,
        weight_VD: Tensor,
        target_R: Tensor,
        weight_R: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        R, V = len(hidden_RD), len(weight_VD)
        wants_gradient = any(ctx.needs_input_grad[:2])
        matrix_VD = weight_VD.to(hidden_RD.dtype)
        smoothed = hidden_RD.new_zeros((), dtype=torch.float32)
        nll = smoothed.clone()
        hidden_grad_RD = torch.empty_like(hidden_RD) if wants_gradient else None
        weight_grad_VD = torch.zeros_like(weight_VD, dtype=torch.float32) if wants_gradient else None
        rows = max(1, BLOCK_ELEMENTS.get(hidden_RD.device.type, R * V) // V)
        buffer_CV = hidden_RD.new_empty(min(rows, R), V)
        for first in range(0, R, rows):
            block = slice(first, first + rows)
            logits_CV = torch.mm(hidden_RD[block], matrix_VD.t(), out=buffer_CV[: min(rows, R - first)])
            block_smoothed, block_nll = _loss_then_gradient_(
                logits_CV, target_R[block], weight_R[block], smoothing, wants_gradient=wants_gradient
            )
            smoothed += block_smoothed
            nll += block_nll
            if hidden_grad_RD is not None and weight_grad_VD is not None:
                torch.mm(logits_CV, matrix_VD, out=hidden_grad_RD[block])
                weight_grad_VD += logits_CV.t() @ hidden_RD[block]
        if wants_gradient:
            ctx.save_for_backward(hidden_grad_RD, weight_grad_VD)
        ctx.mark_non_differentiable(nll)
        return smoothed, nll

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, Tensor, None, None, None]:  # noqa: ANN401
        hidden_grad_RD, weight_grad_VD = ctx.saved_tensors
        scale = upstream[0]
        return hidden_grad_RD * scale.to(hidden_grad_RD.dtype), weight_grad_VD * scale, None, None, None


def _loss_then_gradient_(
    logits_CV: Tensor, target_C: Tensor, weight_C: Tensor, smoothing: float, *, wants_gradient: bool
) -> tuple[Tensor, Tensor]:
    """Smoothed loss and nll of a block, summed; with ``wants_gradient`` the logits become their gradient."""
    C, V = logits_CV.shape
    smoothed = logits_CV.new_zeros((), dtype=torch.float32)
    nll = smoothed.clone()
    rows = max(1, CACHED_ELEMENTS // V) if logits_CV.device.type == "cpu" else C
    for first in range(0, C, rows):
        part = slice(first, first + rows)
        log_probs_CV = logits_CV[part].log_softmax(dim=1, dtype=torch.float32)
        target_C1, weight_C1 = target_C[part].unsqueeze(1), weight_C[part].unsqueeze(1)
        nll_C1 = -log_probs_CV.gather(1, target_C1)
        nll += (nll_C1 * weight_C1).sum()
        spread_C1 = -log_probs_CV.mean(dim=1, keepdim=True)
        smoothed += (((1 - smoothing) * nll_C1 + smoothing * spread_C1) * weight_C1).sum()
        if wants_gradient:
            gradient_CV = log_probs_CV.exp_().sub_(smoothing / V)
            gradient_CV.scatter_add_(1, target_C1, gradient_CV.new_full(target_C1.shape, smoothing - 1))
            if logits_CV.device.type != "cpu":  # there, only real positions came here
                gradient_CV *= weight_C1
            logits_CV[part] = gradient_CV
    return smoothed, nll
