"""Dropout (Srivastava et al. 2014) that is not the slowest part of a training step on a CPU.

torch draws one Bernoulli number for each element on one core, which takes a quarter of a step. Here eight
mask bytes are cut from each 64-bit draw, so an element is dropped with a probability that is a multiple of
1/256; the survivors are scaled by that very probability, so the expectation is exact. Other devices use
torch's own dropout.

The mask comes from torch's default generator: the training loop seeds it from (seed, update), which is all
that an interrupted run needs in order to draw the same masks again.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LEVELS = 256


class Dropout(nn.Module):
    """Zero elements with probability ``p`` and scale the others by 1/(1-p), in training only.

    On the CPU ``p`` is rounded to the nearest multiple of 1/256 (``effective_p``).
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0.0 <= p < 1.0:
            raise ValueError(f"dropout must lie in [0, 1), not {p}")
        self.p = p
        self.threshold = round(p * LEVELS)

    @property
    def effective_p(self) -> float:
        """The probability really used on the CPU."""
        return self.threshold / LEVELS

    def forward(self, x: Tensor) -> Tensor:
        """Any shape; the same shape back."""
        if not self.training or self.p == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return x * keep_scale(x.shape, self.threshold, x.dtype)


def keep_scale(shape: torch.Size, threshold: int, dtype: torch.dtype) -> Tensor:
    """A tensor of 0 (dropped, probability threshold/256) and 256/(256-threshold) (kept)."""
    n_elements = shape.numel()
    # all 2**64 values, so that the top bit, and with it every eighth byte, is random too
    words = torch.empty((n_elements + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    kept = words.view(torch.uint8)[:n_elements] >= threshold
    return kept.to(dtype).mul_(LEVELS / (LEVELS - threshold)).view(shape)
