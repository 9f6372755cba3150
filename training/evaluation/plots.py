"""The plots of a report, as matplotlib figures made without global state.

Colours are Okabe and Ito's, which people with any colour vision tell apart; markers differ too.
"""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from training.evaluation.length_buckets import LengthBucket
from training.run_log import RunLog

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
FEW_SENTENCES = 20
"""Buckets of fewer sentences are drawn hollow: their BLEU says little."""
DOTS_PER_INCH = 130


def training_curves(logs: Sequence[RunLog]) -> Figure:
    """Training loss, validation perplexity and validation BLEU over updates, a line for each run."""
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    panels = (
        ("train", "nll", "Training loss (nats a token)"),
        ("validation", "perplexity", "Validation perplexity"),
        ("validation", "bleu", "Validation BLEU"),
    )
    for axes, (kind, key, title) in zip(figure.subplots(1, 3), panels, strict=True):
        for index, log in enumerate(logs):
            updates, values = log.curve(kind, key)
            axes.plot(updates, values, label=log.name, color=_colour(index), linewidth=1.6)
        if key == "perplexity":
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}")
        _finish(axes, title=title, x="Updates")
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.axes[-1].legend(frameon=False)
    return figure


def bleu_by_length(title: str, series: Mapping[str, Sequence[LengthBucket]]) -> Figure:
    """BLEU in each source-length bucket with 95 % intervals, a line for each model; counts under the axis."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.subplots()
    first = next(iter(series.values()))
    for index, (name, buckets) in enumerate(series.items()):
        shift = 0.08 * (index - (len(series) - 1) / 2)
        points = [(position + shift, bucket) for position, bucket in enumerate(buckets)]
        for few in (False, True):
            chosen = [(at, bucket) for at, bucket in points if (bucket.sentences < FEW_SENTENCES) == few]
            axes.errorbar(
                [at for at, _ in chosen],
                [bucket.bleu for _, bucket in chosen],
                yerr=[bucket.interval for _, bucket in chosen],
                fmt=MARKERS[index % len(MARKERS)],
                linestyle="none" if few else "-",
                color=_colour(index),
                markerfacecolor="white" if few else _colour(index),
                markersize=7,
                capsize=3,
                linewidth=1.6,
                elinewidth=1,
                label=None if few else name,
            )
    axes.set_xticks(range(len(first)), [f"{bucket.label}\n({bucket.sentences})" for bucket in first])
    axes.set_ylim(bottom=0)
    _finish(axes, title=title, x="Source length in words (number of sentences; hollow: few)")
    axes.set_ylabel("BLEU (cased, detokenised)")
    axes.legend(frameon=False)
    return figure


def attention_heat_map(
    title: str,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    attention: Sequence[Sequence[float]],
) -> Figure:
    """Cross-attention of one sentence, a row for each target word (Bahdanau et al. 2015, figure 3)."""
    size = (2.2 + 0.42 * len(source_tokens), 1.6 + 0.34 * len(target_tokens))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(attention, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(
        range(len(source_tokens)),
        source_tokens,
        rotation=60,
        ha="left",
        rotation_mode="anchor",
        parse_math=False,  # "$" is a word like any other
    )
    axes.set_yticks(range(len(target_tokens)), target_tokens, parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_xlabel(title)
    figure.colorbar(image, ax=axes, label="attention", shrink=0.8)
    return figure


def reliability_curves(curves: Mapping[str, Sequence[Mapping[str, float]]]) -> Figure:
    """How often what was given a confidence was good, a line for each kind, over a histogram of counts."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    upper.plot([0, 1], [0, 1], color="#888888", linewidth=1, linestyle="--", label="perfect")
    for index, (kind, curve) in enumerate(curves.items()):
        confidences = [point["confidence"] for point in curve]
        upper.plot(
            confidences,
            [point["frequency"] for point in curve],
            marker=MARKERS[index],
            color=_colour(index),
            label=kind,
        )
        total = sum(point["n"] for point in curve)
        shares = [point["n"] / total for point in curve]
        lower.bar(
            [confidence + 0.03 * (index - 0.5) for confidence in confidences],
            shares,
            width=0.03,
            color=_colour(index),
        )
    upper.set_ylabel("Share that is good")
    upper.legend(frameon=False)
    lower.set_ylabel("Share of all")
    _finish(upper, title="Reliability on held-out sentences", x="")
    _finish(lower, title="", x="Confidence")
    return figure


def save_png(figure: Figure, path: Path) -> None:
    """Write ``figure``; without a date in it, the same data make the same bytes.

    Characters that the font lacks are drawn as boxes: words of a heat map may be in any script.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})


def png_inlined(figure: Figure) -> str:
    """A PNG in base64, for a page that needs no other file; characters as in ``save_png``."""
    image = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        figure.savefig(image, format="png", dpi=DOTS_PER_INCH)
    return base64.b64encode(image.getvalue()).decode("ascii")


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _finish(axes: Axes, *, title: str, x: str) -> None:
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(x)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
