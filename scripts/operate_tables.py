"""Make the tables of docs/operate.md and docs/engines.md from their records.

A table stands between ``<!-- numbers NAME -->`` and ``<!-- end of numbers -->``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = (Path("docs/operate.md"), Path("docs/engines.md"))
MARKED = re.compile(r"(<!-- numbers (?P<name>\S+) -->\n).*?(<!-- end of numbers -->)", re.DOTALL)
SERVING, IMAGE, REPLICAS, RAY = (
    "benchmarks/results/serving.json",
    "docs/reliability/image.json",
    "docs/reliability/replicas.json",
    "docs/reliability/ray.json",
)
BILLION = 10**9
MARGIN = 0.6
"""Of the measured rate that a core is planned to have: what comes is not even."""


def main() -> None:
    """Write the documents."""
    for path in DOCUMENTS:
        (ROOT / path).write_text(fresh((ROOT / path).read_text(encoding="utf-8")), encoding="utf-8")


def fresh(text: str) -> str:
    """A document with each marked table made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{_table(match['name'])}{match[3]}", text)


def _table(name: str) -> str:
    """A table; without its record, a sentence that says so."""
    try:
        return TABLES[name]()
    except FileNotFoundError as error:
        return f"Not measured yet: there is no `{Path(error.filename).name}`.\n"


def sizing() -> str:
    """Cores for a rate of requests."""
    record = _read(SERVING)
    rate = record["medians"]["service_texts_per_s"] / record["threads"]
    characters = record["n_characters"] / record["n_texts"]
    lines = [
        f"One core of {_machine(record)} translates {rate:.0f} sentences a second ({characters:.0f} "
        f"characters on average, {record['clients']} clients, [record](../{SERVING})). Planned for "
        f"{MARGIN:.0%} of that:",
        "",
        "| sentences a second at the busiest | cores that compute | as replicas of 2 cores |",
        "|--:|--:|--:|",
    ]
    for asked in (10, 50, 200, 1000):
        cores = -(-asked // (rate * MARGIN))
        lines.append(f"| {asked:,} | {cores:,.0f} | {max(2, -(-cores // 2)):,.0f} |")
    return "\n".join(lines) + "\n"


def image() -> str:
    """What the image holds."""
    record = _read(IMAGE)
    return (
        f"The CPU image has {record['bytes'] / 1e9:.2f} GB of files, its base included (at most 1.2 were "
        f"aimed at; [record](../{IMAGE})).\n"
    )


def replicas() -> str:
    """What became of requests while replicas died or went."""
    record = _read(REPLICAS)
    lines = [
        "| under load | times | requests | answered | refused | lost | sent again by the proxy | slowest |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, found in record["faults"].items():
        cells = (
            name,
            f"{found['times']}",
            f"{found['requests']:,}",
            f"{found['answered']:,}",
            f"{found['refused_with_retry_after']}",
            f"{found['lost']}",
            f"{found['sent_again_by_the_proxy']}",
            f"{found['slowest_s']} s",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"{record['clients']} clients, PostgreSQL {record['postgresql']}, HAProxy {record['haproxy']}, "
        f"{_machine(record)}; engine: {record['engine']}; `{record['command']}`, [record](../{REPLICAS}).",
    ]
    return "\n".join(lines) + "\n"


def ray() -> str:
    """The run that was killed and resumed."""
    record = _read(RAY)
    return (
        f"{record['shards']} shards, {record['workers']}: a worker and then the run were killed with "
        f"-9, and the same command went on. {record['shards_equal_byte_for_byte']} of {record['shards']} "
        f"shards are equal to those of a run without a break ([record](../{RAY})).\n"
    )


def plan() -> str:
    """A billion sentences on paper."""
    record = _read(SERVING)
    per_thousand = 1000 * record["threads"] / record["medians"]["offline_texts_per_s"]
    core_hours = per_thousand * BILLION / 1000 / 3600
    lines = [
        f"Measured, with nothing else on the machine: {per_thousand:.1f} core-seconds for 1,000 sentences of "
        f"{record['n_characters'] / record['n_texts']:.0f} characters ({_machine(record)}, "
        f"[record](../{SERVING})). For a billion that is {core_hours:,.0f} core-hours:",
        "",
        "| cores | hours | days |",
        "|--:|--:|--:|",
    ]
    for cores in (64, 1024):
        hours = core_hours / cores
        lines.append(f"| {cores:,} | {hours:,.1f} | {hours / 24:,.1f} |")
    return "\n".join(lines) + "\n"


TABLES: dict[str, Callable[[], str]] = {
    "image": image,
    "sizing": sizing,
    "replicas": replicas,
    "ray": ray,
    "plan": plan,
}


def _machine(record: dict[str, Any]) -> str:
    machine = record["machine"]
    return f"{machine.get('cpu', machine.get('processor'))} ({machine['cores']} cores)"


def _read(path: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((ROOT / path).read_text(encoding="utf-8"))
    return record


if __name__ == "__main__":
    main()
