"""The pages' tables about training are those of the committed records."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("training_tables", ROOT / "scripts" / "training_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_fresh(tables: ModuleType) -> None:
    for page in tables.PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert tables.with_tables(text) == text, f"{page} is stale: run make tables"


def test_a_promise_that_was_broken_is_not_called_kept(tables: ModuleType) -> None:
    rows = tables.faults(
        {"T1": {"what": "kills", "kills": 50, "equal": False, "kept": False, "seconds": 1.0}}
    )
    assert rows[-1] == "| T1 | kills | kills 50, equal False | **no** |"


def test_the_table_of_speed_has_a_row_for_each_trainer(tables: ModuleType) -> None:
    trainer = {
        "target_tokens_per_second": 1234.5,
        "utilisation": 0.25,
        "peak_mib": 900,
        "ours_over_theirs": 1.5,
    }
    record = {
        "multi30k": {"bf16": {"trainers": [{"name": "passerelle", **trainer}, {"name": "peer", **trainer}]}},
        "machine": {"processor": "P", "torch_threads": 2},
        "peers": {"torch": "2"},
    }
    rows = tables.speed(record)
    assert rows[2:4] == [
        "| 4+4 layers, d_model 256 | bf16 | passerelle | 1,234 | 25.0% | 900 MiB |  |",
        "| 4+4 layers, d_model 256 | bf16 | peer | 1,234 | 25.0% | 900 MiB | 1.50 × |",
    ]
