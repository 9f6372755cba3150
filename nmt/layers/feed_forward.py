"""Position-wise feed-forward network (Vaswani et al. 2017, section 3.3): W2 f(W1 x + b1) + b2."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.layers.dropout import Dropout

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "gelu": F.gelu, "silu": F.silu}


class FeedForward(nn.Module):
    """Two linear maps with ReLU (the paper), GELU or SiLU between them, the same at every position."""

    def __init__(self, d_model: int, d_ff: int, *, activation: str = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.activation: Callable[[Tensor], Tensor] = ACTIVATIONS[activation]
        self.dropout = Dropout(dropout)

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        y_BTD: Tensor = self.down(self.dropout(self.activation(self.up(x_BTD))))
        return y_BTD
