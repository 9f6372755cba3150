"""Multi30k on the literature's scale: the best recipe from several seeds, and what each part of it is worth.

    python -m scripts.multi30k --set data.dir=DIR --work WORK --json docs/reports/multi30k_best.json

The whole recipe is trained from each seed and scored on ``val`` and on the test sets; then once more
without each of its parts, from the first seed, and scored on ``val`` alone: no choice is made on a test set.
BLEU is of lower-cased, Moses-tokenised text ("training/scoring.py"). Runs are kept in WORK and go on where
they were stopped; the record is written after each, so that the work may be spread over days.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt.checkpoint import resolve_model
from nmt.translator import Translator
from scripts.runs import trained
from training.evaluate import describe_model, evaluate_on, search_options
from training.provenance import provenance
from training.recipe import load_recipe
from training.run_log import RunLog
from training.testset import TestSet

RECIPE = "multi30k_best"
WHOLE = "whole"
WITHOUT: dict[str, tuple[str, ...]] = {
    "R-Drop": ("training.r_drop=0",),
    "BPE dropout": ("training.subword_sampling=0",),
    "Muon (AdamW)": ("training.optimizer=adamw",),
    "lower case": ("tokenizer.normalization=nmt_nfkc",),
    "averaging": ("training.average_last=1",),
    "dropout 0.3 (0.1)": ("model.dropout=0.1",),
    "d_model 128 (256)": ("model.d_model=256", "model.d_ff=512"),
}
"""A part of the recipe -> what takes it away, or puts what is usual in its place."""
VAL = "val"
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")


def main() -> None:
    """Train the models that are not there yet, score all, write the record."""
    arguments = _arguments()
    record: dict[str, Any] = {"recipe": RECIPE, "overrides": arguments.overrides, "runs": []}
    for part, seed in _plan(arguments.seeds, arguments.only):
        record["runs"].append(_run(part, seed, arguments))
        record |= {"scores": _over_seeds(record["runs"]), **provenance()}
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
        arguments.json.write_text(text, encoding="utf-8")
        print(part, seed, record["runs"][-1]["BLEU"], flush=True)


def _plan(n_seeds: int, only: Sequence[str]) -> list[tuple[str, int]]:
    """What to train, the most valuable first."""
    parts = [part for part in WITHOUT if not only or part in only]
    return [(WHOLE, seed) for seed in range(1, n_seeds + 1)] + [(part, 1) for part in parts]


def _run(part: str, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train one model, unless it is there, and score it."""
    without = WITHOUT.get(part, ())
    recipe = load_recipe(RECIPE, [*arguments.overrides, *without, f"training.seed={seed}"])
    data = recipe.data.dir
    if data is None:
        raise SystemExit("the test sets are read from local files: name their folder with --set data.dir=DIR")
    run = arguments.work / f"{re.sub('[^A-Za-z0-9]+', '-', part).strip('-')}-{seed}"
    translator = Translator.load(str(trained(recipe, run)), device=arguments.device)
    options = search_options(translator, None)
    sets = [
        TestSet.load(data / f"{name}.en", data / f"{name}.fr")
        for name in (VAL, *(TESTS if part == WHOLE else ()))
    ]
    scores: dict[str, float] = {}
    signature = ""
    for test_set in sets:
        evaluation = evaluate_on(translator, test_set, options, lowercase_tokenized=True)
        (found,) = (score for score in evaluation.scores if score.scale == "lowercase-tokenized")
        scores[test_set.name], signature = round(found.score, 2), found.signature
    return {
        "without": part if part != WHOLE else None,
        "overrides": without,
        "seed": seed,
        "model": describe_model(translator, resolve_model(str(run / "model"))),
        "training": RunLog.read(run).summary(),
        "BLEU": scores,
        "signature": signature,
        "test_sets": [test_set.describe() for test_set in sets],
    }


def _over_seeds(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Mean and standard deviation of the whole recipe's scores, by test set."""
    whole = [run["BLEU"] for run in runs if run["without"] is None]
    found: dict[str, dict[str, float]] = {}
    for name in (VAL, *TESTS):
        values = [scores[name] for scores in whole]
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        found[name] = {"mean": round(statistics.mean(values), 2), "deviation": round(deviation, 2)}
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--work", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--seeds", type=int, default=3, help="of the whole recipe (default: 3)")
    parser.add_argument("--only", nargs="*", choices=list(WITHOUT), default=[], help="parts to leave out")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
