"""The pages' tables of speed are those of the committed records."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import speed_tables


@pytest.mark.parametrize("page", speed_tables.PAGES, ids=str)
def test_every_page_is_fresh(page: Path) -> None:
    text = (speed_tables.ROOT / page).read_text(encoding="utf-8")
    assert speed_tables.fresh(page) == text, "run make tables"


def test_a_contestant_stands_beside_ours_with_the_ratio_of_times() -> None:
    found = {"start_s": 1.5, "memory_mib": 1234, "seconds": {"1": 0.02, "1000": 10.0}}
    record = {
        "contestants": {
            "int8": {"passerelle": found, "script": {**found, "seconds": {"1": 0.03, "1000": 8.0}}}
        },
        "machine": {"cpu": "a CPU", "cores": 2},
        "versions": {"ctranslate2": "4.8.5", "transformers": ""},
        "commit": "0123456789",
        "command": "python -m benchmarks.end_to_end",
    }
    rows = list(speed_tables.end_to_end(record))
    assert rows[3] == "| int8 | script | 0.03 s (1.50) | - | - | 8 s (0.80) | 1.5 s | 1,234 MiB |"
    assert "transformers" not in rows[-1]
