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
    assert rows[-1] == "| T1 | kills | **no** |"


def test_the_table_of_speed_has_a_column_for_each_trainer(tables: ModuleType) -> None:
    trainer = {
        "target_tokens_per_second": 1234.5,
        "utilisation": 0.25,
        "peak_mib": 900,
        "ours_over_theirs": 1.5,
    }
    record = {
        "multi30k": {
            "bf16": {
                "trainers": [{"name": "passerelle", **trainer}, {"name": "peer", **trainer}],
                "rounds": [{}] * 7,
            }
        },
        "machine": {"processor": "P", "torch_threads": 2},
        "peers": {"torch": "2"},
    }
    rows = tables.speed(record)
    assert rows[:3] == [
        "| model | precision | passerelle | utilisation | peak memory | peer |",
        "|---|---|--:|--:|--:|--:|",
        "| 4+4 layers, d_model 256 | bf16 | 1,234 | 25.0% | 900 MiB | 1,234 (1.50 ×) |",
    ]
    assert "at least 7 rounds each" in rows[-1]


def test_the_table_of_preparation_goes_by_processes_and_size(tables: ModuleType) -> None:
    def run(pairs: int, processes: int) -> dict[str, object]:
        return {
            "pairs_read": pairs,
            "pairs_written": pairs - 1,
            "processes": processes,
            "processor_seconds": 2.0,
            "wall_seconds": 1.5,
            "steps": {
                step: {"peak_mib": 1000 + processes} for step in ("read", "clean", "subwords", "encode")
            },
        }

    record = {
        "recipe": "R",
        "date": "2026-01-02T03:04:05Z",
        "machine": {"processor": "P", "cores": 2},
        "runs": [run(2000, 1), run(2000, 2), run(1000, 1)],
    }
    rows = tables.preparation(record)
    assert [row.split(" | ")[0] for row in rows[2:5]] == ["| 1,000", "| 2,000", "| 2,000"]
    assert rows[4] == "| 2,000 | 1,999 | 2 | 2 s | 2 s | 1,000 | 1,002, 1,002, 1,002 MiB |"


def test_the_line_of_adaptation_has_both_scores_of_the_domain(tables: ModuleType) -> None:
    scores = {"BLEU": {"score": 30.04}, "chrF2": {"score": 55.5}}
    better = {"BLEU": {"score": 40.0}, "chrF2": {"score": 65.5}}
    record = {
        "model": {"name": "M"},
        "domain": "D",
        "own_pairs": 20000,
        "training_processor_minutes": 7.4,
        "sets": [{"name": "domain", "sentences": 500, "before": scores, "after": better}],
    }
    rows = tables.adaptation(record)
    assert "20,000 own pairs of `D`" in rows[0]
    assert "7 core minutes" in rows[0]
    assert "chrF2 of `domain` 55.5, then 65.5" in rows[0]


def test_the_table_of_quality_tells_test_sets_and_what_changes_give(tables: ModuleType) -> None:
    def run(seed: int, val: float, *, short: bool = False, change: str | None = None) -> dict[str, object]:
        training = {"updates": 1300 if short else 7000}
        scores = {"val": val}
        return {
            "seed": seed,
            "short": short,
            "change": change,
            "training": training,
            "BLEU": scores,
            "signature": "S",
        }

    record = {
        "scores": {
            "val": {"mean": 60.5, "deviation": 0.5},
            "test_2016_flickr": {"mean": 62.004, "deviation": 0.1},
        },
        "runs": [
            run(1, 60.0),
            run(2, 61.0),
            run(1, 55.0, short=True),
            run(1, 53.75, short=True, change="R-Drop"),
        ],
        "date": "2026-01-02T03:04:05Z",
    }
    rows = tables.quality(record)
    assert "mean of 2 seeds" in rows[0]
    assert rows[2:4] == [
        "| val | 60.50 | 0.50 |  |  |",
        "| test_2016_flickr | 62.00 | 0.10 | 61.80 | 63.71 |",
    ]
    assert rows[7:9] == ["| none | 1,300 | 55.00 |  |", "| R-Drop | 1,300 | 53.75 | -1.25 |"]


@pytest.mark.parametrize("name", ["general", "general_fr_en"])
def test_the_card_in_a_model_folder_is_that_of_the_docs(name: str) -> None:
    card = ROOT / "nmt" / "pretrained" / name / "card.md"
    assert card.read_text(encoding="utf-8") == (ROOT / "docs" / "models" / f"{name}.md").read_text(
        encoding="utf-8"
    )
