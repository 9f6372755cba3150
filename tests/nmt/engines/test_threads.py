"""How many threads of torch a step of decoding takes, and how they wait for one another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.engines.packed import PackedTransformer
from nmt.engines.threads import (
    FEW_ROWS,
    LONGEST_PERIOD,
    PERIOD,
    RARELY,
    SHORT_STEP,
    TINY_STEP,
    TRIAL,
    StepThreads,
)

from .test_packed import tiny


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


class Machine:
    """Steps that take so long with one thread and with all, by a clock of its own."""

    def __init__(self, alone: float, together: float, n_multiplications: int = SHORT_STEP + 1) -> None:
        self.seconds = {1: alone, 3: together}
        self._n_multiplications = n_multiplications
        self._now = 0.0
        self.threads = StepThreads(lambda: self._now)

    def run(self, n_steps: int, n_rows: int = 1, interrupted: int | None = None) -> list[int]:
        """The threads of each step; the one numbered ``interrupted`` takes a hundred times as long."""
        taken = []
        for number in range(n_steps):
            times = 100 if number == interrupted else 1
            taken.append(self.threads.take(n_rows, self._n_multiplications, partial(self._step, times)))
            assert torch.get_num_threads() == 3
        return taken

    def _step(self, times: int) -> int:
        n_threads = torch.get_num_threads()
        self._now += self.seconds[n_threads] * times
        return n_threads


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize(("alone", "together", "faster"), [(3.0, 2.0, 3), (2.0, 3.0, 1), (2.0, 1.9, 1)])
def test_what_is_clearly_faster_is_taken_and_the_other_tried_now_and_then(
    alone: float, together: float, faster: int
) -> None:
    taken = Machine(alone, together).run(100 * PERIOD)
    trials = [number for number in range(PERIOD, len(taken)) if taken[number] != faster]
    assert taken[:TRIAL] == [3] * TRIAL, "the first trial is at once"
    assert len(trials) == TRIAL * len({number // TRIAL for number in trials}), "each is of so many steps"
    assert trials[0] == PERIOD
    assert trials[-1] - trials[-1 - TRIAL] == LONGEST_PERIOD


@pytest.mark.usefixtures("three_threads")
def test_a_short_step_has_one_thread_until_the_first_period_is_over() -> None:
    machine = Machine(3.0, 2.0, SHORT_STEP)
    assert machine.run(PERIOD - TRIAL) == [1] * (PERIOD - TRIAL)
    assert machine.run(PERIOD) == [3] * PERIOD


@pytest.mark.usefixtures("three_threads")
def test_a_core_that_is_taken_away_and_given_back_is_noticed() -> None:
    machine = Machine(3.0, 2.0)
    assert machine.run(PERIOD)[-1] == 3
    machine.seconds[3] = 9.0
    taken = machine.run(PERIOD)
    assert taken.index(1, TRIAL) < 2 * TRIAL, "within a few steps"
    assert set(taken[2 * TRIAL :]) == {1}
    machine.run(4 * LONGEST_PERIOD)
    machine.seconds[3] = 2.0
    assert 3 in machine.run(2 * LONGEST_PERIOD)
    assert machine.run(PERIOD)[-1] == 3


@pytest.mark.usefixtures("three_threads")
def test_one_interruption_changes_nothing() -> None:
    machine = Machine(3.0, 2.0)
    machine.run(PERIOD)
    assert set(machine.run(PERIOD, interrupted=PERIOD // 2)[TRIAL:]) == {3}


@pytest.mark.usefixtures("three_threads")
def test_a_trial_ends_with_a_step_that_waited_for_a_core() -> None:
    machine = Machine(2.0, 9.0)
    taken = machine.run(LONGEST_PERIOD)
    assert taken[: TRIAL + 1] == [3] * TRIAL + [1], "at first nobody knows what is usual"
    trials = [number for number in range(TRIAL, len(taken)) if taken[number] == 3]
    assert trials[0] == PERIOD
    assert len(trials) == 3
    assert all(after - before > PERIOD for before, after in pairwise(trials)), "one step each"
    machine.seconds[3] = 1.0
    assert machine.run(2 * LONGEST_PERIOD)[-1] == 3, "the next trial is a whole one"


@pytest.mark.usefixtures("three_threads")
def test_a_trial_that_has_lost_much_is_not_soon_repeated() -> None:
    machine = Machine(2.0, 3.0)
    machine.run(PERIOD)
    machine.seconds[3] = 2000.0
    taken = machine.run(20 * LONGEST_PERIOD * RARELY)
    trials = [number for number, n_threads in enumerate(taken) if n_threads == 3]
    assert trials[0] == 0
    apart = [after - before for before, after in pairwise(trials)]
    spent_first, lost = 2000, 1998
    assert apart
    assert set(apart) == {1 + (RARELY * lost - spent_first) // 2}, "of what is spent, a fiftieth is lost"


@pytest.mark.usefixtures("three_threads")
def test_the_first_steps_which_make_code_do_not_count() -> None:
    machine = Machine(3.0, 200.0)
    assert machine.run(1) == [3]
    machine.seconds[3] = 2.0
    assert machine.run(PERIOD - 1)[-1] == 3


@pytest.mark.usefixtures("three_threads")
def test_steps_of_so_many_rows_are_judged_by_themselves() -> None:
    machine = Machine(3.0, 2.0)
    machine.run(PERIOD, n_rows=1)
    machine.seconds = {1: 3.0, 3: 9.0}
    assert machine.run(PERIOD, n_rows=5)[-1] == 1
    machine.seconds = {1: 3.0, 3: 2.0}
    assert machine.run(TRIAL + 1, n_rows=1) == [1] * TRIAL + [3], "a trial of one thread, and on with all"


@pytest.mark.usefixtures("three_threads")
def test_the_number_is_as_before_when_the_work_fails() -> None:
    def broken() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        StepThreads().take(1, 1, broken)
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_steps_of_many_rows_are_alike_up_to_a_power_of_two_by_the_time_of_a_row() -> None:
    machine = Machine(2.0, 3.0)
    machine.run(PERIOD // 2, n_rows=2 * FEW_ROWS)
    assert set(machine.run(TRIAL, n_rows=FEW_ROWS + 1)) == {1}, "no trial: it is known by now"
    assert machine.run(1, n_rows=2 * FEW_ROWS + 1) == [3], "others are not alike"
    assert machine.run(1, n_rows=FEW_ROWS) == [3]

    machine = Machine(40.0, 30.0)
    machine.run(2 * TRIAL, n_rows=64)
    machine.seconds = {1: 20.0, 3: 15.0}
    assert set(machine.run(PERIOD - 2 * TRIAL, n_rows=32 + 1)) == {3}, "half as long for half as many rows"
    assert machine.threads._lately[64].seconds[False] == pytest.approx(15.0 / 33, rel=0.01)


@pytest.mark.usefixtures("three_threads")
def test_a_tiny_step_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = PackedTransformer(tiny(), layers="float32", output="float32")
    seen: list[int] = []
    monkeypatch.setattr(decoder, "_step", lambda *_: seen.append(torch.get_num_threads()))
    last = (TINY_STEP - 1) // decoder._step_weights
    for n_rows in (1, last, last + 1):
        for _ in range(PERIOD):
            decoder.step(None, torch.zeros(n_rows, dtype=torch.long))  # type: ignore[arg-type]
    assert set(seen[: 2 * PERIOD]) == {1}
    assert 3 in seen[2 * PERIOD :]


@pytest.mark.usefixtures("three_threads")
def test_the_encoder_has_the_threads_that_are_faster_too(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = PackedTransformer(tiny(), layers="float32", output="float32")
    decoder._encoder_weights, encode = SHORT_STEP, decoder._encode
    now, seen = [0.0], list[int]()

    def slowly(*arguments: Any) -> Tensor:
        seen.append(torch.get_num_threads())
        now[0] += seen[-1]  # as with a core that is busy
        return encode(*arguments)

    monkeypatch.setattr(decoder, "_encode", slowly)
    decoder._encoder_threads = StepThreads(lambda: now[0])
    for _ in range(PERIOD):
        decoder.start(Batch.from_ids([[5, 6, 7]], special=SpecialIds()), 1)
    assert seen == [3] * TRIAL + [1] * (PERIOD - TRIAL)


def test_a_process_of_one_thread_stays_at_that() -> None:
    machine = Machine(3.0, 2.0)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(2 * TRIAL):
            assert machine.threads.take(1, TINY_STEP, torch.get_num_threads) == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, "4000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "active"}, "None"),
    ],
)
def test_threads_spin_for_a_short_while_only_unless_the_environment_says_otherwise(
    given: dict[str, str], found: str
) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("GOMP", "OMP"))}
    code = "import sys, nmt, os; print('torch' in sys.modules, os.environ.get('GOMP_SPINCOUNT'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **given},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["False", found]
