"""Meter of a training loop between two log lines: losses, tokens, speed, memory."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import torch

from nmt.errors import NumericalError
from training.distributed import World
from training.speed import peak_memory_mib
from training.state import TrainingState
from training.step import UpdateReport


class Bound(NamedTuple):
    """Yardsticks of a run's speed."""

    operations_of_a_token: float
    """Operations of the model's matrix products, forward and backward, for each target token."""
    operations_per_second: float
    """Operations a second of all devices of the run, in one large product."""


class Meter:
    """Sums since the last log line, kept on the device so that a step waits for nothing."""

    def __init__(self, state: TrainingState, world: World, bound: Bound) -> None:
        self._began_s = time.monotonic() - state.elapsed_s
        self._world = world
        self._bound = bound
        self._reset()

    def _reset(self) -> None:
        self._smoothed: torch.Tensor | float = 0.0
        self._nll: torch.Tensor | float = 0.0
        self._n_tokens = 0
        self._gradient_norm: torch.Tensor | float = 0.0
        self._since_s = time.monotonic()

    def elapsed_s(self) -> float:
        """Seconds that the run has taken, in all its sittings up to their last checkpoints."""
        return time.monotonic() - self._began_s

    def add(self, report: UpdateReport) -> None:
        """Count one update."""
        self._smoothed = self._smoothed + report.sums.smoothed
        self._nll = self._nll + report.sums.nll
        self._n_tokens += report.sums.n_tokens
        self._gradient_norm = report.gradient_norm

    def raise_unless_finite(self, update: int) -> None:
        """Never let NaN into a checkpoint; all processes find the same."""
        finite = math.isfinite(float(self._smoothed)) and math.isfinite(float(self._gradient_norm))
        if self._world.highest(0.0 if finite else 1.0) != [0.0]:
            raise NumericalError(
                f"NaN or infinity by update {update}: not saved; the last checkpoint is sound"
            )

    def read(self) -> dict[str, float]:
        """Means since the last call, over all processes; waits for the device once."""
        smoothed, nll = self._world.sums(float(self._smoothed), float(self._nll))
        n_tokens = max(1, self._n_tokens)
        speed = self._n_tokens / (time.monotonic() - self._since_s)
        values = {
            "loss": smoothed / n_tokens,
            "nll": nll / n_tokens,
            "gradient_norm": float(self._gradient_norm),
            "tokens_per_second": speed,
            "utilisation": speed * self._bound.operations_of_a_token / self._bound.operations_per_second,
            "peak_memory_mib": peak_memory_mib(self._world.device),
        }
        self._reset()
        return values
