"""Make the tables of the docs about training from their records; ``--check`` compares.

A table stands between ``<!-- NAME -->`` and ``<!-- end of table -->``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SPEED, FAULTS = Path("benchmarks/results/training.json"), Path("docs/reliability/training.json")
PREPARATION = Path("benchmarks/results/prepare.json")
ADAPTATION = Path("benchmarks/results/adaptation.json")
BLENDING = Path("benchmarks/results/blending.json")
QUALITY = Path("docs/reports/multi30k_best.json")
LEDGER = Path("docs/models/training_ledger.jsonl")
PUBLISHED = {
    "test_2016_flickr": (61.80, 63.71),
    "test_2017_flickr": (53.46, 56.17),
    "test_2017_mscoco": (44.52, 46.43),
}
"""Multi30k test set -> BLEU published for a Transformer-Tiny from text alone, and with pictures."""
PAGES = (
    *(Path("docs/training.md"), Path("docs/corpora.md")),
    *(Path("docs/models/general.md"), Path("docs/models/general_fr_en.md")),
)
POINTS_APART = 6_000_000
"""Target tokens between two rows of a model's curve."""
SHAPES = {"multi30k": "4+4 layers, d_model 256", "base": "Transformer base"}


def main() -> int:
    """Write the pages, or with ``--check`` report the stale ones; exit status 1 when there are any."""
    stale = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        fresh = with_tables(text)
        if fresh != text:
            stale.append(page)
            if "--check" not in sys.argv[1:]:
                (ROOT / page).write_text(fresh, encoding="utf-8")
    for page in stale:
        print(
            f"{page}: "
            + ("stale: run python scripts/training_tables.py" if "--check" in sys.argv else "written")
        )
    return 1 if stale and "--check" in sys.argv[1:] else 0


def with_tables(text: str) -> str:
    """A page with each of our tables made anew."""
    for name, (record, table) in TABLES.items():
        path = ROOT / record
        rows = (
            table(json.loads(path.read_text(encoding="utf-8")))
            if path.exists()
            else [f"Not measured: no `{record}`."]
        )
        marked = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end of table -->)", re.DOTALL)
        body = "\n".join(rows) + "\n"
        text = marked.sub(lambda match, body=body: f"{match[1]}{body}{match[2]}", text)
    ledger_lines = (ROOT / LEDGER).read_text(encoding="utf-8").splitlines()
    sittings = [json.loads(line) for line in ledger_lines]
    marked = re.compile(r"(<!-- ledger (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
    return marked.sub(
        lambda match: match[1] + "".join(f"{row}\n" for row in curve(sittings, match[2])) + match[3], text
    )


def curve(sittings: Sequence[dict[str, Any]], model: str) -> Iterator[str]:
    """Development BLEU of one model against its hours and target tokens.

    A row follows ``POINTS_APART`` target tokens after the last. Of weights alone and their mean with the
    former ones it shows the mean, of the last run both. Runs whose weights were left aside are not there.
    """
    points: list[tuple[str, float, dict[str, Any]]] = []
    hours = 0.0
    for sitting in sittings:
        run = sitting["models"].get(model, {})
        if run.get("shipped", True):
            points += [
                (sitting["sitting"][:10], hours + (point["hours"] or 0), point)
                for point in run.get("curve", ())
            ]
            hours += run.get("hours") or 0
    names = list(points[-1][2]["bleu"]) if points else []
    yield f"| | hours | millions of target tokens | {' | '.join(names)} |"
    yield "|---|--:|--:|" + "--:|" * len(names)
    last_at = {point["total_target_tokens"]: point for _, _, point in points}
    last = max(last_at, default=0)
    shown = -POINTS_APART
    for date, at, point in points:
        tokens = point["total_target_tokens"]
        if tokens != last and (tokens < shown + POINTS_APART or point is not last_at[tokens]):
            continue
        shown = tokens
        scores = (f"{point['bleu'][name]:.1f}" if name in point["bleu"] else "" for name in names)
        which = ", with the former" if point.get("blended") else ""
        yield f"| {date}{which} | {at:.1f} | {tokens / 1e6:.1f} | {' | '.join(scores)} |"


def speed(record: dict[str, Any]) -> list[str]:
    """Trainers side by side, a row for each shape and precision."""
    rows: list[str] = []
    for shape, title in SHAPES.items():
        for precision in ("fp32", "bf16"):
            case = record.get(shape, {}).get(precision)
            if case is None:
                continue
            ours, *peers = case["trainers"]
            if not rows:
                names = [trainer["name"] for trainer in peers]
                rows += [
                    f"| model | precision | {ours['name']} | utilisation | peak memory "
                    f"| {' | '.join(names)} |",
                    "|---|---|--:|--:|--:|" + "--:|" * len(names),
                ]
            cells = [
                f"{ours['target_tokens_per_second']:,.0f}",
                f"{ours['utilisation']:.1%}",
                f"{ours['peak_mib']:,} MiB",
                *(
                    f"{peer['target_tokens_per_second']:,.0f} ({peer['ours_over_theirs']:.2f} ×)"
                    for peer in peers
                ),
            ]
            rows.append(f"| {title} | {precision} | {' | '.join(cells)} |")
    machine, versions = record["machine"], record["peers"]
    fewest = min(
        len(case["rounds"]) for shape in SHAPES for case in record.get(shape, {}).values() if "rounds" in case
    )
    rows += [
        "",
        "Target tokens a second; in parentheses how many times as fast ours is, the median over rounds "
        f"([record](../{SPEED})). "
        f"{machine['processor']}, {machine['torch_threads']} threads; "
        + ", ".join(f"{name} {number}" for name, number in versions.items())
        + f"; at least {fewest} rounds each.",
    ]
    return rows


def preparation(record: dict[str, Any]) -> list[str]:
    """Time and memory of the smallest and the largest size, by number of processes."""
    rows = [
        "| pairs read | kept | processes | processor time | wall clock | pairs a second of processor time "
        "| peak memory: clean, sub-words, encode |",
        "|--:|--:|--:|--:|--:|--:|---|",
    ]
    sizes = sorted(run["pairs_read"] for run in record["runs"])
    ends = [run for run in record["runs"] if run["pairs_read"] in (sizes[0], sizes[-1])]
    for run in sorted(ends, key=lambda run: (run["processes"], run["pairs_read"])):
        peaks = ", ".join(f"{run['steps'][step]['peak_mib']:,}" for step in ("clean", "subwords", "encode"))
        rows.append(
            f"| {run['pairs_read']:,} | {run['pairs_written']:,} | {run['processes']} "
            f"| {run['processor_seconds']:,.0f} s | {run['wall_seconds']:,.0f} s "
            f"| {run['pairs_read'] / run['processor_seconds']:,.0f} | {peaks} MiB |"
        )
    machine = record["machine"]
    rows += [
        "",
        f"{machine['processor']}, {machine['cores']} cores that others used too, so that wall clock is an "
        f"upper bound. Recipe `{record['recipe']}` without caps and weights, {record['date'][:10]}.",
    ]
    return rows


def adaptation(record: dict[str, Any]) -> list[str]:
    """What was adapted, to what; the table of ``blending`` has the scores before and after."""
    before, after = (record["sets"][0][when]["chrF2"]["score"] for when in ("before", "after"))
    return [
        f"Model `{record['model']['name']}`, {record['own_pairs']:,} own pairs of `{record['domain']}` that "
        f"it had not seen, {record['training_processor_minutes']:.0f} core minutes "
        f"(`python -m benchmarks.adaptation`): chrF2 of `{record['sets'][0]['name']}` {before:.1f}, then "
        f"{after:.1f}."
    ]


def blending(record: dict[str, Any]) -> list[str]:
    """BLEU of each set by the share of the adapted model's weights."""
    shares = list(record["sets"][0]["BLEU"])
    names = {"0": "0: before", "1": "1: adapted"}
    rows = [
        "| set | " + " | ".join(names.get(share, share) for share in shares) + " |",
        "|---|" + "--:|" * len(shares),
    ]
    for one in record["sets"]:
        cells = " | ".join(f"{one['BLEU'][share]:.1f}" for share in shares)
        rows.append(f"| {one['name']} | {cells} |")
    rows += ["", f"BLEU, `{record['signature']}`, {record['sets'][0]['sentences']} sentences each."]
    return rows


def faults(record: dict[str, Any]) -> list[str]:
    """Each fault, and whether the promise was kept."""
    rows = ["| | fault | kept |", "|---|---|---|"]
    for name, result in record.items():
        if "kept" in result:
            rows.append(f"| {name} | {result['what']} | {'yes' if result['kept'] else '**no**'} |")
    return rows


def quality(record: dict[str, Any]) -> list[str]:
    """Multi30k: the whole recipe on the test sets, then what changes of it give on val."""
    seeds = sorted(run["seed"] for run in record["runs"] if not run["short"])
    rows = [
        f"| set | BLEU, mean of {len(seeds)} seeds | deviation | published: text alone | with pictures |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, score in record["scores"].items():
        text, pictures = (f"{value:.2f}" for value in PUBLISHED[name]) if name in PUBLISHED else ("", "")
        rows.append(f"| {name} | {score['mean']:.2f} | {score['deviation']:.2f} | {text} | {pictures} |")
    short = [run for run in record["runs"] if run["short"]]
    if short:
        (plain,) = (run["BLEU"]["val"] for run in short if run["change"] is None)
        rows += ["", "| change | updates | BLEU on val | difference |", "|---|--:|--:|--:|"]
        for run in short:
            score, updates = run["BLEU"]["val"], f"{run['training']['updates']:,}"
            apart = f"{score - plain:+.2f}" if run["change"] else ""
            rows.append(f"| {run['change'] or 'none'} | {updates} | {score:.2f} | {apart} |")
    rows += [
        "",
        f"Lower-cased, Moses-tokenised; signature `{record['runs'][0]['signature']}`; {record['date'][:10]}.",
    ]
    return rows


TABLES: dict[str, tuple[Path, Callable[[dict[str, Any]], list[str]]]] = {
    "speed of training": (SPEED, speed),
    "what was lost": (FAULTS, faults),
    "preparation": (PREPARATION, preparation),
    "adaptation": (ADAPTATION, adaptation),
    "blending": (BLENDING, blending),
    "quality": (QUALITY, quality),
}

if __name__ == "__main__":
    sys.exit(main())
