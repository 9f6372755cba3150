"""``python -m tests.reliability.serve ENGINE [MODEL...]``: ``nmt serve`` on a free port, around an engine.

ENGINE is ``stub`` or ``tiny`` (modules beside this one), or ``real``: the service's own. With
``PASSERELLE_TEST_TELL_HANDLERS`` a line on standard error names each handler that runs;
``PASSERELLE_TEST_DESCRIPTORS`` bounds the files that may be open.
"""

from __future__ import annotations

import ctypes
import functools
import os
import resource
import signal
import sys
from typing import Any

import fastapi.routing

import service.main
from service.work.engine.process import ProcessEngine

PR_SET_PDEATHSIG = 1


def tell_handlers() -> None:
    """Have every handler's path written when it runs."""
    run = fastapi.routing.run_endpoint_function

    async def run_and_tell(*, dependant: Any, **rest: Any) -> Any:
        print(f"handler {dependant.path}", file=sys.stderr, flush=True)
        return await run(dependant=dependant, **rest)

    fastapi.routing.run_endpoint_function = run_and_tell


if __name__ == "__main__":
    engine, *models = sys.argv[1:]
    if os.environ.get("PASSERELLE_TEST_TELL_HANDLERS"):
        tell_handlers()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # a killed test leaves no server behind
    if limit := os.environ.get("PASSERELLE_TEST_DESCRIPTORS"):
        resource.setrlimit(resource.RLIMIT_NOFILE, (int(limit), int(limit)))
    if engine != "real":
        command = (sys.executable, "-m", f"tests.reliability.{engine}_engine")
        service.main.ProcessEngine = functools.partial(ProcessEngine, command=command)  # type: ignore[misc]
    service.main.serve(port=0, model=models)
