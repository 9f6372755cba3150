"""The table of docs/alignment.md is that of the committed record."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import alignment

ROOT = Path(__file__).parent.parent


def test_the_page_is_fresh() -> None:
    record = json.loads((ROOT / "benchmarks/results/alignment.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs/alignment.md").read_text(encoding="utf-8")

    assert alignment.with_table(page, alignment.table(record["methods"], alignment.SETS)) == page


def test_the_table_shows_the_best_layer_of_attention_alone() -> None:
    def rates(aer: float) -> dict[str, dict[str, float]]:
        return {name: {"aer": aer, "precision": 90.0, "recall": 80.0} for name in alignment.SETS}

    rows = {
        "attention layer 0, forward": rates(30.0),
        "attention layer 1, forward": rates(20.0),
        "aligner (eager), rule": rates(5.0),
        "aligner, union": rates(7.0),
        "aligner, rule": rates(4.0),
    }

    made = alignment.table(rows, alignment.SETS)

    assert made.splitlines()[2:] == [
        "| attention layer 1, forward | 20.0 | 20.0 | 20.0 | 90.0 | 80.0 |",
        "| aligner, rule | 4.0 | 4.0 | 4.0 | 90.0 | 80.0 |",
    ]
