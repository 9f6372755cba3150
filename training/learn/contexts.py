"""Static against contextual vectors: "bank" and "run" in an embedding and in the encoder's states.

Dimensions: L layers with the embedding, O occurrences of the word.
"""

from __future__ import annotations

from statistics import mean

import torch

from nmt.explore.contexts import Contexts, word_in_contexts
from nmt.model_folder.checkpoint import load_model_folder, resolve_model
from training.learn.figures import draw_curves, draw_map, panels
from training.learn.lesson import Given, Lesson, Part

SENTENCES = {
    "bank": (
        "He put his money in the bank.",
        "The bank gave her a loan.",
        "They sat on the bank of the river.",
        "The boat lay at the bank of the lake.",
    ),
    "run": (
        "The children run on the beach.",
        "I run in the park every morning.",
        "They run a small hotel.",
        "You run this company.",
    ),
}
"""Two sentences of one sense, then two of the other."""
ALIKE, OTHER = ((0, 1), (2, 3)), ((0, 2), (0, 3), (1, 2), (1, 3))


def by_layer(found: Contexts) -> dict[str, dict[float, float]]:
    """Mean cosine of pairs of one sense and of different senses, by layer; 0 is the embedding."""
    return {
        name: {float(n): mean(layer[i][j] for i, j in pairs) for n, layer in enumerate(found.cosines)}
        for name, pairs in (("same sense", ALIKE), ("other sense", OTHER))
    }


def parts(given: Given) -> list[Part]:
    """A word a section: cosines of its occurrences, in the embedding and in the last layer, and by layer."""
    loaded = load_model_folder(resolve_model(given.model))
    special = loaded.config.special_ids
    shown = []
    for word, sentences in SENTENCES.items():
        other = [sentence for lines in SENTENCES.values() for sentence in lines if sentence not in sentences]
        found = word_in_contexts(loaded.model, loaded.tokenizer, special, word, sentences, other)
        figure, axes = panels(3)
        numbers = [str(n) for n in range(1, len(sentences) + 1)]
        for plot, layer, title in ((axes[0], 0, "embedding"), (axes[1], -1, "last encoder layer")):
            cosines_OO = torch.tensor(found.cosines[layer])
            draw_map(plot, f"Cosines, {title}", cosines_OO, rows=numbers, columns=numbers, most=1.0)
        curves = by_layer(found)
        curves["different words"] = {float(n): value for n, value in enumerate(found.baseline)}
        draw_curves(axes[2], "Mean cosine by layer", "layer (0: embedding)", curves)
        same, different = (list(curves[name].values())[-1] for name in ("same sense", "other sense"))
        lines = " ".join(f"({n}) {line}" for n, line in zip(numbers, sentences, strict=True))
        shown.append(
            Part(
                f"“{word}”",
                f"{lines} The model {loaded.config.name} has one embedding for the word, whatever it "
                f"means: all cosines are 1. In the last layer the mean cosine is {same:.2f} between "
                f"sentences of one sense, and {different:.2f} between senses.",
                figure,
            )
        )
    return shown


LESSON = Lesson(
    "contexts",
    "One word, one vector; one word, many vectors",
    "Peters et al. 2018, section 5.3; Ethayarajh 2019, section 4",
    parts,
)
