"""Label-smoothed cross-entropy (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).

The variant: the true token gets 1 - eps + eps/V and every other token eps/V, the sum spread over all V tokens
(as ``torch.nn.functional.cross_entropy`` has it; fairseq and others spread eps over V - 1 or V - 2 of them).
A token that the projection's bias forbids (``nmt.layers.embedding.NEVER``) gets nothing: V counts the others.

The projection to the vocabulary is part of the loss: logits are made a block of positions at a time, become
their own gradient in place, and are gone. The R x V matrix, the largest of a training step by far, never is.

R-Drop (Liang et al. 2021) reads a batch twice with different dropout and adds how far the two predictions
differ: their symmetrised Kullback-Leibler divergence, sum over v of (p1 - p2) (log p1 - log p2).

Dimensions: K readings of the batch (1, or 2 for R-Drop), B sentences, T target length, R positions (B*T),
C positions of a block or of a part of one, D model, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nmt.layers.embedding import NEVER

BLOCK_ELEMENTS = {"cpu": 2**23, "cuda": 2**28}
"""Logits of a block: large enough for matrix products at full speed."""
CACHED_ELEMENTS = 2**18
"""Logits of a block that a CPU works on at once: 1 MiB in float32, within a core's second-level cache."""


class Loss(NamedTuple):
    """Sums over real positions, to be divided by ``n_tokens`` by whoever knows the global batch."""

    smoothed: Tensor
    """Label-smoothed cross-entropy: what is minimised. Scalar, float32, carries the gradient."""
    nll: Tensor
    """Negative log-likelihood of the true tokens: exp(nll / n_tokens) is the perplexity. No gradient."""
    n_tokens: Tensor
    """Number of real positions, a float32 scalar."""


def label_smoothed_cross_entropy(
    hidden_MTD: Tensor,
    weight_VD: Tensor,
    target_BT: Tensor,
    mask_BT: Tensor,
    smoothing: float,
    agreement: float = 0.0,
    bias_V: Tensor | None = None,
) -> Loss:
    """Sum the loss of softmax(hidden W' + bias) over positions where ``mask_BT`` is True.

    Args:
        hidden_MTD: what is projected to the vocabulary, float32 or a half precision; products are in its
            precision, all else in float32. M is B, or 2B: the batch read twice, one reading after the other.
        weight_VD: the projection's weight.
        target_BT: true token ids.
        mask_BT: True at real positions.
        smoothing: eps in [0, 1).
        agreement: alpha of R-Drop for two readings: the loss is the mean of theirs and alpha/4 times their
            divergence, half of the paper's sum.
        bias_V: of the projection; None: it has none.
    """
    readings = hidden_MTD.size(0) // mask_BT.size(0)
    hidden_KRD = hidden_MTD.reshape(readings, -1, hidden_MTD.size(-1))
    target_R, weight_R = target_BT.flatten(), mask_BT.flatten().float()
    if hidden_KRD.device.type == "cpu":  # elsewhere, to know how many are real would wait for the device
        real_R = mask_BT.flatten().nonzero().squeeze(1)
        hidden_KRD, target_R, weight_R = hidden_KRD[:, real_R], target_R[real_R], weight_R[real_R]
    smoothed, nll = _ProjectedCrossEntropy.apply(  # type: ignore[no-untyped-call]
        hidden_KRD, weight_VD, bias_V, target_R, weight_R, smoothing, agreement
    )
    return Loss(smoothed, nll, mask_BT.sum(dtype=torch.float32))


def log_probs_cross_entropy(
    log_probs_BTV: Tensor, target_BT: Tensor, mask_BT: Tensor, smoothing: float
) -> Loss:
    """The same of a distribution that is no softmax of a projection (``nmt.models.mixture``).

    Args:
        log_probs_BTV: of the model, float32.
        target_BT: true token ids.
        mask_BT: True at real positions.
        smoothing: eps in [0, 1).
    """
    nll_BT = -log_probs_BTV.gather(2, target_BT.unsqueeze(2)).squeeze(2)
    spread_BT = -log_probs_BTV.mean(dim=2)
    smoothed_BT = (1 - smoothing) * nll_BT + smoothing * spread_BT
    return Loss(
        (smoothed_BT * mask_BT).sum(), (nll_BT * mask_BT).sum().detach(), mask_BT.sum(dtype=torch.float32)
    )


def target_log_probs(
    hidden_RD: Tensor, weight_VD: Tensor, target_R: Tensor, bias_V: Tensor | None = None
) -> Tensor:
    """Log-probability of one token at each position, (R,) in float32; logits are made again for gradients."""
    return _ProjectedLogProbs.apply(hidden_RD, weight_VD, bias_V, target_R)  # type: ignore[no-any-return, no-untyped-call]


class _ProjectedLogProbs(torch.autograd.Function):
    """log p_target;  d log p_target / d logits = [target] - p."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        hidden_RD: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        target_R: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(hidden_RD, weight_VD, bias_V, target_R)
        log_probs_R = hidden_RD.new_empty(len(hidden_RD), dtype=torch.float32)
        matrix_VD = weight_VD.to(hidden_RD.dtype)
        for block, _, logits_CV in _blocks_of_logits(hidden_RD.unsqueeze(0), matrix_VD, bias_V):
            for part in _parts(logits_CV.unsqueeze(0)):
                log_probs_CV = logits_CV[part].log_softmax(dim=1, dtype=torch.float32)
                target_C1 = target_R[block][part].unsqueeze(1)
                log_probs_R[block][part] = log_probs_CV.gather(1, target_C1).squeeze(1)
        return log_probs_R

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        *upstream: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor | None, None]:
        hidden_RD, weight_VD, bias_V, target_R = ctx.saved_tensors
        hidden_grad_RD = torch.empty_like(hidden_RD)
        weight_grad_VD = torch.zeros_like(weight_VD, dtype=torch.float32)
        bias_grad_V = None if bias_V is None else torch.zeros_like(bias_V, dtype=torch.float32)
        matrix_VD = weight_VD.to(hidden_RD.dtype)
        for block, hidden_CD, logits_CV in _blocks_of_logits(hidden_RD.unsqueeze(0), matrix_VD, bias_V):
            for part in _parts(logits_CV.unsqueeze(0)):
                upstream_C1 = upstream[0][block][part].unsqueeze(1)
                gradient_CV = logits_CV[part].softmax(dim=1, dtype=torch.float32).mul_(-upstream_C1)
                gradient_CV.scatter_add_(1, target_R[block][part].unsqueeze(1), upstream_C1)
                logits_CV[part] = gradient_CV
            hidden_grad_RD[block] = logits_CV @ matrix_VD
            weight_grad_VD += logits_CV.t() @ hidden_CD
            if bias_grad_V is not None:
                bias_grad_V += logits_CV.sum(dim=0, dtype=torch.float32)
        return hidden_grad_RD, weight_grad_VD, bias_grad_V, None


def _blocks_of_logits(
    hidden_KRD: Tensor, matrix_VD: Tensor, bias_V: Tensor | None
) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Each block of positions: its place, and hidden_QD and logits_QV of all readings (Q = K*C)."""
    (K, R, _), V = hidden_KRD.shape, len(matrix_VD)
    rows = max(1, BLOCK_ELEMENTS.get(hidden_KRD.device.type, K * R * V) // (K * V))
    buffer_QV = hidden_KRD.new_empty(K * min(rows, R), V)
    for first in range(0, R, rows):
        block = slice(first, first + rows)
        hidden_QD = hidden_KRD[:, block].flatten(0, 1)
        logits_QV = torch.mm(hidden_QD, matrix_VD.t(), out=buffer_QV[: len(hidden_QD)])
        if bias_V is not None:
            logits_QV += bias_V.to(logits_QV.dtype)
        yield block, hidden_QD, logits_QV


def _parts(logits_KCV: Tensor) -> Iterator[slice]:
    """The positions of a block, as many at once as a CPU's cache holds."""
    K, C, V = logits_KCV.shape
    rows = max(1, CACHED_ELEMENTS // (K * V)) if logits_KCV.device.type == "cpu" else C
    return (slice(first, first + rows) for first in range(0, C, rows))


class _ProjectedCrossEntropy(torch.autograd.Function):
    """loss = -(1-eps) log p_target - eps mean(log p);  d loss / d logits = p - eps/V - (1-eps) [target]."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 - torch's own context
        hidden_KRD: Tensor,
        weight_VD: Tensor,
        bias_V: Tensor | None,
        target_R: Tensor,
        weight_R: Tensor,
        smoothing: float,
        agreement: float,
    ) -> tuple[Tensor, Tensor]:
        K, V = hidden_KRD.size(0), len(weight_VD)
        wants_gradient = any(ctx.needs_input_grad[:3])
        share_V = _share_of_smoothing(bias_V)
        matrix_VD = weight_VD.to(hidden_KRD.dtype)
        smoothed = hidden_KRD.new_zeros((), dtype=torch.float32)
        nll = smoothed.clone()
        hidden_grad_KRD = torch.empty_like(hidden_KRD) if wants_gradient else None
        weight_grad_VD = torch.zeros_like(weight_VD, dtype=torch.float32) if wants_gradient else None
        bias_grad_V = None if bias_V is None else torch.zeros_like(bias_V, dtype=torch.float32)
        for block, hidden_QD, logits_QV in _blocks_of_logits(hidden_KRD, matrix_VD, bias_V):
            block_smoothed, block_nll = _loss_then_gradient_(
                logits_QV.view(K, -1, V),
                target_R[block],
                weight_R[block],
                smoothing,
                agreement,
                share_V,
                wants_gradient=wants_gradient,
            )
            smoothed += block_smoothed
            nll += block_nll
            if hidden_grad_KRD is not None and weight_grad_VD is not None:
                hidden_grad_KRD[:, block] = (logits_QV @ matrix_VD).view_as(hidden_KRD[:, block])
                weight_grad_VD += logits_QV.t() @ hidden_QD
                if bias_grad_V is not None:
                    bias_grad_V += logits_QV.sum(dim=0, dtype=torch.float32)
        if wants_gradient:
            ctx.save_for_backward(hidden_grad_KRD, weight_grad_VD, bias_grad_V)
        ctx.mark_non_differentiable(nll)
        return smoothed, nll

    @staticmethod
    def backward(
        ctx: Any,  # noqa: ANN401
        *upstream: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor | None, None, None, None, None]:
        hidden_grad_KRD, weight_grad_VD, bias_grad_V = ctx.saved_tensors
        scale = upstream[0]
        scaled_KRD = hidden_grad_KRD * scale.to(hidden_grad_KRD.dtype)
        bias_V = None if bias_grad_V is None else bias_grad_V * scale
        return scaled_KRD, weight_grad_VD * scale, bias_V, None, None, None, None


def _share_of_smoothing(bias_V: Tensor | None) -> Tensor | None:
    """What each token gets of eps, float32; None: all get the same."""
    if bias_V is None:
        return None
    allowed_V = (bias_V > NEVER / 2).float()
    return allowed_V / allowed_V.sum()


def _loss_then_gradient_(
    logits_KCV: Tensor,
    target_C: Tensor,
    weight_C: Tensor,
    smoothing: float,
    agreement: float,
    share_V: Tensor | None,
    *,
    wants_gradient: bool,
) -> tuple[Tensor, Tensor]:
    """Smoothed loss and nll of a block, summed; with ``wants_gradient`` the logits become their gradient."""
    K, _, V = logits_KCV.shape
    smoothed = logits_KCV.new_zeros((), dtype=torch.float32)
    nll = smoothed.clone()
    apart = agreement > 0 and K == 2
    for part in _parts(logits_KCV):
        log_probs_KCV = logits_KCV[:, part].log_softmax(dim=2, dtype=torch.float32)
        target_KC1 = target_C[part].view(1, -1, 1).expand(K, -1, 1)
        weight_C1 = weight_C[part].unsqueeze(1)
        nll_KC1 = -log_probs_KCV.gather(2, target_KC1)
        nll += (nll_KC1 * weight_C1).sum() / K
        spread_KC1 = -(log_probs_KCV.mean(dim=2) if share_V is None else log_probs_KCV @ share_V).unsqueeze(2)
        smoothed += (((1 - smoothing) * nll_KC1 + smoothing * spread_KC1) * weight_C1).sum() / K
        if apart:
            divergence_C1, divergence_grad_KCV = _divergence(log_probs_KCV)
            smoothed += (agreement / 4 * divergence_C1 * weight_C1).sum()
        if wants_gradient:
            share = smoothing / V if share_V is None else smoothing * share_V
            gradient_KCV = log_probs_KCV.exp_().sub_(share)
            gradient_KCV.scatter_add_(2, target_KC1, gradient_KCV.new_full(target_KC1.shape, smoothing - 1))
            if K > 1:
                gradient_KCV /= K
            if apart:
                gradient_KCV.add_(divergence_grad_KCV, alpha=agreement / 4)
            if logits_KCV.device.type != "cpu":  # there, only real positions came here
                gradient_KCV *= weight_C1
            logits_KCV[:, part] = gradient_KCV
    return smoothed, nll


def _divergence(log_probs_KCV: Tensor) -> tuple[Tensor, Tensor]:
    """KL(p1 || p2) + KL(p2 || p1) of two readings, (C, 1), and its gradient with respect to their logits.

    With d = log p1 - log p2: d / d logits1 = p1 (d - KL(p1 || p2)) + p1 - p2; the other way round likewise.
    """
    first_CV, second_CV = probs_KCV = log_probs_KCV.exp()
    difference_CV = log_probs_KCV[0] - log_probs_KCV[1]
    signed_KCV = torch.stack((difference_CV, -difference_CV))
    one_way_KC1 = (probs_KCV * signed_KCV).sum(dim=2, keepdim=True)
    apart_CV = first_CV - second_CV
    gradient_KCV = probs_KCV * (signed_KCV - one_way_KC1) + torch.stack((apart_CV, -apart_CV))
    return one_way_KC1.sum(dim=0), gradient_KCV
