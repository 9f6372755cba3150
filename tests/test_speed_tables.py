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
    assert rows[2] == "| int8 | passerelle | 0.02 s | - | - | 10 s | 1.5 s | 1,234 MiB |"
    assert rows[3] == "| int8 | script | 1.50× | - | - | 0.80× | 1.5 s | 1,234 MiB |"
    assert "transformers" not in rows[-1]


def test_a_quality_stands_with_what_it_gives_and_costs() -> None:
    row = {
        "BLEU": 38.76,
        "chrF2": 63.17,
        "signature": "s",
        "sentences_per_core_second": 6.67,
        "latency_ms": 359.4,
    }
    record = {
        "general": {
            "engine": "int8",
            "beam_sizes": {"balanced": 5},
            "sets": {"news": {"lines": 200, "skipped": 100, "qualities": {"balanced": row}}},
            "machine": {"processor": "a CPU", "cores": 2, "load_average_1_min": 9.6},
            "versions": {"passerelle": "0.1.0"},
            "commit": "0123456789",
            "command": "python -m benchmarks.quality",
        }
    }
    rows = list(speed_tables.qualities(record))
    assert rows[2] == "| general | news | balanced | 5 | 38.8 | 63.2 | 6.7 | 359 ms |"
    assert rows[4].startswith("200 lines after the first 100 of development sets")
    assert rows[-1].startswith("Engine int8, a CPU; ")
