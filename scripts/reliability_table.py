"""Write docs/reliability.md from the records in docs/reliability: ``python -m scripts.reliability_table``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reliability"
PAGE = FOLDER.with_suffix(".md")

HEAD = """# What is promised, and what was found

Each promise is a test against `nmt serve` as a process of its own, over loopback: a short form in the
default tests, and a full count, run once, whose record is linked in the table. Made by `make tables` from
those records; a test that loses anything fails and writes none.

Two engines take the model's place. STUB is deterministic: a text of n words takes n steps of 5 ms, 16 texts
at once, and words in a text are orders to die, stop, hang or fail (`tests/reliability/stub_engine.py`).
TINY is a real Transformer of width 16 in running batches, on the CPU, whose decoder fails for chosen
sentences (`tests/reliability/tiny_engine.py`). Where neither is named it is the model that ships. The short
forms compare counts and steps of the engine, never seconds, so that a busy machine cannot fail them.

"Accepted" is a request that reached the application: it is in the log, with its id and status. A connection
that the kernel still had in its queue when the server was told to end was never accepted, and is reset;
what stands before several servers tries the next (docs/operate.md).

| | promise | what was done | lost or broken | record, command |
|---|---|---|---|---|
"""
TAIL = """
The commands need `make venv`; B1 needs the extra `reliability` (schemathesis) too, L4 `slowhttptest`, L1
and L2 `hey`, both in Debian. L1, L2, L3 and L7 want a machine that does nothing else.

## What had to be mended

- The body was read before the key was asked for. Now a key is asked for at every address but the public
  ones before a byte of the body is read; where the key itself is in the body (`/libretranslate`) the body's
  limits of size and time stand before it.
- A head of 64 KiB, or of any size that arrived in one piece, was accepted. Now 431 over 16 KiB.
- A client that did not read its answer, or did not end a body that nobody wanted, held its connection for
  ever. Both have deadlines (`PASSERELLE_WRITE_TIMEOUT_S`, `PASSERELLE_HEADER_TIMEOUT_S`).
- A full log disk failed requests, and ended the thread that watches over the engine. Now lines are lost and
  counted, nothing else.
- A request on its way on an idle connection when the server was told to end was cut off. Now it is
  answered; and SIGTERM in the moment before the server listens is no longer forgotten.
- A request refused for a full queue wrote to the database twice.
- Under four times what it can do, a server spent itself on refusals: each had its body read and checked
  first. Now nothing is read while every queue is full (`service/calls/overload.py`).
- A refusal still cost 1.8 ms of processor time, for it counted all that waits, and what passed that check
  was charged before it had a place. Totals are kept, a place comes first, and a refusal costs 0.4 ms. Answers
  that are ready together were written in one go, up to a tenth of a second, and full garbage collections took
  a sixth of one: refusals waited for both. Now each answer has a turn of the event loop, and what the server
  has loaded is left out of collections.
- A model folder whose manifest was cut short by its last byte, or had a line break flipped into another
  white space, was loaded.

## Vulnerabilities of dependencies

`make audit` looks up every pinned package with pip-audit; CI runs it and tells what it finds. It does not
call clean what could not be looked up: where these records were made, the index in use has no advisories (0
of 161 packages looked up) and PyPI's own could not be reached, so no audit has been recorded.
"""

PROMISES = (
    "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "F1", "F2", "F3", "F5", "F6", "F7",
    "B1", "B2", "B4", "B5",
)  # fmt: skip


def reliability() -> str:
    """The whole page."""
    rows = [_row(name) for name in PROMISES] + [_older(name, *about) for name, about in OLDER.items()]
    machines = sorted({_machine(record) for name in PROMISES if (record := _record(name)) is not None})
    machine = f"\nMachine: {'; '.join(machines)}.\n" if machines else ""
    return HEAD + "".join(rows) + machine + TAIL


def _row(name: str) -> str:
    record = _record(name)
    if record is None:
        return f"| {name} | | not run yet | | |\n"
    done = "; ".join(_count(key, value) for key, value in record["counts"].items())
    lost = record["lost"] or "nothing"
    where = f"[{name}.json](reliability/{name}.json), `{record['command']}`"
    return f"| {name} | {record['promise']} | {done} | {lost} | {where} |\n"


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


OLDER: dict[str, tuple[str, str, str, Callable[[dict[str, Any]], tuple[str, int]]]] = {
    "B7": (
        "pathologies",
        "pathological texts: bounded output, loops flagged, nothing cut silently, blank lines stay blank",
        "python -m scripts.reliability pathologies",
        _pathologies,
    ),
    "B8": (
        "markup",
        "generated HTML: the multiset of tags, white space and emoji are kept",
        "PASSERELLE_RECORD=docs/reliability pytest -m slow tests/nmt/markup/test_generated.py",
        _markup,
    ),
    "B9": (
        "literals",
        "numbers, URLs and other literals are kept or flagged",
        "PASSERELLE_RECORD=docs/reliability pytest -m slow tests/nmt/text/test_generated_literals.py",
        _literals,
    ),
}
"""Records that are about the model's translations, of shapes of their own."""


def _older(
    name: str, file: str, promise: str, command: str, read: Callable[[dict[str, Any]], tuple[str, int]]
) -> str:
    record = _record(file)
    if record is None:
        return f"| {name} | {promise} | not run yet | | `{command}` |\n"
    done, lost = read(record)
    where = f"[{file}.json](reliability/{file}.json), `{command}`"
    return f"| {name} | {promise} | model {record['model']}; {done} | {lost or 'nothing'} | {where} |\n"


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
    PAGE.write_text(reliability(), encoding="utf-8")
