import subprocess
import sys

import pytest

from training import memory
from training.memory import keep_freed_memory

PAGE_FAULTS_OF_A_STEP = """
import resource, sys, torch
from training.memory import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
for turn in range(20):
    if turn == 10:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(2**23)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")
def test_blocks_that_were_freed_are_not_cleared_by_the_kernel_again():
    faults = {
        choice: int(subprocess.check_output([sys.executable, "-c", PAGE_FAULTS_OF_A_STEP, choice], text=True))
        for choice in ("keep", "default")
    }
    assert faults["keep"] * 10 < faults["default"]


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert not keep_freed_memory()
