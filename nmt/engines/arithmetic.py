"""Arithmetic of functions that are compiled, written so that the compiler makes fast loops of it.

What each is written for was found in the machine code: docs/decisions/032 and 035 tell.

Dimensions: N rows, D numbers of each, p equal parts of them, X numbers of a part.
"""

from __future__ import annotations

import math
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor

from nmt.compiler import computed_first
from nmt.engines.kernels import INT8_MOST
from nmt.extensions import LANES

LEAST_LARGEST = 1e-28
"""A row whose numbers are all smaller is taken to have this one: it is all zeros, and so stays."""
POWER_OF_TWO = (1.0, 0.69314718, 0.24022646, 0.05550329, 0.00961852, 0.00133999, 0.00015338)
"""What 1, x, x ** 2 and so on are multiplied with to give 2 ** x, for x from -0.5 to 0.5, to 1e-7 of it.

Fitted at Chebyshev nodes.
"""
EXPONENT_BIAS, FRACTION = 127.0, 2.0**23
"""Of float32."""
LEAST_EXPONENT = -87.0
"""What is raised to less is 1e-38: nothing beside the 1 that is in each sum of exponentials."""
LONGEST_SUM = 4096
"""Of more numbers the compiler adds up every so many in memory, at each addition."""
MOST_PARTS = 64
ABREAST = 4, 5, 3, 2
"""Parts of which the largest is found first: so many, or the next."""


def rounded_up(count: int, multiple: int) -> int:
    """To the next ``multiple``."""
    return -(-count // multiple) * multiple


def scaled(x: Tensor, dim: int = -1) -> tuple[Tensor, Tensor]:
    """Numbers from -INT8_MOST to INT8_MOST, not yet rounded, and the scales that give ``x`` back.

    A scale is of all numbers along ``dim``, where it has size 1.
    """
    # not with keepdim: the compiler would give what is kept of a row another form for each use
    most = computed_first(largest(x.abs(), dim).clamp(min=LEAST_LARGEST))
    # divided here, and not by the compiler once for each 16 numbers
    factor = computed_first(INT8_MOST / most)
    return x * factor.unsqueeze(dim), (most * (1 / INT8_MOST)).unsqueeze(dim)


def largest(x: Tensor, dim: int) -> Tensor:
    """``x.amax(dim)``, by as many comparisons, of which most do not wait for another.

    The compiler's comparison keeps NaN, and takes ten cycles. So the largest of some equal parts is found
    first, where there are such; of whole registers, if numbers along ``dim`` lie side by side.
    """
    size, unit = x.size(dim), LANES if dim in (-1, x.dim() - 1) else 1
    is_open = not isinstance(size, int)
    n_parts = 1 if is_open else next((n for n in ABREAST if size % (n * unit) == 0), 1)
    return reduce(torch.maximum, x.chunk(n_parts, dim)).amax(dim=dim)


def exponentials(scores: Tensor, dim: int) -> Tensor:
    """Of ``scores`` less the largest along ``dim``; of -inf, which hides one, next to nothing."""
    # not with keepdim: the compiler would see a softmax, and test each score for infinity
    less = scores - scores.amax(dim=dim).unsqueeze(dim)
    return exponential(less.clamp(min=LEAST_EXPONENT))


def exponential(x: Tensor) -> Tensor:
    """Euler's number to the power of ``x``, at most 0: to 1e-7 of it near 0 and 2e-6 of it at -30.

    Below -88 it is 0. NaN stays, and -inf, of which no part is left to take, becomes NaN. The C library's is
    a call for each register, which takes twice as long.
    """
    x = x * math.log2(math.e)
    whole = x.round()
    rest = x - whole
    *lower, second, first = POWER_OF_TWO
    power = rest * first + second
    for factor in reversed(lower):
        power = power * rest + factor
    # an exponent in its place among the bits of float32 is two to the power of it; the compiler's ``clamp``
    # takes four instructions, for it keeps NaN, and this one
    exponent = F.relu(whole + EXPONENT_BIAS)
    return power * (exponent * FRACTION).to(torch.int32).view(torch.float32)


def sum_of_exponentials(x_ND: Tensor, highest_N1: Tensor) -> Tensor:
    """Of each row less its ``highest_N1``, added up in equal parts where there are many, if it has such."""
    N, D = x_ND.shape
    n_parts = next((n for n in range(1, MOST_PARTS) if D % n == 0 and D // n <= LONGEST_SUM), 1)
    parts_NpX = x_ND.view(N, n_parts, -1)
    return computed_first(exponential(parts_NpX - highest_N1.unsqueeze(2)).sum(dim=2)).sum(dim=1)
