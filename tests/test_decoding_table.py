"""The tables of decoding speed show the numbers of their record, and CTranslate2 at its faster way."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import decoding_table

ROOT = Path(__file__).parent.parent


def entry(tokens_per_s: float, **more: float) -> dict[str, float]:
    return {
        "tokens_per_s": tokens_per_s,
        "sentences_per_s": 1,
        "p50_s": 0.1,
        "p95_s": 0.2,
        "peak_mib": 9,
        **more,
    }


RECORD = {
    "threads": 2,
    "test_set": "test.en",
    "machine": {"cpu": "CPU", "flags": ["avx2"]},
    "versions": {"python": "3", "torch": "2"},
    "limits": {},
    "cases": [
        {
            "model": "small",
            "precision": "int8",
            "batch": "stream",
            "beam": 5,
            "bound_tokens_per_s": 400.0,
            "contestants": {
                "ours": entry(200.0, bleu=30.126),
                "ctranslate2": entry(50.0, ours_to_it=4.0),
                "ctranslate2 in parallel": entry(80.0, ours_to_it=2.5),
                "huggingface": entry(10.0, ours_to_it=20.0),
            },
        }
    ],
}


@pytest.mark.parametrize("document", decoding_table.DOCUMENTS, ids=str)
def test_tables_are_fresh(document: Path) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")

    assert decoding_table.MARKED.search(text)
    assert decoding_table.fresh(text) == text, "run python scripts/decoding_table.py"


def test_the_ratio_shown_is_to_the_faster_way_of_ctranslate2() -> None:
    assert "| small | int8 | – | – | – | – | – | – | – | 200 (2.50) |" in decoding_table.short_table(RECORD)


def test_the_long_table_has_a_line_for_each_contestant() -> None:
    lines = decoding_table.long_table(RECORD).splitlines()

    assert "| small | int8 | stream | 5 | ours | 200 |  | 1.0 | 100 | 200 | 9 | 30.13 | 50 % |" in lines
    assert "| small | int8 | stream | 5 | huggingface | 10 | 20.00 | 1.0 | 100 | 200 | 9 |  | 2 % |" in lines
