import subprocess
import sys

import pytest

from nmt import allocator
from nmt.allocator import keep_freed_memory

PAGE_FAULTS_OF_A_STEP = """
import resource, sys, torch
from nmt.allocator import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
for turn in range(20):
    if turn == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(2**23)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")
def test_blocks_that_were_freed_are_not_cleared_by_the_kernel_again():
    faults = {
        choice: int(subprocess.check_output([sys.executable, "-c", PAGE_FAULTS_OF_A_STEP, choice], text=True))
        for choice in ("keep", "default")
    }
    assert faults["keep"] * 10 < faults["default"]


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: object())
    assert not keep_freed_memory()


RESIDENT_AFTER_MANY_SHAPES = """
import torch
from nmt.allocator import give_back_free_memory, keep_freed_memory
def resident_mib():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
keep_freed_memory()
kept = [torch.ones(2**14) for _ in range(4)]
before = resident_mib()
for size in range(1, 60):
    blocks = [torch.ones(size * 2**14) for _ in range(8)]
    kept.append(torch.ones(2**8))
    del blocks
grown = resident_mib() - before
give_back_free_memory()
print(grown, resident_mib() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")
def test_what_is_free_between_kept_blocks_is_given_back():
    printed = subprocess.check_output([sys.executable, "-c", RESIDENT_AFTER_MANY_SHAPES], text=True)
    grown, left = map(float, printed.split())
    assert grown > 20
    assert left < grown / 4


def test_another_c_library_gives_nothing_back(monkeypatch):
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda name: object())
    assert not allocator.give_back_free_memory()
