"""docs/reliability.md is what the records say, and no record tells of a loss."""

from __future__ import annotations

import json
import re

import pytest

from scripts.reliability_table import FOLDER, PAGE, PROMISES, fresh, reliability


def test_the_table_is_made_from_the_records() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert reliability() in page, "docs/reliability.md is stale: run make tables"
    assert fresh(page) == page


@pytest.mark.parametrize("name", PROMISES)
def test_a_record_says_how_it_was_made_and_that_nothing_was_lost(name: str) -> None:
    path = FOLDER / f"{name}.json"
    if not path.exists():
        assert f"| {name} | | not run yet" in reliability()
        return
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["lost"] == 0
    assert record["counts"]
    assert record["machine"]["cores"] >= 1
    test = re.search(r"'(tests/reliability/\w+\.py)::(\w+)", record["command"])
    assert test
    assert f"def {test[2]}(" in (FOLDER.parents[1] / test[1]).read_text(encoding="utf-8")
