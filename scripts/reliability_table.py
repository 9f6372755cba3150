"""Make the table of docs/reliability.md from docs/reliability: ``python -m scripts.reliability_table``.

It stands between ``<!-- promises -->`` and ``<!-- end of promises -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reliability"
PAGE = FOLDER.with_suffix(".md")

HEAD = "| | promise | what was done |\n|---|---|---|\n"
MARKED = re.compile(r"(<!-- promises -->\n).*?(<!-- end of promises -->)", re.DOTALL)

PROMISES = {
    "L1": "{requests:,} requests, p99 {p99_in_p50} × p50",
    "L2": "{goodput_share_of_capacity:.0%} of capacity, rejects p99 {rejects_p99_ms} ms",
    "L3": "short p95 {p95_in_p95_alone} × alone",
    "L4": "{clients} clients, {probes_answered:,} of {probes:,} probes answered",
    "L5": "{probes_answered:,} of {probes:,} probes answered",
    "L6": "{seconds_until_seen_out_of_the_batch} s",
    "L7": "{requests:,} requests, {grown_mb} MB",
    "L8": "{batches}",
    "F1": "{requests_accepted_and_answered} accepted and answered, longest exit {longest_seconds_to_exit} s",
    "F2": "not ready after {longest_seconds_until_not_ready} s, back after {longest_seconds_until_back} s",
    "F3": "{stops} stops, back after {longest_seconds_until_back} s",
    "F5": "{batches} batches, {sound_sentences:,} sound sentences",
    "F6": "recovered after {longest_seconds_to_recover} s",
    "F7": "{files} files, {flips_and_cuts_caught} flips and cuts caught",
    "B1": "{operations} operations, {requests:,} requests",
    "B2": "{texts:,} texts, {naughty_strings} naughty strings",
    "B4": "{requests:,} requests",
    "B5": "{routes} routes, {requests:,} requests",
}  # fmt: skip
"""Each promise, and what of its record's counts the table tells."""


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
    done = PROMISES[name].format(**{key: _total(value) for key, value in record["counts"].items()})
    if engine := record["counts"].get("engine"):
        done = f"{engine}: {done}"
    return _line(name, name, record["promise"], done, record["lost"])


def _total(count: object) -> object:
    """The sum of a count that has parts."""
    return sum(count.values()) if isinstance(count, dict) else count


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
