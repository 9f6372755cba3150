"""``report.html`` of a prepared corpus: what ``report.json`` says, for people, with pairs to look at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from training.data.clean import REASONS
from training.data.shards import REPORT
from training.page import templates

PAGE = "report.html"
MEANINGS: Mapping[str, str] = {
    "empty": "a side is empty",
    "control_characters": "control characters, or marks of an earlier loss",
    "too_long": "too many words or characters",
    "length_ratio": "one side much longer than the other",
    "identical": "copied source",
    "few_letters": "mostly digits and symbols",
    "digits": "many digits",
    "unlikely_length": "a length that a translation rarely has (Gale and Church 1993)",
    "language": "a side in another language",
    "overlap": "the source is in a development or test set",
    "duplicate": "the pair was there before",
    "too_many_tokens": "too many sub-words",
}


def write_page(folder: Path) -> None:
    """Write the page beside the ``report.json`` that it shows."""
    report: dict[str, Any] = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    sources = report["train"]["sources"]
    total = {reason: sum(source["dropped"][reason] for source in sources) for reason in REASONS}
    page = (
        templates()
        .get_template("prepared.html")
        .render(
            report=report,
            sources=sources,
            total=total,
            reasons=[reason for reason in REASONS if total[reason]],
            unused=[reason for reason in REASONS if not total[reason]],
            meanings=MEANINGS,
            n_read=sum(source["read"] for source in sources),
            languages=[key for key, value in report["train"].items() if isinstance(value, dict)],
        )
    )
    (folder / PAGE).write_text(page, encoding="utf-8")
