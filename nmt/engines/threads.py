"""How many threads the encoder takes, and a step of decoding.

A step of few rows of a small model is tens of products of some ten microseconds that wait for weights. A
second thread is a second core's way to the memory, and the step a third faster; larger steps gain more. But
at the end of each product threads wait for one another, and where another process has one of their cores they
wait for its time slice, which makes a step take ten times as long. Which of the two it is changes from second
to second. So steps are taken with one thread or with all, whichever was faster lately, and the other is tried
now and then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

import torch

ResultT = TypeVar("ResultT")

FEW_ROWS = 16
"""Steps of more rows are alike up to the next power of two, by their seconds for a row."""
TINY_STEP = 1_000_000
"""Smaller ones take one, for a second has nothing to fetch."""
SHORT_STEP = 250_000_000
"""Multiplications of a step that one thread ends sooner than another gets a core that is busy."""
TRIAL = 4
"""Steps of a trial."""
PERIOD = 64
"""Steps from one trial to the next; twice as many after each that changed nothing."""
LONGEST_PERIOD = 512
"""So long it may take to notice a core that is free again, or longer after a trial that has lost much."""
RARELY = 50
"""What a trial has lost is to be so small a share of the time until the next one."""
LEAD = 0.9
"""The other way is taken up where its steps take less than this share of the time."""
RECENT = 0.2
"""What the last step counts in the mean."""
OUTLIER = 3.0
"""A step counts at most as this many times the mean: who is interrupted once is not slow. It ends a trial."""


class StepThreads:
    """Decides for what one decoder, or encoder, computes; the number of rows decides which steps are alike.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lately: dict[int, _Lately] = {}

    def take(self, n_rows: int, n_multiplications: int, step: Callable[[], ResultT]) -> ResultT:
        """``step()``, of ``n_rows``, with that many of torch's threads; as before at the end."""
        n_threads = torch.get_num_threads()
        if n_threads == 1:
            return step()
        alike = n_rows if n_rows <= FEW_ROWS else 1 << (n_rows - 1).bit_length()
        lately = self._lately.get(alike)
        if lately is None:
            # a trial at once, or as if the first were over
            n_steps = TRIAL if n_multiplications <= SHORT_STEP else 0
            lately = self._lately[alike] = _Lately(n_steps=n_steps)
        alone = n_multiplications < TINY_STEP or lately.next_alone()
        if alone:
            torch.set_num_threads(1)
        started = self._clock()
        try:
            taken = step()
            lately.add((self._clock() - started) / n_rows, alone=alone)
        finally:
            if alone:
                torch.set_num_threads(n_threads)
        return taken


@dataclass
class _Lately:
    """What a row of steps that are alike took with one thread, and with all."""

    alone: bool = True
    """One thread is the faster."""
    period: int = PERIOD
    n_steps: int = 0
    """Of this period, which begins with a trial."""
    spent: float = 0.0
    """On a row of each of them, all together."""
    lost: float = 0.0
    """What the trial took longer than so many usual steps."""
    seconds: dict[bool, float] = field(default_factory=dict)
    """By whether the step was alone: a running mean, or the median of a trial."""
    trial: list[float] = field(default_factory=list)

    def next_alone(self) -> bool:
        """Whether the next step has one thread: as is faster, or for a trial the other way."""
        if self.n_steps >= self.period and self.spent >= RARELY * self.lost:
            self.n_steps, self.period = 0, min(2 * self.period, LONGEST_PERIOD)
            self.spent = self.lost = 0.0
        self.n_steps += 1
        return self.alone != (self.n_steps <= TRIAL)

    def add(self, seconds: float, *, alone: bool) -> None:
        """A step took so long."""
        self.spent += seconds
        mean = self.seconds.get(alone)
        if mean is None or alone != self.alone:
            self._try(seconds, alone=alone)
            return
        mean += RECENT * (min(seconds, OUTLIER * mean) - mean)
        self.seconds[alone] = mean
        self._compare()

    def _try(self, seconds: float, *, alone: bool) -> None:
        """A step of a trial did, or one of the first."""
        usual = None if alone == self.alone else self.seconds.get(self.alone)  # at first nobody knows
        if usual is not None:
            self.lost += max(0.0, seconds - usual)
        if usual is not None and seconds > OUTLIER * usual:
            # a thread that waits for a core waits for a time slice; it need not do so for a whole trial
            self.seconds[alone], self.n_steps = seconds, TRIAL
        else:
            self.trial.append(seconds)
            if len(self.trial) < TRIAL:
                return
            self.seconds[alone] = median(self.trial)
        self.trial.clear()
        self._compare()

    def _compare(self) -> None:
        """Take up the other way where it is the faster."""
        other = self.seconds.get(not self.alone)
        if other is not None and other < LEAD * self.seconds.get(self.alone, 0.0):
            self.alone, self.period = not self.alone, max(PERIOD, self.n_steps)
