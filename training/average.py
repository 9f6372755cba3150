"""Checkpoint averaging (Vaswani et al. 2017, section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from training.state import load_weights


def average_weights(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of several checkpoints' weights (Vaswani et al. 2017, section 6.1), added up in float64."""
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load_weights(path).items():
            total[name] = total[name].add_(weight) if name in total else weight.double()
    return {name: (weight / len(paths)).float() for name, weight in total.items()}
