"""Why scores are divided by the square root of d_k.

Queries and keys are drawn at random with variance 1, as at the start of training; attention is our own layer.

Dimensions: R queries, S keys, E d_k.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from nmt.layers.attention import scaled_dot_product_attention
from training.learn.figures import draw_curves, panels
from training.learn.lesson import Given, Lesson, Part

SIZES = (1, 4, 16, 64, 256, 1024)
QUERIES, KEYS = 200, 32


class Measured(NamedTuple):
    """Means over the queries."""

    spread: float
    """Standard deviation of the scores."""
    peak: float
    """Largest weight of a row."""
    gradient: float
    """Norm of d weights / d scores."""


def measured(d_k: int, *, scaled: bool) -> Measured:
    """Attention of random queries to random keys."""
    generator = torch.Generator().manual_seed(1)
    query_RE = torch.randn(QUERIES, d_k, generator=generator) * (1.0 if scaled else d_k**0.5)
    key_SE = torch.randn(KEYS, d_k, generator=generator)
    _, weights_RS = scaled_dot_product_attention(query_RE, key_SE, key_SE)
    squares_R, cubes_R = weights_RS.pow(2).sum(dim=1), weights_RS.pow(3).sum(dim=1)
    # of the Jacobian diag(p) - p p'
    norm_R = (squares_R - 2 * cubes_R + squares_R**2).clamp_min(0).sqrt()
    scores_RS = query_RE @ key_SE.t() / d_k**0.5
    return Measured(float(scores_RS.std()), float(weights_RS.amax(dim=1).mean()), float(norm_R.mean()))


def parts(given: Given) -> list[Part]:  # noqa: ARG001 - it needs nothing
    """Spread, saturation and gradient by d_k, with the division and without."""
    found = {
        name: {float(d_k): measured(d_k, scaled=scaled) for d_k in SIZES}
        for name, scaled in (("divided", True), ("not divided", False))
    }
    figure, axes = panels(3)
    titles = ("Standard deviation of scores", "Largest weight of a row", "Gradient through the softmax")
    for plot, title, key in zip(axes, titles, Measured._fields, strict=True):
        curves = {name: {d: getattr(row, key) for d, row in rows.items()} for name, rows in found.items()}
        draw_curves(plot, title, "d_k", curves, log_x=True, log_y=key == "spread")
    plain, divided = found["not divided"][1024.0], found["divided"][1024.0]
    return [
        Part(
            "What happens",
            "A score is a sum of d_k products, so its variance grows with d_k: at 1,024 its standard "
            f"deviation is {plain.spread:.0f}. The softmax of such scores gives nearly all to one of {KEYS} "
            f"keys ({plain.peak:.0%} on average), and there it is flat: a change of a score changes next to "
            f"nothing. The gradient is {plain.gradient:.3f}, and {divided.gradient:.3f} after division by "
            "the square root of d_k, where the scores keep standard deviation 1 at every size.",
            figure,
        )
    ]


LESSON = Lesson(
    "scaling", "Why scores are divided by the square root of d_k", "Vaswani et al. 2017, section 3.2.1", parts
)
