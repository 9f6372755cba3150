"""A long run gives way to others, also where the kernel schedules by sessions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.runs import NICENESS

ROOT = Path(__file__).resolve().parent.parent
SAYS_WHAT_IT_WROTE = """
import os, sys
from pathlib import Path
from scripts.runs import let_others_go_first
autogroup = Path(sys.argv[1])
let_others_go_first(autogroup)
print(os.nice(0), autogroup.read_text())
"""


@pytest.mark.parametrize(("leads", "written"), [(True, str(NICENESS)), (False, "before")])
def test_only_the_leader_of_a_session_lowers_its_weight(tmp_path: Path, *, leads: bool, written: str):
    autogroup = tmp_path / "autogroup"
    autogroup.write_text("before", encoding="ascii")
    done = subprocess.run(
        [sys.executable, "-c", SAYS_WHAT_IT_WROTE, str(autogroup)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=leads,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(NICENESS), written]
