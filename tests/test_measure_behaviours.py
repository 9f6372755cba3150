"""docs/behaviours_record.md shows what its record holds."""

from __future__ import annotations

import json

from scripts.measure_behaviours import RECORD, table


def test_the_table_of_behaviours_is_that_of_its_record() -> None:
    record = json.loads(RECORD.read_text(encoding="utf-8"))

    assert table(record) in (RECORD.parent.parent / "behaviours_record.md").read_text(encoding="utf-8")
    assert all(0 <= row["kept_after"] <= row["cases"] for row in record["rows"])
