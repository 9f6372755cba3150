"""Keys and values as they are kept for later steps: numbers, and in int8 a scale for each head of a token.

A step reads all of them, and more of them than of weights where there are many rows; in int8 half as many
bytes as in bfloat16. What a head multiplies with a key, and a value with, is multiplied with the scale too,
which is one number for all of its width (``nmt.engines.whole``).

For AVX2 the compiler loads the eight numbers of a register by way of memory unless each has 32 bits. There
one number of int32 holds four of int8, one of each quarter of a head ("int8x4").

Dimensions: E numbers of a head, e of a quarter, L places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from nmt.engines.arithmetic import scaled
from nmt.engines.kernels import Precision, dtype_of

KeptIn: TypeAlias = Precision | Literal["int8x4"]
Kept = tuple[Tensor, ...]
"""Numbers (..., E), and in int8 scales (...); int8x4 has numbers (..., e)."""
KeptLayers: TypeAlias = list[tuple[Kept, Kept]]
"""Keys and values of each layer."""
QUARTERS, BITS = 4, 8
"""Of a head, side by side in a number of int32; of each."""


def has_scales(kept_in: KeptIn) -> bool:
    """Whether there are two tensors of each."""
    return kept_in in ("int8", "int8x4")


def empty(size: Sequence[int], kept_in: KeptIn, *, beneath: bool = False) -> Kept:
    """For heads of ``size``, (..., L, E); ``beneath``: with numbers (..., E, L)."""
    *outer, n_places, width = size
    if kept_in == "int8x4":
        assert width % QUARTERS == 0
        width //= QUARTERS
    numbers = (*outer, width, n_places) if beneath else (*outer, n_places, width)
    if not has_scales(kept_in):
        return (torch.empty(numbers, dtype=_dtype(kept_in)),)
    return torch.empty(numbers, dtype=_dtype(kept_in)), torch.empty(size[:-1])


def kept(heads: Tensor, kept_in: KeptIn, dim: int = -1) -> Kept:
    """Float32 (..., E), as they are kept; ``dim``: where E is."""
    if not has_scales(kept_in):
        return (heads.to(_dtype(kept_in)),)
    scaled_heads, scales = scaled(heads, dim)
    numbers = scaled_heads.round().to(_dtype(kept_in))
    return _side_by_side(numbers, dim) if kept_in == "int8x4" else numbers, scales.squeeze(dim)


def restored(parts: Kept) -> Tensor:
    """Float32, if they were in int8, else as they are."""
    numbers, *scales = parts
    if not scales:
        return numbers
    if numbers.dtype == torch.int32:
        numbers = torch.cat(quarters(numbers), dim=-1)
    return numbers * scales[0].unsqueeze(-1)


def of_both(change: Callable[[Tensor, Tensor], Tensor], layers: KeptLayers, others: KeptLayers) -> KeptLayers:
    """What ``change`` makes of each two tensors that belong to each other."""
    return [
        (tuple(map(change, *keys)), tuple(map(change, *values)))
        for keys, values in (zip(own, other, strict=True) for own, other in zip(layers, others, strict=True))
    ]


def quarters(numbers: Tensor) -> list[Tensor]:
    """In float32: the quarters of what is int8x4, in their order; of anything else the whole, as one."""
    if numbers.dtype != torch.int32:
        return [numbers.float()]
    last = BITS * (QUARTERS - 1)
    return [(numbers << (last - BITS * place) >> last).float() for place in range(QUARTERS)]


def _side_by_side(numbers: Tensor, dim: int) -> Tensor:
    """Of int8 in int32: four quarters -> one, each in its bits, of which only the last keeps its sign."""
    *lower, highest = numbers.chunk(QUARTERS, dim)
    together = highest << BITS * (QUARTERS - 1)
    for place, quarter in enumerate(lower):
        together = together | (quarter & (1 << BITS) - 1) << BITS * place
    return together


def _dtype(kept_in: KeptIn) -> torch.dtype:
    if kept_in == "int8x4":
        return torch.int32
    return torch.int8 if kept_in == "int8" else dtype_of(kept_in)
