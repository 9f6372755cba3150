"""Devices and threads are what torch would say, which need not be there to be asked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from nmt.device import find_device, kind_and_index
from nmt.errors import ConfigError

BOTH = (
    "import sys; from nmt.device import count_threads; ours = count_threads(); "
    "assert 'torch' not in sys.modules; import torch; print(ours, torch.get_num_threads(), count_threads())"
)


@pytest.mark.parametrize(
    "environment",
    [
        {"OMP_NUM_THREADS": "1,2"},
        *(
            pytest.param(environment, marks=pytest.mark.exhaustive)
            for environment in (
                {},
                {"OMP_NUM_THREADS": "1"},
                {"OMP_NUM_THREADS": "nonsense"},
                {"OMP_NUM_THREADS": "0"},
                {"OMP_NUM_THREADS": "999"},
                {"MKL_NUM_THREADS": "1"},
                {"MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"},
            )
        ),
    ],
    ids=str,
)
@pytest.mark.skipif(
    not torch.backends.mkl.is_available(), reason="torch without MKL takes OMP_NUM_THREADS at its word"
)
def test_as_many_threads_are_counted_as_torch_has(environment: dict[str, str]) -> None:
    rest = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}

    result = subprocess.run(
        [sys.executable, "-c", BOTH], capture_output=True, text=True, check=True, env={**rest, **environment}
    )

    assert len(set(result.stdout.split())) == 1, result.stdout


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_cores_that_the_process_may_not_use_are_not_counted() -> None:
    core = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{core}}}); {BOTH}"
    rest = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}

    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=rest
    )

    assert result.stdout.split() == ["1", "1", "1"]


def test_threads_that_were_set_in_torch_are_counted() -> None:
    code = (
        "import torch; torch.set_num_threads(7); from nmt.device import count_threads; print(count_threads())"
    )

    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.strip() == "7"


def test_auto_is_what_torch_sees() -> None:
    assert find_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")


def test_a_driver_alone_makes_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert find_device("auto") == "cpu"
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert find_device("auto") == "cuda"


@pytest.mark.parametrize("name", ["", "gpu", "cuda:99", "cpu:x"])
def test_a_device_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"device '{name}' is not available here; use cpu, cuda, cuda:N or auto"
    ):
        find_device(name)


@pytest.mark.parametrize(
    ("device", "found"),
    [
        ("cpu", ("cpu", 0)),
        ("cuda", ("cuda", 0)),
        ("cuda:3", ("cuda", 3)),
        (torch.device("cuda", 1), ("cuda", 1)),
    ],
)
def test_a_device_has_a_kind_and_an_index(device: object, found: tuple[str, int]) -> None:
    assert kind_and_index(device) == found
