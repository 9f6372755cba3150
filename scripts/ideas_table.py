"""The table of docs/lectures.md from the record of ``scripts.ideas``."""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    about = ["idea and file", "paper and section", "recipe"]
    figures = ["val", "to its base", "flickr", "parameters, M", "tokens/s"] if lines else []
    yield f"| {' | '.join(about + figures)} |"
    yield f"|{'---|' * len(about)}{'--:|' * len(figures)}"
    for idea in IDEAS:
        if idea.is_pretraining:  # it is in the row of what begins with it
            continue
        cells = [_linked(idea), idea.paper, _recipe(idea)]
        cells += _figures(idea, by_idea[idea.name], by_idea[idea.base]) if lines else []
        yield f"| {' | '.join(cells)} |"
    yield ""
    if not lines:
        yield "Not measured yet: there is no `docs/lectures/ideas.jsonl`."
        return
    yield from _notes(by_idea)
    yield from _shares(
        by_idea,
        "kept_percent",
        "Names that no caption has and numbers, of 300 sentences, that the model writes as they were:",
        lambda idea: idea.corpus == "named",
    )
    yield from _shares(
        by_idea,
        "persons_percent",
        'Captions of `val` about "Someone" that begin with the right person:',
        lambda idea: idea.corpus in ("someone", "document"),
    )


def _notes(by_idea: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[str]:
    every = [run for runs in by_idea.values() for run in runs]
    signatures = "`, `".join(sorted({run["signature"] for run in every}))
    processors = " or ".join(sorted({run.get("timed_on", run["machine"]["processor"]) for run in every}))
    spread = [
        max(scores) - min(scores)
        for scores in ([run["BLEU"]["val"] for run in runs] for runs in by_idea.values())
        if len(scores) > 1
    ]
    apart = ""
    if spread:
        mean, most = statistics.mean(spread), max(spread)
        apart = f"; on `val` they differ by {mean:.1f} on average, by {most:.1f} at most"
    yield (
        f"Cased, detokenised BLEU on `val` and `test_2016_flickr`, signature `{signatures}`. Means of the "
        f"seeds{apart}. Speed: target tokens for each second of processor time in training, on one core of "
        f"{processors}."
    )
    for name, runs in by_idea.items():
        lags = [run["average_lagging"] for run in runs if run["average_lagging"] is not None]
        if lags:
            yield f"\nAverage lagging of {name}: {statistics.mean(lags):.1f} source pieces."


def _shares(
    by_idea: Mapping[str, Sequence[dict[str, Any]]], key: str, about: str, is_asked: Callable[[Idea], bool]
) -> Iterator[str]:
    shares = {name: [run[key] for run in runs] for name, runs in by_idea.items() if is_asked(BY_NAME[name])}
    if not any(shares.values()):
        return
    yield f"\n{about}\n"
    yield "| | share |"
    yield "|---|--:|"
    for name, each in shares.items():
        if each:
            yield f"| {name} | {statistics.mean(each):.0f} % |"


def _linked(idea: Idea) -> str:
    """The name as a link to its file, and what else it needs."""
    if not idea.files:
        return idea.name
    first, *others = idea.files
    also = "".join(f" ([{Path(file).name}](../{file}))" for file in others)
    return f"[{idea.name}](../{first}){also}"


def _recipe(idea: Idea) -> str:
    first = None if idea.begins_with is None else BY_NAME[idea.begins_with]
    before = f"`{_command(first)}`, then " if first is not None and first.is_pretraining else ""
    return f"{before}`{_command(idea)}`"


def _command(idea: Idea) -> str:
    shown = [change.replace("WORK/", "").replace("|", r"\|") for change in idea.changes]
    changes = " ".join(f"--set {change}" for change in shown)
    begins = "" if idea.begins_with is None else "--init-from MODEL"
    return " ".join(part for part in (idea.recipe, changes, begins) if part)


def _figures(idea: Idea, found: Sequence[dict[str, Any]], base: Sequence[dict[str, Any]]) -> list[str]:
    if not found:
        return [""] * 5
    val, test = (statistics.mean(run["BLEU"][name] for run in found) for name in SETS)
    difference = ""
    if base and idea.name != idea.base:
        difference = f"{val - statistics.mean(run['BLEU']['val'] for run in base):+.1f}"
    rate = statistics.mean(run["tokens_per_cpu_second"] for run in found)
    return [f"{val:.1f}", difference, f"{test:.1f}", f"{found[0]['parameters'] / 1e6:.2f}", f"{rate:,.0f}"]
