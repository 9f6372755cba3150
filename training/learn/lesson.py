"""What a demonstration is given, and what it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Given:
    """What ``nmt learn`` was asked for; a demonstration reads what it needs."""

    model: str | None = None
    """Model folder, or the name of one that ships; None: the default one."""
    text: str | None = None
    report: Path | None = None
    """``report.json`` of ``nmt compare``."""
    updates: int = 600
    """Of each tiny model that is trained on the spot."""
    longest: int = 256
    """Tokens of the longest sequence that is timed; attention alone is timed up to eight times as long."""
    sentences: int = 200


class Part(NamedTuple):
    """A section of the page."""

    heading: str
    text: str
    figure: Figure | None = None


@dataclass(frozen=True)
class Lesson:
    """One demonstration."""

    name: str
    title: str
    paper: str
    parts: Callable[[Given], list[Part]]
    """Computes and draws."""
