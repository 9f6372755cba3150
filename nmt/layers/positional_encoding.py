"""Sinusoidal and learned positional encodings (Vaswani et al. 2017, section 3.5).

Dimensions: B sentences, T length, D d_model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoids(length: int, d_model: int, kind: str = "sinusoidal", first_position: int = 0) -> Tensor:
    """PE(pos, i) of sines and cosines of angles pos / 10000^x.

    Args:
        length: T, how many positions.
        d_model: D.
        kind: "sinusoidal" is the paper's: x is 2i/D, sine and cosine interleaved. "sinusoidal_halves" has all
            sines before all cosines (Hugging Face's Marian). "sinusoidal_tensor2tensor" has those halves too,
            and x is i/(D/2 - 1) (tensor2tensor, Marian, fairseq).
        first_position: ``pos`` of the first row.

    Returns:
        encoding_TD in float32.
    """
    n_frequencies = (d_model + 1) // 2
    steps = n_frequencies - 1 if kind == "sinusoidal_tensor2tensor" else d_model / 2
    position_T1 = torch.arange(first_position, first_position + length, dtype=torch.float32).unsqueeze(1)
    frequency_I = torch.exp(
        torch.arange(n_frequencies, dtype=torch.float32) * (-math.log(10_000.0) / max(steps, 1))
    )
    angle_TI = position_T1 * frequency_I
    if kind == "sinusoidal":
        return torch.stack((angle_TI.sin(), angle_TI.cos()), dim=-1).flatten(1)[:, :d_model]
    return torch.cat((angle_TI.sin(), angle_TI.cos()), dim=1)[:, :d_model]


class SinusoidalPositionalEncoding(nn.Module):
    """Adds sinusoids; nothing is learned and nothing is saved with the weights."""

    encoding_TD: Tensor

    def __init__(
        self, d_model: int, max_positions: int, kind: str = "sinusoidal", first_position: int = 0
    ) -> None:
        super().__init__()
        encoding_TD = sinusoids(max_positions, d_model, kind, first_position)
        self.register_buffer("encoding_TD", encoding_TD, persistent=False)

    def forward(self, x_BTD: Tensor, first_position: int = 0, lag_B: Tensor | None = None) -> Tensor:
        """Add the encodings of positions ``first_position`` and after, less ``lag_B`` (then T is 1)."""
        return x_BTD + _encodings(self.encoding_TD, x_BTD.size(1), first_position, lag_B).to(x_BTD.dtype)


class NoPositionalEncoding(nn.Module):
    """Adds nothing: attention knows positions by itself (``nmt.layers.rotary``, ``alibi``), or not at all."""

    def forward(self, x_BTD: Tensor, first_position: int = 0, lag_B: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """``x_BTD`` itself."""
        return x_BTD


class LearnedPositionalEncoding(nn.Module):
    """Adds one learned vector for each position (Gehring et al. 2017)."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.encoding_TD = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.encoding_TD, std=d_model**-0.5)

    def forward(self, x_BTD: Tensor, first_position: int = 0, lag_B: Tensor | None = None) -> Tensor:
        """Add the encodings of positions ``first_position`` and after, less ``lag_B`` (then T is 1)."""
        return x_BTD + _encodings(self.encoding_TD, x_BTD.size(1), first_position, lag_B).to(x_BTD.dtype)


TabledEncoding = SinusoidalPositionalEncoding | LearnedPositionalEncoding
PositionalEncoding = TabledEncoding | NoPositionalEncoding


def _encodings(encoding_TD: Tensor, length: int, first_position: int, lag_B: Tensor | None) -> Tensor:
    """Those of ``length`` positions, (T, D); with a lag the one of each row's own position, (B, 1, D)."""
    end, limit = first_position + length, encoding_TD.size(0)
    if lag_B is not None:
        return encoding_TD[first_position - lag_B].unsqueeze(1)
    if end > limit:
        raise ValueError(f"position {end - 1} is past the model's {limit} positions (max_positions)")
    return encoding_TD[first_position:end]
