"""The report of ``nmt attention``: one HTML file that holds its data, script and pictures; and a PNG."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nmt.alignment.attention_maps import HeadMaps
from nmt.explore.heads import RANKINGS, Head, ranked
from nmt.explore.maps import KINDS, AttentionKind
from training.evaluation.plots import COLOURS, DOTS_PER_INCH, png_inlined
from training.explore.findings import Findings, Pruning
from training.page import templates

NAMES: dict[AttentionKind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
MOST_LABELS = 40
"""Rows and columns of a picture that still have their sub-words beside them."""


def write_page(record: Mapping[str, Any], findings: Findings, file: Path) -> None:
    """Write the HTML page.

    Args:
        record: where and how it was made; of it the page shows command, commit, date and machine.
        findings: what to show.
        file: where to.
    """
    statistics = findings.statistics
    page = (
        templates()
        .get_template("attention.html")
        .render(
            findings=findings,
            record=record,
            maps=None if findings.pair is None else asdict(findings.pair.maps),
            script=_shared("heads.js"),
            style=_shared("heads.css"),
            rankings={by: ranked(statistics, by) for by in RANKINGS} if statistics else {},
            plot=None if findings.pruning is None else png_inlined(pruning_plot(findings.pruning)),
            worst_first=None
            if findings.pruning is None
            else sorted(findings.pruning.each, key=lambda cost: -cost.loss),
            name=head_name,
        )
    )
    file.write_text(page, encoding="utf-8")


def head_name(head: Head) -> str:
    """Such as "encoder 3.1": layer and head counted from 1, as on the page."""
    return f"{head.kind} {head.layer + 1}.{head.head + 1}"


def write_png(maps: HeadMaps, file: Path) -> None:
    """All heat maps of a sentence pair as one picture, kind by kind, a row for each layer."""
    figure = heads_figure(maps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing glyph is drawn as a box
        figure.savefig(file, dpi=DOTS_PER_INCH)


def heads_figure(maps: HeadMaps) -> Figure:
    """The figure of ``write_png``."""
    rows = [(kind, layer, heads) for kind in KINDS for layer, heads in enumerate(getattr(maps, kind))]
    n_columns = max(len(heads) for _, _, heads in rows)
    labels = {
        "encoder": (maps.source, maps.source),
        "decoder": (maps.written, maps.read),
        "cross": (maps.written, maps.source),
    }
    side = 0.7 + 0.13 * min(max(len(maps.source), len(maps.written)), MOST_LABELS)
    figure = Figure(figsize=(side * n_columns + 0.6, side * len(rows) + 0.4), layout="constrained")
    grid = figure.subplots(len(rows), n_columns, squeeze=False)
    for (kind, layer, heads), line in zip(rows, grid, strict=True):
        for head, axes in enumerate(line):
            if head >= len(heads):
                axes.set_axis_off()
                continue
            axes.imshow(heads[head], cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_title(f"{kind} {layer + 1}.{head + 1}", fontsize=7, pad=2)
            texts, columns = labels[kind]
            if max(len(texts), len(columns)) <= MOST_LABELS:
                axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=5, parse_math=False)
                axes.set_yticks(range(len(texts)), texts, fontsize=5, parse_math=False)
            else:
                axes.set_xticks([])
                axes.set_yticks([])
            axes.tick_params(length=0, pad=1)
    return figure


def pruning_plot(pruning: Pruning) -> Figure:
    """BLEU and speed over the number of heads removed."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    rows = (pruning.whole, *pruning.greedy)
    removed = [row.n_removed for row in rows]
    for axes, values, title, colour in zip(
        figure.subplots(1, 2),
        ([row.bleu for row in rows], [row.sentences_per_second for row in rows]),
        ("BLEU", "Sentences a second"),
        COLOURS,
        strict=False,
    ):
        axes.plot(removed, values, marker="o", color=colour)
        axes.set_title(title, loc="left", fontsize=11)
        axes.set_xlabel("Heads removed")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.3)
    return figure


def _shared(name: str) -> str:
    """The drawing that the page of ``nmt serve`` has too."""
    return files("nmt.explore").joinpath(name).read_text(encoding="utf-8")
