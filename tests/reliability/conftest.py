"""Servers that tests share, and the records of the full counts."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.nmt.conftest import save_tiny_model, train_tokenizer
from tests.reliability.server import Server, serving

Record = Callable[..., None]
PATIENT = {"header_timeout_s": 60, "body_timeout_s": 60, "write_timeout_s": 60}
"""Deadlines that a client which does not get the processor for a while is not cut off by."""
FULL = {**PATIENT, "engine_silent_s": 60}
"""The same of an engine, for full counts that last long enough to be held up by other work."""


@pytest.fixture(scope="session")
def stub() -> Iterator[Server]:
    """A server around STUB, shared by tests that leave it as it was."""
    with serving(engine_silent_s=1.5, **PATIENT) as server:
        yield server


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of TINY."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tokenizer.model").write_bytes(train_tokenizer())
    save_tiny_model(folder / "tiny", folder / "tokenizer.model")
    return folder / "tiny"


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> Iterator[Server]:
    """A server around TINY."""
    with serving("tiny", tiny_folder, **FULL) as server:
        yield server


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """``record("F1", promise, lost=0, ...)`` writes a full count into the folder PASSERELLE_RECORD.

    ``lost`` is what was lost or broken: nothing, or the test has failed before it comes here.
    """

    def write(name: str, promise: str, *, lost: int, **counts: Any) -> None:
        folder = os.environ.get("PASSERELLE_RECORD")
        if folder is None or request.node.get_closest_marker("slow") is None:
            return
        from training.provenance import commit, machine, versions

        found = {
            "promise": promise,
            "command": f"PASSERELLE_RECORD=docs/reliability pytest -m slow '{request.node.nodeid}'",
            "counts": counts,
            "lost": lost,
            "commit": commit(),
            "versions": versions(),
            "machine": machine(),
        }
        text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
        (Path(folder) / f"{name}.json").write_text(text, encoding="utf-8")

    return write
