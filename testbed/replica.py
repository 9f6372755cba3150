"""``nmt serve`` as it is, but with the stub's engine: ``python -m testbed.replica HOST PORT``."""

from __future__ import annotations

import functools
import sys

from service import main
from service.work.engine.process import ProcessEngine

COMMAND = (sys.executable, "-m", "testbed.stub_engine")

if __name__ == "__main__":
    main.ProcessEngine = functools.partial(ProcessEngine, command=COMMAND)  # type: ignore[attr-defined,assignment]
    main.serve(sys.argv[1], int(sys.argv[2]), "stub")
