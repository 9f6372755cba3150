"""Label-smoothed cross-entropy (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).

The variant: the true token gets 1 - eps + eps/V and every other token eps/V, the sum spread over all V tokens
(as ``torch.nn.functional.cross_entropy`` has it; fairseq and others spread eps over V - 1 or V - 2 of them).

Dimensions: R positions (B*T), V vocabulary. The gradient is worked out beside the loss, a few rows at a time:
what would be a dozen passes over an R x V matrix stays in the processor's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

CHUNK_ELEMENTS = 2**18
"""Elements of a float32 working block: 1 MiB, about half of a core's second-level cache."""


class Loss(NamedTuple):
    """Sums over real positions, to be divided by ``n_tokens`` by whoever knows the global batch."""

    smoothed: Tensor
    """Label-smoothed cross-entropy: what is minimised. Scalar, float32, carries the gradient."""
    nll: Tensor
    """Negative log-likelihood of the true tokens: exp(nll / n_tokens) is the perplexity. No gradient."""
    n_tokens: Tensor
    """Number of real positions, a float32 scalar."""


def label_smoothed_cross_entropy(
    logits_BTV: Tensor, target_BT: Tensor, mask_BT: Tensor, smoothing: float
) -> Loss:
    """Sum the loss over positions where ``mask_BT`` is True.

    Args:
        logits_BTV: unnormalised scores, float32 or a half precision; the arithmetic is float32.
        target_BT: true token ids.
        mask_BT: True at real positions.
        smoothing: eps in [0, 1).
    """
    smoothed, nll = _LabelSmoothedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        logits_BTV.flatten(0, 1), target_BT.flatten(), mask_BT.flatten(), smoothing
    )
    return Loss(smoothed, nll, mask_BT.sum(dtype=torch.float32))


class _LabelSmoothedCrossEntropy(torch.autograd.Function):
    """loss = lse - (1-eps) x_target - eps mean(x);  d loss / d x = softmax(x) - eps/V - (1-eps) [target]."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        logits_RV: Tensor,
        target_R: Tensor,
        mask_R: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        R, V = logits_RV.shape
        wants_gradient = ctx.needs_input_grad[0]
        gradient_RV = torch.empty_like(logits_RV) if wants_gradient else None
        smoothed = logits_RV.new_zeros((), dtype=torch.float32)
        nll = smoothed.clone()
        rows = max(1, CHUNK_ELEMENTS // V) if logits_RV.device.type == "cpu" else R
        for first in range(0, R, rows):
            chunk = slice(first, first + rows)
            x_RV = logits_RV[chunk].to(torch.float32, copy=True)
            target_R1 = target_R[chunk].unsqueeze(1)
            weight_R = mask_R[chunk].float()
            lse_R = x_RV.logsumexp(dim=1)
            true_R = x_RV.gather(1, target_R1).squeeze(1)
            nll_R = lse_R - true_R
            nll += nll_R @ weight_R
            smoothed += ((1 - smoothing) * nll_R + smoothing * (lse_R - x_RV.mean(dim=1))) @ weight_R
            if gradient_RV is not None:
                x_RV.sub_(lse_R.unsqueeze(1)).exp_().sub_(smoothing / V)
                x_RV.scatter_add_(1, target_R1, x_RV.new_full(target_R1.shape, smoothing - 1))
                gradient_RV[chunk] = x_RV.mul_(weight_R.unsqueeze(1))
        if gradient_RV is not None:
            ctx.save_for_backward(gradient_RV)
        ctx.mark_non_differentiable(nll)
        return smoothed, nll

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None, None]:  # noqa: ANN401
        (gradient_RV,) = ctx.saved_tensors
        return gradient_RV * upstream[0].to(gradient_RV.dtype), None, None, None
