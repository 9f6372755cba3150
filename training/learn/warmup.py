"""What warm-up and label smoothing change: curves of tiny models that learn to reverse sequences."""

from __future__ import annotations

import random
from statistics import mean

import torch

from nmt.models.build import Model
from nmt.models.transformer import NormPlace
from training.learn.figures import draw_curves, panels, thinned
from training.learn.lesson import Given, Lesson, Part
from training.learn.toy import Run, draw, learn, share_right, tiny

HIGH_RATE, RATE, LAYERS, LENGTH, SMOOTHING = 0.008, 0.005, 3, 6, 0.1


@torch.no_grad()
def certainty(model: Model) -> float:
    """Mean probability of the likeliest word."""
    return float(model(draw(random.Random(3), LENGTH, LENGTH, reverse=True)).softmax(-1).amax(-1).mean())


def started(updates: int) -> dict[str, Run]:
    """The same training with warm-up and without, and without for a pre-norm Transformer."""
    slow = max(1, updates // 4)

    def run(norm: NormPlace, warmup: int) -> Run:
        size = {"n_encoder_layers": LAYERS, "n_decoder_layers": LAYERS}
        return learn(tiny(norm=norm, **size), updates, warmup=warmup, rate=HIGH_RATE, reverse=True)

    return {
        "post-norm, no warm-up": run("post", 1),
        f"post-norm, {slow} updates": run("post", slow),
        "pre-norm, no warm-up": run("pre", 1),
    }


def end(run: Run) -> float:
    """Mean loss of the last updates."""
    return mean(list(run.losses.values())[-10:])


def parts(given: Given) -> list[Part]:
    """Three runs with and without warm-up, two with and without smoothing."""
    pre = tiny(norm="pre", n_encoder_layers=LAYERS, n_decoder_layers=LAYERS)
    updates = given.updates
    warmed = started(updates)
    smoothed = {
        f"smoothing {epsilon:g}": learn(pre, updates, rate=RATE, smoothing=epsilon, reverse=True)
        for epsilon in (0.0, SMOOTHING)
    }
    right = [100 * share_right(run.model, LENGTH, reverse=True) for run in smoothed.values()]
    certain = [certainty(run.model) for run in smoothed.values()]
    figures = []
    for title, runs in (("Warm-up", warmed), ("Label smoothing", smoothed)):
        figure, [axes] = panels(1, width=7.5)
        curves = {name: thinned(run.losses) for name, run in runs.items()}
        draw_curves(axes, f"{title}: loss of a word, nats", "update", curves, marked=False)
        figures.append(figure)
    return [
        Part(
            "Warm-up",
            f"The same {2 * LAYERS} layers, rate {HIGH_RATE} and batches of random words to reverse. After "
            "post-norm the first gradients of the last layers are large (Xiong et al. 2020), and Adam's "
            "first steps as large as the rate; warm-up makes them small. Pre-norm needs less of it. The "
            "loss at the end: " + "; ".join(f"{name} {end(run):.2f}" for name, run in warmed.items()) + ".",
            figures[0],
        ),
        Part(
            "Label smoothing",
            f"With {SMOOTHING:g} the model may never be sure: the true word is worth {1 - SMOOTHING:g} and "
            "the others share the rest. So the loss of the true words, which is drawn, stays above that of "
            f"a model without, and hurts perplexity, as the paper says. Words right: {right[0]:.0f} % "
            f"without and {right[1]:.0f} % with it; mean probability of the likeliest word: "
            f"{certain[0]:.2f} and {certain[1]:.2f}.",
            figures[1],
        ),
    ]


LESSON = Lesson(
    "warmup",
    "What warm-up and label smoothing change",
    "Vaswani et al. 2017, sections 5.3 and 5.4; Szegedy et al. 2016, section 7; Xiong et al. 2020",
    parts,
)
