"""Attention without positions cannot tell order; with them it can.

An encoder with random weights reads a sentence and the same words in another order.

Dimensions: S words, D d_model.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import Positions
from nmt.models.build import build_model
from nmt.models.transformer import Transformer
from training.learn.figures import draw_map, panels
from training.learn.lesson import Given, Lesson, Part
from training.learn.toy import SPECIAL, tiny

SENTENCE = ("the", "dog", "bites", "a", "man")
ORDER = (3, 4, 2, 0, 1)
"""Of the other sentence: its word n is word ``ORDER[n]`` of the first."""
KINDS: tuple[Positions, ...] = ("none", "sinusoidal", "learned", "rotary", "alibi")


@torch.no_grad()
def states(positions: Positions, words: tuple[int, ...]) -> Tensor:
    """What an encoder with random weights makes of some words, (S, D)."""
    torch.manual_seed(1)
    model = build_model(tiny(positions=positions, n_encoder_layers=2)).eval()
    assert isinstance(model, Transformer)
    batch = Batch.from_ids([[4 + word for word in words]], special=SPECIAL)
    states_SD: Tensor = model.encode(batch)[0, : len(words)]
    return states_SD


def apart(positions: Positions) -> Tensor:
    """How far each word's vector (row) is from each of the other order (column), as a share of its length."""
    one_SD, other_SD = states(positions, tuple(range(len(ORDER)))), states(positions, ORDER)
    distances_SS: Tensor = torch.cdist(one_SD, other_SD) / one_SD.norm(dim=1, keepdim=True)
    return distances_SS


def parts(given: Given) -> list[Part]:  # noqa: ARG001 - it needs nothing
    """Distances of the words' vectors in two orders, without positions and with each kind."""
    found = {positions: apart(positions) for positions in KINDS}
    moved = {
        positions: max(float(found[positions][word, place]) for place, word in enumerate(ORDER))
        for positions in KINDS
    }
    figure, axes = panels(len(KINDS), width=3.4)
    other = [SENTENCE[word] for word in ORDER]
    for plot, (positions, distances) in zip(axes, found.items(), strict=True):
        draw_map(plot, f"positions: {positions}", distances, rows=SENTENCE, columns=other, most=1.5)
    changes = ", ".join(f"{name} {100 * moved[name]:.1f} %" for name in KINDS)
    return [
        Part(
            "Two orders of five words",
            f"Rows are the words of “{' '.join(SENTENCE)}”, columns those of “{' '.join(other)}”; white "
            "means that two vectors are equal. Attention sums over all words whatever their place. So "
            "without positions each word finds its own vector again, and what bites whom cannot be read "
            "from them: a permutation of the input permutes the output. With positions of any kind the "
            f"same word differs. The most that a word's own vector changes: {changes} of its length.",
            figure,
        )
    ]


LESSON = Lesson(
    "order", "Attention without positions cannot tell order", "Vaswani et al. 2017, section 3.5", parts
)
