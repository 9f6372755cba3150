"""Position heads and content heads of a model: which look at a place, and which at words.

Dimensions: S source length, H heads.
"""

from __future__ import annotations

from pathlib import Path

import torch

from nmt.errors import ConfigError
from nmt.explore.heads import HeadStatistics, head_statistics
from nmt.explore.maps import KINDS, head_maps
from nmt.model_folder.checkpoint import load_model_folder, resolve_model
from nmt.models.transformer import Transformer
from training.evaluation.plots import COLOURS, MARKERS
from training.evaluation.testset import TestSet
from training.learn.figures import draw_map, panels
from training.learn.lesson import Given, Lesson, Part

SAMPLE = Path(__file__).parents[1] / "sample" / "dev"
SENTENCE = "The man who lives next door to my sister has sold his old car."
POSITIONAL = 0.9
"""Share of rows at one offset from which Voita et al. call a head positional."""


def scattered(statistics: list[HeadStatistics]) -> Part:
    """A point for each head: how much place decides, and how much words do."""
    figure, [axes] = panels(1, width=7.5, height=4.6)
    for index, kind in enumerate(KINDS):
        chosen = [entry for entry in statistics if entry.kind == kind]
        x, y = ([100 * getattr(entry, key) for entry in chosen] for key in ("positional", "content"))
        axes.scatter(x, y, color=COLOURS[index], marker=MARKERS[index], label=kind, alpha=0.8)
    axes.set_xlabel("positional: rows at the head's favourite offset, percent")
    axes.set_ylabel("content: percent")
    axes.legend(frameon=False)
    of_self = [entry.positional for entry in statistics if entry.kind != "cross"]
    n_positional = sum(share >= POSITIONAL for share in of_self)
    return Part(
        "All heads",
        f"Voita et al. call a head positional if at least {POSITIONAL:.0%} of its rows have their largest "
        f"weight at one offset: the word before, say. Of {len(of_self)} heads of self-attention here "
        f"{n_positional} are; the most positional has {max(of_self):.0%}. Content is how far rows are from "
        "what their position alone would say.",
        figure,
    )


def parts(given: Given) -> list[Part]:
    """A scatter plot of all heads, and the maps of two."""
    loaded = load_model_folder(resolve_model(given.model))
    if not isinstance(loaded.model, Transformer):
        raise ConfigError(f"heads are a Transformer's, {loaded.config.name} is none: choose another --model")
    languages = loaded.config.source_language, loaded.config.target_language
    pairs = TestSet.load(*(SAMPLE.with_name(f"{SAMPLE.name}.{language}") for language in languages))
    encode, special = loaded.tokenizer.encode, loaded.config.special_ids
    sides = zip(pairs.sources[: given.sentences], pairs.references[: given.sentences], strict=True)
    statistics = head_statistics(loaded.model, [(encode(s), encode(t)) for s, t in sides], special)
    own = [entry for entry in statistics if entry.kind == "encoder"]
    pieces = loaded.tokenizer.encode_pieces(given.text or SENTENCE)
    maps = head_maps(loaded.model, pieces, pieces[:1], special)
    assert maps is not None
    figure, axes = panels(2, width=5.4, height=4.6)
    names = []
    for plot, key in zip(axes, ("positional", "structural"), strict=True):
        head = max(own, key=lambda entry: getattr(entry, key))
        names.append(f"encoder {head.layer + 1}.{head.head + 1}")
        weights_SS = torch.tensor(maps.encoder[head.layer][head.head])
        draw_map(plot, f"{names[-1]}", weights_SS, rows=maps.source, columns=maps.source, most=1.0)
    text = f"Layers and heads from 1: {names[0]} goes by position, {names[1]} by words, resting on no mark."
    return [scattered(list(statistics)), Part("Two of them", text, figure)]


LESSON = Lesson(
    "heads",
    "Position heads and content heads",
    "Voita et al. 2019, sections 4 and 5; Clark et al. 2019, section 3",
    parts,
)
