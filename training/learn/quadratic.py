"""What attention costs in memory and time by length, measured here.

Dimensions: T length, D d_model, H heads.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from nmt.layers.attention import MultiHeadAttention
from training.learn.figures import draw_curves, panels
from training.learn.lesson import Given, Lesson, Part
from training.learn.timing import seconds

D_MODEL, HEADS = 128, 4


class Cost(NamedTuple):
    """Of one layer of self-attention over one sequence."""

    mib: float
    """Of the weights."""
    kept_ms: float
    """With the weights kept, as a picture of attention needs them."""
    fused_ms: float
    """By torch's kernel, which keeps none."""


@torch.no_grad()
def attention_cost(length: int) -> Cost:
    """Time is the processor's."""
    torch.manual_seed(1)
    attention = MultiHeadAttention(D_MODEL, HEADS).eval()
    x_1TD = torch.randn(1, length, D_MODEL)
    memory = attention.project(x_1TD)
    _, weights_1HTT = attention.forward_with_weights(x_1TD, memory)
    kept_s = seconds(lambda: attention.forward_with_weights(x_1TD, memory))
    fused_s = seconds(lambda: attention(x_1TD, memory))
    return Cost(weights_1HTT.nbytes / 2**20, 1000 * kept_s, 1000 * fused_s)


def parts(given: Given) -> list[Part]:
    """Memory and time by length."""
    lengths = [2**n for n in range(5, 14) if 2**n <= 8 * given.longest]
    costs = {float(n): attention_cost(n) for n in lengths}
    figure, axes = panels(2)
    weights = {"": {length: cost.mib for length, cost in costs.items()}}
    draw_curves(axes[0], "Weights of a layer, MiB", "length", weights, log_x=True, log_y=True)
    times = {
        "weights kept": {length: cost.kept_ms for length, cost in costs.items()},
        "fused kernel": {length: cost.fused_ms for length, cost in costs.items()},
    }
    draw_curves(axes[1], "A layer, milliseconds", "length", times, log_x=True, log_y=True)
    longest = costs[float(lengths[-1])]
    return [
        Part(
            "Memory and time",
            "Each position looks at every other one, so weights and products grow with the square of the "
            f"length: at {lengths[-1]:,} tokens the weights of one layer of {HEADS} heads take "
            f"{longest.mib:,.1f} MiB. A kernel that works block by block keeps no weights (Dao et al. "
            "2022): it saves the memory and the time to move it, not the products. Here it takes "
            f"{longest.fused_ms:.1f} ms for {longest.kept_ms:.1f}. Short sequences pay for the projections, "
            "which grow with the length alone.",
            figure,
        )
    ]


LESSON = Lesson(
    "quadratic",
    "What attention costs by length",
    "Vaswani et al. 2017, section 4, table 1; Dao et al. 2022, section 3",
    parts,
)
