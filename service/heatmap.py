"""Heat maps of an alignment: source words across, target words down, darker for more attention.

With alignment soft a cell is the attention; with links alone it is the score of the link. The sentences of a
text stand one below another. SVG is written by hand, with presentation attributes only, so that a
browser shows it under a strict policy; PNG is drawn by matplotlib's Agg, imported on first use.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from service.schemas import AlignmentOut, SentenceOut

MOST_TOKENS = 250
MOST_CELLS = 10_000

_CELL = 26
_LABEL_PX = 7.5
_GAP = 24
_LIGHT, _DARK = (247, 250, 252), (11, 83, 112)
_INK = "#1d2b36"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_drawing = threading.Lock()  # matplotlib's font cache is shared and not made for threads


class HeatMapTooLargeError(Exception):
    """More words than a readable picture holds; the message says so for a person."""


@dataclass(frozen=True)
class HeatMap:
    """One sentence: ``values[i][j]`` is the share of target word i on source word j."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


def heat_maps(alignment: AlignmentOut, sentences: Sequence[SentenceOut]) -> list[HeatMap]:
    """The heat maps of these sentences of ``alignment``; a sentence without words on one side has none.

    Raises:
        HeatMapTooLargeError: together they are too large for a picture.
    """
    maps = []
    for sentence in sentences:
        source = (alignment.source_tokens or [])[sentence.source_tokens.start : sentence.source_tokens.end]
        target = (alignment.target_tokens or [])[sentence.target_tokens.start : sentence.target_tokens.end]
        if source and target:
            maps.append(
                HeatMap(
                    tuple(token.text for token in source),
                    tuple(token.text for token in target),
                    _values(alignment, sentence, len(target), len(source)),
                )
            )
    columns = max((len(heat_map.source) for heat_map in maps), default=0)
    rows = sum(len(heat_map.target) for heat_map in maps)
    cells = sum(len(heat_map.source) * len(heat_map.target) for heat_map in maps)
    if max(columns, rows) > MOST_TOKENS or cells > MOST_CELLS:
        raise HeatMapTooLargeError(
            f"A heat map of {rows} target words is too large; the limit is {MOST_TOKENS} words on a side and "
            f"{MOST_CELLS} cells. Ask for one sentence with sentence=0, or for format=json."
        )
    return maps


def _values(
    alignment: AlignmentOut, sentence: SentenceOut, n_rows: int, n_columns: int
) -> tuple[tuple[float, ...], ...]:
    if sentence.attention is not None:
        return tuple(tuple(row) for row in sentence.attention)
    values = [[0.0] * n_columns for _ in range(n_rows)]
    for link in alignment.links or []:
        row, column = link.target - sentence.target_tokens.start, link.source - sentence.source_tokens.start
        if 0 <= row < n_rows and 0 <= column < n_columns:
            values[row][column] = link.score
    return tuple(tuple(row) for row in values)


def draw_svg(maps: Sequence[HeatMap]) -> bytes:
    """An SVG document; each cell carries its words and value as a tooltip."""
    left = 16 + _longest(word for heat_map in maps for word in heat_map.target)
    width = left + _CELL * max((len(heat_map.source) for heat_map in maps), default=4) + 60
    parts: list[str] = []
    top = 12.0
    for heat_map in maps:
        header = 16 + _longest(heat_map.source)
        parts.append(_svg_map(heat_map, left, top + header))
        top += header + _CELL * len(heat_map.target) + _GAP
    height = max(top, 40)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="13">\n'
        f"<title>Word alignment: source words across, target words down</title>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{"".join(parts)}</svg>\n'
    ).encode()


def _svg_map(heat_map: HeatMap, left: float, top: float) -> str:
    lines = []
    for column, word in enumerate(heat_map.source):
        x = left + _CELL * (column + 0.5) + 4
        lines.append(
            f'<text x="{x:.1f}" y="{top - 8:.1f}" fill="{_INK}" '
            f'transform="rotate(-60 {x:.1f} {top - 8:.1f})">{_xml(word)}</text>'
        )
    for row, word in enumerate(heat_map.target):
        y = top + _CELL * row
        lines.append(
            f'<text x="{left - 8:.1f}" y="{y + 18:.1f}" fill="{_INK}" text-anchor="end">{_xml(word)}</text>'
        )
        for column, value in enumerate(heat_map.values[row]):
            tooltip = f"{_xml(heat_map.source[column])} \u2192 {_xml(word)}: {value:.2f}"
            lines.append(
                f'<rect x="{left + _CELL * column:.1f}" y="{y:.1f}" width="{_CELL - 1}" height="{_CELL - 1}" '
                f'rx="3" fill="{_colour(value)}"><title>{tooltip}</title></rect>'
            )
    return "\n".join(lines) + "\n"


def draw_png(maps: Sequence[HeatMap]) -> bytes:
    """A PNG of the same; characters that the font lacks are drawn as boxes."""
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - a second; few ask for it
    from matplotlib.figure import Figure  # noqa: PLC0415

    to_unit = [tuple(part / 255 for part in colour) for colour in (_LIGHT, _DARK)]
    colours = LinearSegmentedColormap.from_list("passerelle", to_unit)
    cell, label, header = 0.24, 0.085, 0.4
    shapes = [(len(heat_map.target), len(heat_map.source)) for heat_map in maps]
    left = 0.3 + label * max((len(word) for heat_map in maps for word in heat_map.target), default=4)
    headers = [header + label * max(len(word) for word in heat_map.source) for heat_map in maps]
    width = left + cell * max((columns for _, columns in shapes), default=4) + 0.6
    height = sum(headers) + sum(cell * rows for rows, _ in shapes) + 0.3
    with _drawing, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing glyph is drawn as a box
        figure = Figure(figsize=(min(width, 80), min(height, 80)), dpi=100)
        top = height - 0.05
        for heat_map, (rows, columns), above in zip(maps, shapes, headers, strict=True):
            top -= above + cell * rows
            axes = figure.add_axes((left / width, top / height, cell * columns / width, cell * rows / height))
            axes.imshow(heat_map.values, cmap=colours, vmin=0, vmax=1, aspect="auto")
            axes.set_xticks(
                range(columns), heat_map.source, rotation=60, ha="left", fontsize=9, parse_math=False
            )
            axes.set_yticks(range(rows), heat_map.target, fontsize=9, parse_math=False)
            axes.xaxis.tick_top()
            axes.tick_params(length=0)
            for spine in axes.spines.values():
                spine.set_visible(False)
        image = io.BytesIO()
        figure.savefig(image, format="png", backend="agg")
    return image.getvalue()


def _longest(words: Iterable[str]) -> float:
    """Room for the longest of some words, in pixels."""
    return _LABEL_PX * max((len(word) for word in words), default=4)


def _colour(value: float) -> str:
    share = min(max(value, 0.0), 1.0)
    mixed = (round(low + (high - low) * share) for low, high in zip(_LIGHT, _DARK, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _xml(text: str) -> str:
    """Text for an element; what XML cannot hold becomes a replacement character."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))
