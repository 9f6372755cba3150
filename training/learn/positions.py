"""The position encodings as pictures, and what each makes of sequences longer than those it was trained on.

Dimensions: T positions, D d_model, H heads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.layers.alibi import slopes
from nmt.layers.positional_encoding import sinusoids
from nmt.layers.rotary import rotate
from training.learn.figures import draw_curves, draw_map, panels
from training.learn.lesson import Given, Lesson, Part
from training.learn.order import KINDS
from training.learn.toy import learn, share_right, tiny

TRAINED_TO = 8
TESTED = (3, 4, 6, 8, 9, 10, 12, 16, 20, 24)
N_SHOWN, WIDTH = 64, 64


def rotary_scores() -> dict[float, float]:
    """The dot product of a query and an equal key, as the key moves away; 1 where they stand together."""
    ones_1TE = torch.ones(1, 1, N_SHOWN, WIDTH)
    turned_TE = rotate(ones_1TE, 0)[0, 0]
    scores = (turned_TE @ turned_TE[0]) / WIDTH
    return {float(distance): float(score) for distance, score in enumerate(scores)}


def pictures(learned_TD: Tensor) -> Part:
    """One plot for each kind."""
    figure, axes = panels(4)
    draw_map(axes[0], "sinusoidal: position by dimension", sinusoids(N_SHOWN, WIDTH), signed=True)
    draw_map(axes[1], "learned, of the model below", learned_TD[:24], signed=True)
    draw_curves(axes[2], "rotary: score by distance", "distance", {"": rotary_scores()}, marked=False)
    biases = {
        f"head {head + 1}": {float(distance): -slope * distance for distance in range(0, N_SHOWN, 7)}
        for head, slope in enumerate(slopes(4))
    }
    draw_curves(axes[3], "ALiBi: bias of the score by distance", "distance", biases)
    return Part(
        "Pictures",
        "Sinusoids are waves of 6 to 63,000 positions. Learned vectors are noise but for rows 0 to "
        f"{TRAINED_TO}, which the model below met. Rotary positions turn queries and keys, so that a score "
        "knows their distance alone. ALiBi takes from a score in proportion to the distance, each head at "
        "its own rate.",
        figure,
    )


def parts(given: Given) -> list[Part]:
    """Pictures, and the share of words right by length of five tiny models."""
    runs = {name: learn(tiny(positions=name), given.updates, longest=TRAINED_TO) for name in KINDS}
    right: dict[str, dict[float, float]] = {
        name: {float(length): 100 * share_right(run.model, length) for length in TESTED}
        for name, run in runs.items()
    }
    figure, [axes] = panels(1, width=7.5)
    draw_curves(axes, "Words copied rightly, percent", "length of the sequence", right)
    axes.axvline(TRAINED_TO, color="#888888", linestyle="--", linewidth=1)
    rows = "; ".join(
        f"{name} {row[8.0]:.0f} % at 8 and {row[16.0]:.0f} % at 16" for name, row in right.items()
    )
    return [
        pictures(dict(runs["learned"].model.named_parameters())["positions.encoding_TD"]),
        Part(
            "Beyond the trained length",
            f"Five tiny Transformers learn in {given.updates} updates to copy sequences of 3 to "
            f"{TRAINED_TO} random words, then meet longer ones. Right, each word from the true ones before "
            f"it: {rows}. With none, the decoder's mask is all that tells an order. Rotary and ALiBi act "
            "within each side alone.",
            figure,
        ),
    ]


PAPERS = "Vaswani et al. 2017, section 3.5; Gehring et al. 2017; Su et al. 2021; Press et al. 2022"
LESSON = Lesson("positions", "Position encodings, and sequences beyond the trained length", PAPERS, parts)
