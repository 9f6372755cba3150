"""Make the tables of docs/engines.md, docs/scheduling.md, docs/quality.md from records of ``benchmarks``.

python -m scripts.speed_tables [--check]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORDS = Path("benchmarks/results")
SIZES = ("1", "16", "64", "1000")
PAGES = (Path("docs/engines.md"), Path("docs/scheduling.md"), Path("docs/quality.md"))


def main() -> int:
    """Write the tables, or with ``--check`` report stale ones; exit status 1 when there are any."""
    stale = [page for page in PAGES if fresh(page) != _read(page)]
    if "--check" in sys.argv[1:]:
        print("".join(f"{path} is stale: run make tables\n" for path in stale), end="", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        (ROOT / path).write_text(fresh(path), encoding="utf-8")
        print(f"wrote {path}")
    return 0


def fresh(path: Path) -> str:
    """The document with its tables made anew."""
    text = _read(path)
    for name, rows in (("end_to_end", end_to_end), ("serving", serving), ("quality", qualities)):
        record = ROOT / RECORDS / f"{name}.json"
        if record.exists():
            table = "\n".join(rows(json.loads(record.read_text(encoding="utf-8"))))
            marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
            text = marked.sub(lambda match, table=table: f"{match[1]}{table}\n{match[2]}", text)
    return text


def end_to_end(record: dict[str, Any]) -> Iterator[str]:
    """Seconds and ratios by contestant and number of lines."""
    yield (
        "| precision | contestant | " + " | ".join(f"{size} lines" for size in SIZES) + " | start | memory |"
    )
    yield "|---|---|" + "--:|" * (len(SIZES) + 2)
    for precision, contestants in record["contestants"].items():
        ours = contestants["passerelle"]["seconds"]
        for name, found in contestants.items():
            cells = [
                "-"
                if size not in found["seconds"]
                else f"{ours[size]:.3g} s"
                if found is contestants["passerelle"]
                else f"{found['seconds'][size] / ours[size]:.2f}×"
                for size in SIZES
            ]
            yield (
                f"| {precision} | {name} | {' | '.join(cells)} | {found['start_s']:.1f} s "
                f"| {found['memory_mib']:,} MiB |"
            )
    yield ""
    yield "With ×: as a multiple of our time. Start: from the start of the process to its first line."
    if any("big" in precision for precision in record["contestants"]):
        yield "base, big: the same model grown (`nmt grow`) to 49 and 188 million parameters."
    alike: dict[int, list[str]] = {}
    for precision, contestants in record["contestants"].items():
        equal = contestants["passerelle"].get("equal_alone_and_together")
        if equal is not None:
            alike.setdefault(equal, []).append(precision)
    for equal, precisions in alike.items():
        lines = f"{equal:,} of {record['lines']:,} lines"
        yield f"{', '.join(precisions)}: {lines} have the same translation alone."
    yield ""
    yield _provenance(record)


def serving(record: dict[str, Any]) -> Iterator[str]:
    """What 64 clients get, beside an offline call and beside one text at a time."""
    ratios, targets, medians = record["ratios"], record["targets"], record["medians"]
    yield "| | measured | aimed at |"
    yield "|---|--:|--:|"
    for name, label in {
        "service_to_offline": "rate of the service, of an offline call",
        "service_to_one_at_a_time": "rate of the service, of a server that translates one text at a time",
        "short_p95_loaded_to_alone": "95th percentile of a short text beside long ones, of that alone",
    }.items():
        yield f"| {label} | {ratios[name]:.2f} | {targets[name]} |"
    alone, loaded = (1000 * medians[f"short_p95_{name}_s"] for name in ("alone", "loaded"))
    yield ""
    yield f"A short text takes {alone:.0f} ms alone and {loaded:.0f} ms beside long ones (95th percentiles)."
    yield ""
    yield _provenance(record)


def qualities(record: dict[str, Any]) -> Iterator[str]:
    """What each quality gives and costs, by model and set."""
    yield "| model | set | quality | beam | BLEU | chrF2 | sentences a second of one core | latency of one |"
    yield "|---|---|---|--:|--:|--:|--:|--:|"
    for model, found in record.items():
        for name, one in found["sets"].items():
            for quality, row in one["qualities"].items():
                yield (
                    f"| {model} | {name} | {quality} | {found['beam_sizes'][quality]} | {row['BLEU']:.1f} "
                    f"| {row['chrF2']:.1f} | {row['sentences_per_core_second']:.1f} "
                    f"| {row['latency_ms']:.0f} ms |"
                )
    sizes = {(one["lines"], one["skipped"]) for found in record.values() for one in found["sets"].values()}
    signatures = {
        row["signature"]
        for found in record.values()
        for one in found["sets"].values()
        for row in one["qualities"].values()
    }
    yield ""
    lines = " or ".join(f"{n} lines after the first {skipped}" for n, skipped in sorted(sizes))
    yield (
        f"{lines.capitalize()} of development sets; latency is a median. "
        f"BLEU {', '.join(f'`{one}`' for one in sorted(signatures))}."
    )
    machines = {(found["engine"], found["machine"]["processor"]) for found in record.values()}
    yield ""
    yield (
        "; ".join(f"Engine {engine}, {processor}" for engine, processor in sorted(machines))
        + "; `python -m benchmarks.quality`, [record](../benchmarks/results/quality.json)."
    )


def _provenance(record: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items() if number)
    return (
        f"{record['machine']['cpu']}, {record['machine']['cores']} cores; {versions}; commit "
        f"{record['commit'][:7]}; `{record['command']}`."
    )


def _read(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
