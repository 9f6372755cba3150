"""Sinusoidal and learned positional encodings (Vaswani et al. 2017, section 3.5).

Dimensions: B sentences, T length, D d_model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoids(length: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(same): interleaved, as the paper has it.

    Returns:
        encoding_TD in float32.
    """
    position_T1 = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    frequency_I = torch.exp(
        torch.arange(0, d_model, 2, dtype=torch.float32) * (-math.log(10_000.0) / d_model)
    )
    angle_TI = position_T1 * frequency_I
    return torch.stack((angle_TI.sin(), angle_TI.cos()), dim=-1).flatten(1)[:, :d_model]


class SinusoidalPositionalEncoding(nn.Module):
    """Adds sinusoids; nothing is learned and nothing is saved with the weights."""

    encoding_TD: Tensor

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.register_buffer("encoding_TD", sinusoids(max_positions, d_model), persistent=False)

    def forward(self, x_BTD: Tensor, first_position: int = 0, lag_B: Tensor | None = None) -> Tensor:
        """Add the encodings of positions ``first_position`` and after, less ``lag_B`` (then T is 1)."""
        return x_BTD + _encodings(self.encoding_TD, x_BTD.size(1), first_position, lag_B).to(x_BTD.dtype)


class LearnedPositionalEncoding(nn.Module):
    """Adds one learned vector for each position (Gehring et al. 2017)."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.encoding_TD = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.encoding_TD, std=d_model**-0.5)

    def forward(self, x_BTD: Tensor, first_position: int = 0, lag_B: Tensor | None = None) -> Tensor:
        """Add the encodings of positions ``first_position`` and after, less ``lag_B`` (then T is 1)."""
        return x_BTD + _encodings(self.encoding_TD, x_BTD.size(1), first_position, lag_B).to(x_BTD.dtype)


def _encodings(encoding_TD: Tensor, length: int, first_position: int, lag_B: Tensor | None) -> Tensor:
    """Those of ``length`` positions, (T, D); with a lag the one of each row's own position, (B, 1, D)."""
    end, limit = first_position + length, encoding_TD.size(0)
    if lag_B is not None:
        return encoding_TD[first_position - lag_B].unsqueeze(1)
    if end > limit:
        raise ValueError(f"position {end - 1} is past the model's {limit} positions (max_positions)")
    return encoding_TD[first_position:end]
