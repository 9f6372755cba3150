"""The figure of Bahdanau et al. with a model of ours: which source word is read when each word is written."""

from __future__ import annotations

from nmt.config import AlignmentConfig
from nmt.translator import Translator
from training.evaluation.plots import attention_heat_map
from training.learn.lesson import Given, Lesson, Part

SENTENCE = "The agreement on the European Economic Area was signed in August 1992."
"""Of the paper's figure 3a."""


def parts(given: Given) -> list[Part]:
    """Cross-attention of the model alone, and what its folder links words with."""
    translator = Translator.load(given.model, device="cpu")
    source = given.text or SENTENCE
    target = translator.translate([source])[0].text
    pair = f"{source} → {target}"
    shown = []
    for heading, attention, text in (
        (
            "Cross-attention",
            AlignmentConfig(),
            f"{pair} A row for each word that is written: dark is what was read for it. Where French turns "
            "words round, the diagonal turns too. All heads of one decoder layer are averaged; the paper's "
            "network has one, and not all of a Transformer's follow the words.",
        ),
        (
            "Word links",
            None,
            f"{pair} What the model folder links words with: a scorer that was trained beside the frozen "
            "model (docs/alignment.md), or the layer and heads that its configuration names.",
        ),
    ):
        found = translator.align([(source, target)], whitespace=False, attention=attention)[0]
        figure = attention_heat_map(
            f"{translator.config.name}: {heading.lower()}",
            [token.text for token in found.source_tokens],
            [token.text for token in found.target_tokens],
            found.matrix,
        )
        shown.append(Part(heading, text, figure))
    return shown


LESSON = Lesson(
    "alignment", "What is read when a word is written", "Bahdanau et al. 2015, section 5.2.1, figure 3", parts
)
