"""Plots of the demonstrations: curves and heat maps, several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from training.evaluation.plots import COLOURS, MARKERS

Curve = Mapping[float, float]
"""x -> y."""
POINTS = 40
"""Of a thinned curve."""


def panels(n: int, *, height: float = 3.6, width: float = 4.2) -> tuple[Figure, list[Axes]]:
    """A figure of ``n`` plots in a row; sizes in inches, of one plot."""
    figure = Figure(figsize=(width * n, height), layout="constrained")
    return figure, list(figure.subplots(1, n, squeeze=False)[0])


def draw_curves(
    axes: Axes,
    title: str,
    x: str,
    curves: Mapping[str, Curve],
    *,
    log_x: bool = False,
    log_y: bool = False,
    marked: bool = True,
) -> None:
    """A line for each name."""
    for index, (name, curve) in enumerate(curves.items()):
        axes.plot(
            list(curve),
            list(curve.values()),
            label=name,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)] if marked else None,
            markersize=5,
            linewidth=1.6,
        )
    if log_x:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    if log_y:
        axes.set_yscale("log")
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        axes.legend(frameon=False, fontsize=8)


def draw_map(
    axes: Axes,
    title: str,
    values: Tensor,
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    signed: bool = False,
    most: float | None = None,
) -> None:
    """A matrix as a heat map, blue for much; ``signed`` has red below 0. ``most`` is full colour."""
    numbers = values.detach().float()
    top = float(numbers.abs().max()) if most is None else most
    image = axes.imshow(
        numbers.tolist(),
        cmap="RdBu" if signed else "Blues",
        vmin=-top if signed else 0,
        vmax=top,
        aspect="auto",
    )
    axes.set_title(title, loc="left", fontsize=10)
    if columns:
        axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=7, parse_math=False)
    if rows:
        axes.set_yticks(range(len(rows)), rows, fontsize=7, parse_math=False)
    axes.tick_params(length=0)
    axes.figure.colorbar(image, ax=axes, shrink=0.8)


def thinned(curve: Curve) -> dict[float, float]:
    """Fewer points, each the mean of those since the last."""
    places, width = list(curve), max(1, len(curve) // POINTS)
    groups = (places[first : first + width] for first in range(0, len(places), width))
    return {group[-1]: mean(curve[place] for place in group) for group in groups}
