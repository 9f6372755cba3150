"""Keys and values as they are kept for later steps: numbers, and in int8 a scale for each head of a token.

A step reads all of them, and more of them than of weights where there are many rows; in int8 half as many
bytes as in bfloat16. What a head multiplies with a key, and a value with, is multiplied with the scale too,
which is one number for all of its width (``nmt.engines.whole``).

Dimensions: E numbers of a head, L places.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.engines.arithmetic import scaled
from nmt.engines.kernels import Precision, dtype_of

Kept = tuple[Tensor, ...]
"""Numbers (..., E), and in int8 scales (...)."""


def empty(size: Sequence[int], precision: Precision, *, beneath: bool = False) -> Kept:
    """For heads of ``size``, (..., L, E); ``beneath``: with numbers (..., E, L)."""
    numbers = (*size[:-2], size[-1], size[-2]) if beneath else size
    if precision == "int8":
        return torch.empty(numbers, dtype=torch.int8), torch.empty(size[:-1])
    return (torch.empty(numbers, dtype=dtype_of(precision)),)


def kept(heads: Tensor, precision: Precision, dim: int = -1) -> Kept:
    """Float32 (..., E), as they are kept; ``dim``: where E is."""
    if precision != "int8":
        return (heads.to(dtype_of(precision)),)
    numbers, scales = scaled(heads, dim)
    return numbers.round().to(torch.int8), scales.squeeze(dim)


def restored(parts: Kept) -> Tensor:
    """Float32, if they were in int8, else as they are."""
    numbers, *scales = parts
    return numbers * scales[0].unsqueeze(-1) if scales else numbers
