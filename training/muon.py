"""Muon (Jordan et al. 2024): each matrix moves by the nearest orthogonal one to its momentum.

torch's own ``torch.optim.Muon`` multiplies in bfloat16 whatever the device; a CPU without units for it takes
over ten times as long for that as for the model's own products. Here the precision follows the device; where
it is bfloat16, the steps are those of torch, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from training.speed import has_bf16_units

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic iteration, steepest at zero."""
ITERATIONS = 5
LEAST_NORM = 1e-7
RMS_OF_ADAMW = 0.2
"""Root mean square of AdamW's usual steps, which Muon's are scaled to (Liu et al. 2025, section 2.2)."""


class Muon(torch.optim.Optimizer):
    """Momentum with Nesterov's look ahead, made orthogonal, and decoupled weight decay.

    Args:
        matrices: (n, m) weights.
        lr: learning rate; one that serves AdamW serves here.
        weight_decay: share of a weight that is taken away at ``lr`` 1.
        momentum: 0 to 1.
    """

    def __init__(
        self, matrices: Iterable[nn.Parameter], *, lr: float, weight_decay: float, momentum: float
    ) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Move every matrix that has a gradient; there is no ``closure``."""
        assert closure is None
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is not None:
                    self._update_matrix(
                        matrix, matrix.grad, group["lr"], group["weight_decay"], group["momentum"]
                    )

    def _update_matrix(
        self, matrix: Tensor, grad: Tensor, lr: float, weight_decay: float, momentum: float
    ) -> None:
        state = self.state[matrix]
        if not state:
            state["momentum_buffer"] = torch.zeros_like(grad)
        mean = state["momentum_buffer"].lerp_(grad, 1 - momentum)
        direction = nearest_orthogonal(grad.lerp(mean, momentum))
        matrix.mul_(1 - lr * weight_decay)
        matrix.add_(direction, alpha=-lr * RMS_OF_ADAMW * math.sqrt(max(matrix.shape)))


def nearest_orthogonal(matrix: Tensor) -> Tensor:
    """The orthogonal factor of ``matrix``, (n, m), about: singular values come out between 0.5 and 1.5.

    In bfloat16 where the device multiplies it in hardware, else in float32.
    """
    a, b, c = NEWTON_SCHULZ
    wide = matrix if matrix.size(0) <= matrix.size(1) else matrix.T
    found = wide.to(torch.bfloat16 if has_bf16_units(matrix.device) else torch.float32, copy=True)
    found /= found.norm().clamp(min=LEAST_NORM)  # no singular value is above 1
    for _ in range(ITERATIONS):
        gram = found @ found.T
        found = torch.addmm(found, torch.addmm(gram, gram, gram, beta=b, alpha=c), found, beta=a)
    return found if wide is matrix else found.T
