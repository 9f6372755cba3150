"""Rotary position embedding (Su et al. 2021, RoFormer, section 3.2): a position is an angle.

Numbers 2i and 2i+1 of a query or key at position p are a point in a plane, which is turned by p theta_i, with
theta_i = 10000^(-2i/E) (eq. 15). The dot product of a query at m and a key at n then depends on m - n alone
(eq. 16). Nothing is learned, no length is the last one, and values stay as they are.

Dimensions: B sentences, H heads, T queries, S keys, E per head (even), I planes (E/2).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

BASE = 10_000.0


@dataclass(frozen=True)
class RotaryPositions:
    """Turns queries and keys; an ``nmt.layers.attention.RelativePositions``."""

    def place(self, query_BHTE: Tensor, key_BHSE: Tensor) -> tuple[Tensor, Tensor, None]:
        """Both turned, the last query to the position of the last key; nothing is added to their scores."""
        n_keys, n_queries = key_BHSE.size(2), query_BHTE.size(2)
        return rotate(query_BHTE, n_keys - n_queries), rotate(key_BHSE, 0), None


def rotate(x_BHTE: Tensor, first_position: int) -> Tensor:
    """Turn each plane of ``x`` by its position's angle; the first row stands at ``first_position``."""
    T, E = x_BHTE.shape[-2:]
    precision = torch.promote_types(x_BHTE.dtype, torch.float32)
    frequency_I = BASE ** (-torch.arange(0, E, 2, device=x_BHTE.device, dtype=precision) / E)
    position_T = torch.arange(first_position, first_position + T, device=x_BHTE.device)
    angle_TI = position_T.unsqueeze(1) * frequency_I
    cos_TI, sin_TI = angle_TI.cos().to(x_BHTE.dtype), angle_TI.sin().to(x_BHTE.dtype)
    even_BHTI, odd_BHTI = x_BHTE[..., 0::2], x_BHTE[..., 1::2]
    turned = (even_BHTI * cos_TI - odd_BHTI * sin_TI, even_BHTI * sin_TI + odd_BHTI * cos_TI)
    return torch.stack(turned, dim=-1).flatten(-2)
