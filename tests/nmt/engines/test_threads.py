"""How many threads of torch a step of decoding takes, and how they wait for one another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from nmt.engines.packed import PackedTransformer
from nmt.engines.threads import SMALL_STEP, threads_for

from .test_packed import tiny


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
def test_little_work_has_one_thread_and_much_work_has_all() -> None:
    with threads_for(SMALL_STEP):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 3
    with threads_for(SMALL_STEP + 1):
        assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_the_number_is_as_before_when_the_work_fails() -> None:
    with pytest.raises(ValueError, match="broken"), threads_for(1):
        raise ValueError("broken")
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("three_threads")
def test_a_step_of_few_rows_has_one_thread_and_one_of_many_has_all(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = PackedTransformer(tiny(), layers="float32", output="float32")
    seen: list[int] = []
    monkeypatch.setattr(decoder, "_step", lambda *_: seen.append(torch.get_num_threads()))
    rows = SMALL_STEP // decoder._step_weights
    for n_rows in (1, rows, rows + 1):
        decoder.step(None, torch.zeros(n_rows, dtype=torch.long))  # type: ignore[arg-type]
    assert seen == [1, 1, 3]


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
