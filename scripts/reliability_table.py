"""Make the table of docs/reliability.md from docs/reliability: ``python -m scripts.reliability_table``.

It stands between ``<!-- promises -->`` and ``<!-- end of promises -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reliability"
PAGE = FOLDER.with_suffix(".md")

HEAD = "| | promise | what was done |\n|---|---|---|\n"
MARKED = re.compile(r"(<!-- promises -->\n).*?(<!-- end of promises -->)", re.DOTALL)

PROMISES = (
    "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "F1", "F2", "F3", "F5", "F6", "F7",
    "B1", "B2", "B4", "B5",
)  # fmt: skip


def reliability() -> str:
    """The table, and the machines it was made on."""
    rows = [_row(name) for name in PROMISES] + [_older(name, *about) for name, about in OLDER.items()]
    machines = sorted({_machine(record) for name in PROMISES if (record := _record(name)) is not None})
    machine = f"\nMachine: {'; '.join(machines)}.\n" if machines else ""
    return HEAD + "".join(rows) + machine


def fresh(page: str) -> str:
    """A page with the marked table made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{reliability()}{match[2]}", page)


def _row(name: str) -> str:
    record = _record(name)
    if record is None:
        return f"| {name} | | not run yet |\n"
    counts = {key: value for key, value in record["counts"].items() if key != "summary"}
    done = "; ".join(_count(key, value) for key, value in counts.items())
    return _line(name, name, record["promise"], done, record["lost"])


def _count(key: str, value: object) -> str:
    words = key.replace("_", " ")
    if isinstance(value, Mapping):
        return f"{words}: {', '.join(f'{name} {_number(number)}' for name, number in value.items())}"
    if isinstance(value, list):
        return f"{words}: {', '.join(map(str, value))}"
    if isinstance(value, int | float):
        return f"{_number(value)} {words}"
    return f"{words}: {value}"


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _pathologies(record: dict[str, Any]) -> tuple[str, int]:
    n_flags = sum(record["flags"].values())
    done = f"{record['texts']} texts, {record['characters']:,} characters, {n_flags} flags raised"
    return done, record["texts_that_broke_a_promise"]


def _markup(record: dict[str, Any]) -> tuple[str, int]:
    done = f"{record['texts']:,} texts, {record['tags']:,} tags, {record['emoji']:,} emoji"
    return done, sum(record["texts_with_a_problem"].values())


def _literals(record: dict[str, Any]) -> tuple[str, int]:
    n_kept = sum(kept for kept, _ in record["kept"].values())
    n_all = sum(of for _, of in record["kept"].values())
    done = f"{record['sentences']:,} sentences, {n_all:,} literals and numbers, {n_kept:,} kept"
    return done, record["lost_and_not_flagged"]


OLDER: dict[str, tuple[str, str, Callable[[dict[str, Any]], tuple[str, int]]]] = {
    "B7": (
        "pathologies",
        "pathological texts: bounded output, loops flagged, nothing cut silently, blank lines stay blank",
        _pathologies,
    ),
    "B8": (
        "markup",
        "generated HTML: the multiset of tags, white space and emoji are kept",
        _markup,
    ),
    "B9": (
        "literals",
        "numbers, URLs and other literals are kept or flagged",
        _literals,
    ),
}
"""Records that are about the model's translations, of shapes of their own."""


def _older(name: str, file: str, promise: str, read: Callable[[dict[str, Any]], tuple[str, int]]) -> str:
    record = _record(file)
    if record is None:
        return f"| {name} | {promise} | not run yet |\n"
    done, lost = read(record)
    return _line(name, file, promise, f"model {record['model']}; {done}", lost)


def _line(name: str, file: str, promise: str, done: str, lost: int) -> str:
    broken = f"; **lost or broken: {lost}**" if lost else ""
    return f"| [{name}](reliability/{file}.json) | {promise} | {done}{broken} |\n"


def _record(name: str) -> dict[str, Any] | None:
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def _machine(record: dict[str, Any]) -> str:
    machine = record["machine"]
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}"
    )


if __name__ == "__main__":
    PAGE.write_text(fresh(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
