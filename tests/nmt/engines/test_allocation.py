"""Freed memory stays with the process: no pages are asked for anew."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nmt.engines import allocation
from nmt.engines.allocation import OWN_SETTINGS, keep_freed_memory

FAULTS = """
import resource, torch
from nmt.engines.allocation import keep_freed_memory
print(keep_freed_memory() if {keep} else False)
def step():
    four = [torch.ones(2_500_000) for _ in range(4)]  # 10 MB each
for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(*, keep: bool) -> tuple[str, int]:
    """What ``keep_freed_memory`` said, and pages asked for by five steps that free what they took."""
    environment = {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
    done = subprocess.run(
        [sys.executable, "-c", FAULTS.format(keep=keep)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    said, count = done.stdout.split()
    return said, int(count)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_what_is_freed_is_not_asked_for_again() -> None:
    said, kept = faults(keep=True)
    assert said == "True"
    _, given_back = faults(keep=False)
    assert kept < 100
    assert given_back > 5_000


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
