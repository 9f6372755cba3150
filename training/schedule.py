"""Learning-rate schedules: functions of the update number alone, so that a resumed run needs no state.

All rise linearly over ``warmup`` updates. ``inverse_sqrt`` is the schedule of Vaswani et al. 2017 (section
5.3, eq. 3) written with its highest value in place of d_model: lr(u) = peak * min(u/warmup, sqrt(warmup/u)).
``noam`` is the same with the paper's constant: learning_rate * d_model^-0.5 * min(u^-0.5, u * warmup^-1.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable

Schedule = Callable[[int], float]
"""Update number, from 1 -> learning rate."""


def build_schedule(name: str, learning_rate: float, warmup: int, max_updates: int, d_model: int) -> Schedule:
    """A schedule by name: inverse_sqrt, noam, linear, cosine or constant."""
    warmup = max(warmup, 1)

    def decay_share(update: int) -> float:
        """0 at the end of warm-up, 1 at the last update."""
        return min(1.0, max(0.0, (update - warmup) / max(1, max_updates - warmup)))

    decays: dict[str, Schedule] = {
        "inverse_sqrt": lambda update: math.sqrt(warmup / max(update, warmup)),
        "noam": lambda update: (d_model * max(update, warmup)) ** -0.5,
        "linear": lambda update: 1.0 - decay_share(update),
        "cosine": lambda update: 0.5 * (1.0 + math.cos(math.pi * decay_share(update))),
        "constant": lambda _: 1.0,
    }
    decay = decays[name]

    def schedule(update: int) -> float:
        return learning_rate * min(1.0, update / warmup) * decay(update)

    return schedule


def cooldown_factor(progress: float, cooldown: float) -> float:
    """1 until the last ``cooldown`` of a run, then straight down to 0; ``progress`` is 0 to 1.

    Hu et al. 2024 (MiniCPM, section 4: warm-up, stable, decay) and Haegele et al. 2024: a run whose length is
    not known in advance goes on at a constant rate and ends whenever it is cooled down.
    """
    if cooldown <= 0.0:
        return 1.0
    return min(1.0, max(0.0, (1.0 - progress) / cooldown))
