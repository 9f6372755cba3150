"""Make the tables of decoding speed in README.md and docs/decoding.md; ``--check`` tells if they are stale.

They stand between ``<!-- decoding short -->`` or ``<!-- decoding long -->`` and ``<!-- end of decoding -->``
and come from benchmarks/results/decoding.json (``python -m benchmarks.decoding``).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECORD = Path("benchmarks/results/decoding.json")
DOCUMENTS = (Path("README.md"), Path("docs/decoding.md"))
MARKED = re.compile(r"(<!-- decoding (?P<kind>short|long) -->\n).*?(<!-- end of decoding -->)", re.DOTALL)
BATCHES = ("1", "16", "64", "stream")
SHORT_BEAMS = (1, 5)
Case = dict[str, Any]


def main() -> int:
    """Write the files, or with ``--check`` report the stale ones; exit status 1 when there are any."""
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in DOCUMENTS}
    stale = [path for path, text in texts.items() if fresh(text) != text]
    for path in stale:
        if "--check" in sys.argv[1:]:
            print(f"{path} is stale: run python scripts/decoding_table.py", file=sys.stderr)
        else:
            (ROOT / path).write_text(fresh(texts[path]), encoding="utf-8")
            print(f"wrote {path}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


def fresh(text: str) -> str:
    """A document with its tables made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{table(match['kind'])}{match[3]}", text)


def table(kind: str) -> str:
    """A table of the record; without one, a sentence that says so."""
    if not (ROOT / RECORD).exists():
        return f"Not measured yet: there is no `{RECORD}`.\n"
    record = json.loads((ROOT / RECORD).read_text(encoding="utf-8"))
    return short_table(record) if kind == "short" else long_table(record)


def short_table(record: dict[str, Any]) -> str:
    """Tokens a second and the ratio to CTranslate2, by model and precision."""
    cases = {(c["model"], c["precision"], c["batch"], c["beam"]): c for c in record["cases"]}
    rows = list(dict.fromkeys(key[:2] for key in cases))
    columns = [(batch, beam) for batch in BATCHES for beam in SHORT_BEAMS]
    names = [f"{batch}, {'greedy' if beam == 1 else f'beam {beam}'}" for batch, beam in columns]
    lines = [
        f"| model | precision | {' | '.join(names)} |",
        f"|---|---|{'--:|' * len(columns)}",
    ]
    for row in rows:
        cells = [_short_cell(cases.get((*row, *column))) for column in columns]
        lines.append(f"| {row[0]} | {row[1]} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", _machine(record), ""])


def long_table(record: dict[str, Any]) -> str:
    """Every contestant of every case."""
    lines = [
        "| model | precision | sentences at once | beam | contestant | tokens/s | ours to it | sentences/s "
        "| p50 ms | p95 ms | peak MiB | BLEU | share of the bound |",
        "|---|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for case in record["cases"]:
        for name, entry in case["contestants"].items():
            ratio = entry.get("ours_to_it")
            cells = [
                case["model"],
                case["precision"],
                case["batch"],
                str(case["beam"]),
                name,
                f"{entry['tokens_per_s']:,.0f}",
                "" if ratio is None else f"{ratio:.2f}",
                f"{entry['sentences_per_s']:,.1f}",
                f"{1000 * entry['p50_s']:,.0f}",
                f"{1000 * entry['p95_s']:,.0f}",
                f"{entry['peak_mib']:,.0f}",
                f"{entry['bleu']:.2f}" if "bleu" in entry else "",
                f"{100 * entry['tokens_per_s'] / case['bound_tokens_per_s']:.0f} %",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", _machine(record), "", *_limits(record), ""])


def ratio_to_ctranslate2(case: Case) -> float | None:
    """Ours to the faster of its ways; None: it did not take part."""
    ratios = [
        entry["ours_to_it"]
        for name, entry in case["contestants"].items()
        if name.startswith("ctranslate2") and "ours_to_it" in entry
    ]
    return min(ratios, default=None)


def _short_cell(case: Case | None) -> str:
    if case is None:
        return "–"
    ratio = ratio_to_ctranslate2(case)
    speed = f"{case['contestants']['ours']['tokens_per_s']:,.0f}"
    return speed if ratio is None else f"{speed} ({ratio:.2f})"


def _machine(record: dict[str, Any]) -> str:
    machine, versions = record["machine"], record["versions"]
    peers = ", ".join(f"{name} {versions[name]}" for name in versions if name not in ("python", "passerelle"))
    return (
        f"{machine['cpu']}, {record['threads']} threads, {' '.join(machine['flags'])}; {peers}; "
        f"test set {record['test_set']}."
    )


def _limits(record: dict[str, Any]) -> list[str]:
    lines = [
        "| model | GB/s, a buffer of its size | GB/s, 1 GiB | GFLOP/s float32 | bfloat16 | int8 (Gop/s) |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for model, limits in record["limits"].items():
        names = ("bytes_per_s_weights", "bytes_per_s_memory", *(f"operations_per_s_{p}" for p in _PRECISIONS))
        cells = (f"{limits[name] / 1e9:,.0f}" if name in limits else "–" for name in names)
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    return lines


_PRECISIONS = ("float32", "bfloat16", "int8")


if __name__ == "__main__":
    sys.exit(main())
