"""Which device a model is on, and how many threads compute; torch is imported only where it must be asked."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from nmt.errors import ConfigError

CUDA_DRIVERS = ("libcuda.so.1", "nvcuda.dll")
ROCM_DRIVER = Path("/dev/kfd")
CPUS = Path("/sys/devices/system/cpu")


def find_device(name: str) -> str:
    """The device meant, as torch writes it: "cpu", "cuda:0"; "auto" is a GPU where torch sees one.

    Raises:
        ConfigError: there is no such device here.
    """
    if name == "cpu" or (name == "auto" and not _has_driver()):
        return "cpu"
    import torch  # noqa: PLC0415 - takes a second

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return str(torch.empty(0, device=name).device)
    except (RuntimeError, AssertionError):
        raise ConfigError(f"device {name!r} is not available here; use cpu, cuda, cuda:N or auto") from None


def kind_and_index(device: object) -> tuple[str, int]:
    """("cuda", 1) of "cuda:1", ("cpu", 0) of "cpu"; a ``torch.device`` is read like its name."""
    kind, _, index = str(device).partition(":")
    return kind, int(index or 0)


def count_threads() -> int:
    """How many threads torch computes with on a CPU; what it would say is worked out where it is not loaded.

    ``MKL_NUM_THREADS`` and ``OMP_NUM_THREADS`` say so, but not more than the cores that this process may use.
    """
    if (torch := sys.modules.get("torch")) is not None:
        loaded: int = torch.get_num_threads()
        return loaded
    n_cores = _count_cores()
    for name in ("MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        first = os.environ.get(name, "").partition(",")[0].strip()
        if first.isdecimal() and int(first):
            return min(int(first), n_cores)
    return n_cores


def _has_driver() -> bool:
    """Whether there is a driver of a GPU, without which torch sees none."""
    for library in CUDA_DRIVERS:
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        return True
    return ROCM_DRIVER.exists()


def _count_cores() -> int:
    """Cores that this process may use, the threads of a core counted once where the system tells."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    usable = os.sched_getaffinity(0)
    try:
        return len({(CPUS / f"cpu{cpu}/topology/thread_siblings_list").read_text() for cpu in usable})
    except OSError:
        return len(usable)
