"""Scaled embeddings, and weight tying (Vaswani et al. 2017, section 3.4; Press and Wolf 2017).

Dimensions: B sentences, T length, D d_model, V vocabulary.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ScaledEmbedding(nn.Module):
    """Embedding vectors times sqrt(D), so that they stand beside positional encodings of size 1."""

    def __init__(self, vocab_size: int, d_model: int, *, is_scaled: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.scale = math.sqrt(d_model) if is_scaled else 1.0
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)

    def forward(self, ids_BT: Tensor) -> Tensor:
        """Ids -> (B, T, D), under autocast in its precision: all that follows stays in it."""
        x_BTD: Tensor = self.embedding(ids_BT) * self.scale
        device = x_BTD.device.type
        return x_BTD.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else x_BTD

    @property
    def weight_VD(self) -> nn.Parameter:
        """The table, to be tied."""
        weight_VD: nn.Parameter = self.embedding.weight  # type: ignore[assignment]
        return weight_VD


NEVER = -30_000.0
"""Bias of a token that is never generated: its probability is 0. float16 can store it."""


class OutputProjection(nn.Module):
    """D -> V logits; tied to an embedding table when one is given, in the paper without a bias."""

    def __init__(
        self, vocab_size: int, d_model: int, tied_to: ScaledEmbedding | None = None, *, has_bias: bool = False
    ) -> None:
        super().__init__()
        self.bias_V = nn.Parameter(torch.zeros(vocab_size)) if has_bias else None
        if tied_to is None:
            self.weight_VD = nn.Linear(d_model, vocab_size, bias=False).weight
        else:
            self.weight_VD = tied_to.weight_VD

    def forward(self, x_BTD: Tensor) -> Tensor:
        """(B, T, D) -> logits (B, T, V)."""
        return F.linear(x_BTD, self.weight_VD, self.bias_V)
