"""The table of docs/lectures.md from the record of ``scripts.ideas``."""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.ideas_variants import BY_NAME, IDEAS, SEEDS, Idea

ROOT = Path(__file__).resolve().parent.parent
PAGE, RECORD = ROOT / "docs" / "lectures.md", ROOT / "docs" / "lectures" / "ideas.jsonl"
SETS = ("val", "test_2016_flickr")


def lines_of(record: Path) -> list[dict[str, Any]]:
    """The runs of the record."""
    if not record.exists():
        return []
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def write_page(record: Path, *, check: bool) -> int:
    """Make the table of docs/lectures.md anew, or tell whether it is stale; the exit status."""
    text = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(<!-- ideas -->\n).*?(<!-- end of table -->)", re.DOTALL)
    body = "".join(f"{row}\n" for row in table(lines_of(record)))
    fresh = marked.sub(lambda match: f"{match[1]}{body}{match[2]}", text)
    if check:
        if fresh != text:
            print("docs/lectures.md is stale: python -m scripts.ideas --table", file=sys.stderr)
        return int(fresh != text)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


def table(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A row for each variant; of several runs of one variant and seed the last counts."""
    runs = {(line["idea"], line["seed"]): line for line in lines}
    by_idea = {name: [runs[name, seed] for seed in SEEDS if (name, seed) in runs] for name in BY_NAME}
    about = ["idea", "paper and section", "file", "recipe"]
    figures = ["BLEU val", "to its base", "BLEU test_2016_flickr", "kept", "parameters", "tokens/s"]
    figures = figures if lines else []
    yield f"| {' | '.join(about + figures)} |"
    yield f"|{'---|' * len(about)}{'--:|' * len(figures)}"
    for idea in IDEAS:
        found, base = by_idea[idea.name], by_idea[idea.base]
        files = ", ".join(f"[{Path(file).name}](../{file})" for file in idea.files)
        cells = [idea.name, idea.paper, files, _recipe(idea)]
        cells += _figures(idea, found, base) if lines else []
        yield f"| {' | '.join(cells)} |"
    yield ""
    if not lines:
        yield "Not measured yet: there is no `docs/lectures/ideas.jsonl`."
        return
    signatures = "`, `".join(sorted({line["signature"] for line in lines}))
    yield (
        f"Cased, detokenised; signature `{signatures}`. Mean of the seeds, each in brackets. Kept: names and "
        "numbers of 300 sentences that the model, without the pipeline, writes as they were. Speed: target "
        "tokens for each second of processor time in training, on one core of "
        f"{lines[-1]['machine']['processor']}."
    )
    for line in lines:
        if line["average_lagging"] is not None:
            lag = line["average_lagging"]
            yield f"\nAverage lagging of {line['idea']}, seed {line['seed']}: {lag} source pieces."


def _recipe(idea: Idea) -> str:
    shown = [change.replace("WORK/", "").replace("|", r"\|") for change in idea.changes]
    changes = " ".join(f"--set {change}" for change in shown)
    begins = "" if idea.begins_with is None else "--init-from MODEL"
    return f"`{' '.join(part for part in (idea.recipe, changes, begins) if part)}`"


def _figures(idea: Idea, found: Sequence[dict[str, Any]], base: Sequence[dict[str, Any]]) -> list[str]:
    if idea.is_pretraining or not found:
        return ["–"] * 6
    val, test = ([run["BLEU"][name] for run in found] for name in SETS)
    difference = "–"
    if base and idea.name != idea.base:
        gain = statistics.mean(val) - statistics.mean(run["BLEU"]["val"] for run in base)
        difference = f"{gain:+.1f}"
    rate = statistics.mean(run["tokens_per_cpu_second"] for run in found)
    shares = [run["kept_percent"] for run in found if run["kept_percent"] is not None]
    kept = f"{statistics.mean(shares):.0f} %" if shares else "–"
    return [
        _seeds(val),
        difference,
        _seeds(test),
        kept,
        f"{found[0]['parameters'] / 1e6:.2f} M",
        f"{rate:,.0f}",
    ]


def _seeds(scores: Sequence[float]) -> str:
    each = ", ".join(f"{score:.1f}" for score in scores)
    return f"{statistics.mean(scores):.1f} ({each})"
