"""What a training loop reports between two log lines: losses, tokens, speed."""

from __future__ import annotations

import math
import time

import torch

from nmt.errors import NumericalError
from training.state import TrainingState


class Meter:
    """Sums since the last log line, kept on the device so that a step waits for nothing."""

    def __init__(self, state: TrainingState) -> None:
        self._began_s = time.monotonic() - state.elapsed_s
        self._reset()

    def _reset(self) -> None:
        self.smoothed: torch.Tensor | float = 0.0
        self.nll: torch.Tensor | float = 0.0
        self.n_tokens = 0
        self.gradient_norm: torch.Tensor | float = 0.0
        self._since_s = time.monotonic()

    def elapsed_s(self) -> float:
        """Seconds that the run has taken, in all its sittings up to their last checkpoints."""
        return time.monotonic() - self._began_s

    def add(self, smoothed: torch.Tensor, nll: torch.Tensor) -> None:
        """Count one batch's summed losses."""
        self.smoothed = self.smoothed + smoothed
        self.nll = self.nll + nll

    def raise_unless_finite(self, update: int) -> None:
        """Never let NaN into a checkpoint."""
        if not math.isfinite(float(self.smoothed)) or not math.isfinite(float(self.gradient_norm)):
            raise NumericalError(
                f"NaN or infinity by update {update}: not saved; the last checkpoint is sound"
            )

    def read(self) -> dict[str, float]:
        """Means since the last call, which waits for the device once."""
        n_tokens = max(1, self.n_tokens)
        values = {
            "loss": float(self.smoothed) / n_tokens,
            "nll": float(self.nll) / n_tokens,
            "gradient_norm": float(self.gradient_norm),
            "tokens_per_second": self.n_tokens / (time.monotonic() - self._since_s),
        }
        self._reset()
        return values
