"""Freed memory stays with the process: no pages are asked for anew."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nmt.engines import allocation
from nmt.engines.allocation import OWN_SETTINGS, keep_freed_memory

HELD = """
import ctypes, torch
from nmt.engines.allocation import keep_freed_memory

class Statistics(ctypes.Structure):  # struct mallinfo2 of malloc.h
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd",
        "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]

statistics = ctypes.CDLL(None).mallinfo2
statistics.restype = Statistics
print(keep_freed_memory() if {keep} else False)
before = statistics().fordblks
four = [torch.ones(6_000_000) for _ in range(4)]  # 24 MB each
del four
print(statistics().fordblks - before)
"""


def held_when_freed(*, keep: bool) -> tuple[str, int]:
    """What ``keep_freed_memory`` said, and how much of 96 MB that it took and freed the C library holds."""
    environment = {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", HELD.format(keep=keep)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    said, held = done.stdout.split()
    return said, int(held)


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="no C library that tells, as glibc from 2.33 does"
)
def test_what_is_freed_stays() -> None:
    said, kept = held_when_freed(keep=True)
    assert said == "True"
    _, given_back = held_when_freed(keep=False)
    assert kept > 90_000_000
    assert given_back < 24_000_000


@pytest.mark.parametrize("name", OWN_SETTINGS)
def test_who_sets_it_otherwise_has_decided(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    assert not keep_freed_memory.__wrapped__()


def test_it_sets_both_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OWN_SETTINGS:
        monkeypatch.delenv(name, raising=False)
    limits: dict[int, int] = {}

    def mallopt(option: int, limit: int) -> int:
        limits[option] = limit
        return int(limit < accepted)

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(allocation.ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=mallopt))
    accepted = 1 << 30
    assert keep_freed_memory.__wrapped__()
    assert limits == {-1: 128 << 20, -3: 32 << 20}, "M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h"
    accepted = 0
    assert not keep_freed_memory.__wrapped__()


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in OWN_SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(allocation.ctypes, "CDLL", lambda _: object())
    assert not keep_freed_memory.__wrapped__()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not keep_freed_memory.__wrapped__()
