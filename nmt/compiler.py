"""What torch's compiler is told in a function itself, which runs without it as well."""

from __future__ import annotations

from torch import Tensor


def computed_first(x: Tensor) -> Tensor:
    """``x``, which the compiler then computes once and writes to memory, in this order.

    Else it computes what few read anew for each of them, and for each number that they add up.
    """
    strides = [1]
    for size in reversed(x.shape[1:]):
        strides.insert(0, strides[0] * size)
    return x.contiguous().as_strided(x.shape, strides)
