"""The attention of every head of every layer over one sentence pair, as plain numbers.

A row is what attends, a column what is attended to, and a row sums to 1. Sub-words are told as the model
reads and writes them, with its marks for the beginning and the end: much attention rests on those.
"""

from __future__ import annotations

from dataclasses import dataclass

Heads = tuple[tuple[tuple[tuple[float, ...], ...], ...], ...]
"""``[layer][head][row][column]``."""

BEGIN, END = "<s>", "</s>"
MOST_CELLS = 400_000
"""Numbers of one sentence's maps, over all heads; a sentence with more has none."""


@dataclass(frozen=True)
class HeadMaps:
    """All maps of one sentence pair; an architecture without an attention has no layers of it."""

    source: tuple[str, ...]
    """Pieces read, the last ``</s>``: rows and columns of ``encoder``, columns of ``cross``."""
    read: tuple[str, ...]
    """Pieces of the translation as it is read, the first ``<s>``: columns of ``decoder``."""
    written: tuple[str, ...]
    """Pieces as they are written, the last ``</s>``: rows of ``decoder`` and ``cross``."""
    encoder: Heads
    decoder: Heads
    cross: Heads
