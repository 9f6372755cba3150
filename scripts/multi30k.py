"""Multi30k on the literature's scale: the best recipe from several seeds, and what each part of it is worth.

    python -m scripts.multi30k --set data.dir=DIR --work WORK --json docs/reports/multi30k_best.json

The whole recipe is trained from each seed and scored on ``val`` and on the test sets. What its parts are
worth is told by runs of a fraction of its length, from the first seed, scored on ``val`` alone: the recipe
itself, then with one part of it changed. No choice is made on a test set. BLEU is of lower-cased,
Moses-tokenised text ("training/evaluation/scoring.py").

Runs are kept in WORK and go on where they were stopped. The record is written after each, and what it has of
the very same recipe is not trained again, so that the work may be spread over days and machines. Where only
the recipe's search options have changed, models of WORK are scored again.

So small a model leaves cores idle: ``--at-once 2`` trains two side by side, each on half of the cores, which
together learn from half as many tokens a second again as one on all of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import signal
import statistics
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple

import torch

from nmt.model_folder.checkpoint import resolve_model
from nmt.translator import Translator
from scripts.runs import trained, trained_by
from training.evaluation.evaluate import describe_model, evaluate_on
from training.evaluation.testset import TestSet
from training.provenance import commit, provenance
from training.recipe import Recipe, load_recipe
from training.run_log import RunLog

RECIPE = "multi30k_best"
SHORT = (
    "model.dropout=0.3",
    "training.max_updates=2600",
    "training.warmup_updates=400",
    "training.save_every=100",
    "training.validate_every=2600",
)
"""The fraction of a training run that what is changed is judged by. Dropout is what it was when that began;
that 0.2 is better was found in this way."""
CHANGES: dict[str, tuple[str, ...]] = {
    "with BPE dropout": ("training.subword_sampling=0.1",),
    "with R-Drop, half the updates": ("training.r_drop=5", "training.max_updates=1300"),
    "dropout 0.1 for 0.3": ("model.dropout=0.1",),
    "AdamW for Muon": ("training.optimizer=adamw",),
}
"""A change of the recipe -> how it is said. What makes an update take twice the time gets half of them."""
VAL = "val"
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")


class Run(NamedTuple):
    """One model to train and score."""

    seed: int
    short: bool = False
    """Of a fraction of the length, and scored on ``val`` alone."""
    change: str | None = None
    """What of the recipe is changed: a key of CHANGES."""

    def __str__(self) -> str:
        return f"{self.change or ('short' if self.short else 'whole')}, seed {self.seed}"

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return re.sub("[^A-Za-z0-9]+", "-", str(self)).strip("-")

    def recipe(self, overrides: Sequence[str]) -> Recipe:
        """What it is trained by."""
        short = SHORT if self.short else ()
        changed = CHANGES[self.change] if self.change else ()
        return load_recipe(RECIPE, [*overrides, *short, *changed, f"training.seed={self.seed}"])


def main() -> None:
    """Train the models that are not there yet, score all, write the record."""
    arguments = _arguments()
    plan = planned(arguments.seeds, arguments.only)
    ended = recorded(arguments, plan)
    threads = max(1, (os.cpu_count() or 1) // arguments.at_once)
    waiting, running = [run for run in plan if run not in ended], {}

    def stop(*_: object) -> None:
        """Let each run save what it has, and begin no other."""
        waiting.clear()
        for worker in multiprocessing.active_children():
            worker.terminate()

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.at_once, context, _begin_worker, (threads,)) as workers:
        signal.signal(signal.SIGTERM, stop)
        while waiting or running:
            while waiting and len(running) < arguments.at_once:
                run = waiting.pop(0)
                running[workers.submit(_trained_and_scored, run, arguments)] = run
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                run = running.pop(future)
                ended[run] = future.result()
                print(run, ended[run]["BLEU"], flush=True)
                _write(arguments, [ended[run] for run in plan if run in ended])


def _begin_worker(threads: int) -> None:
    """SIGTERM is for who trains: a worker that died while it waited for work would take the queue with it."""
    torch.set_num_threads(threads)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def planned(n_seeds: int, only: Sequence[str] | None) -> list[Run]:
    """What to train, the most valuable first."""
    changes = [change for change in CHANGES if only is None or change in only]
    whole = [Run(seed) for seed in range(1, n_seeds + 1)]
    return [*whole, Run(1, short=True), *(Run(1, short=True, change=change) for change in changes)]


def recorded(arguments: argparse.Namespace, plan: Sequence[Run]) -> dict[Run, dict[str, Any]]:
    """What the record has of the plan: runs of the very same recipes, searched with the same options."""
    if not arguments.json.exists():
        return {}
    known = json.loads(arguments.json.read_text(encoding="utf-8"))["runs"]
    recipes = ((run, run.recipe(arguments.overrides)) for run in plan)
    wanted = {run: (recipe_digest(recipe), recipe.generation.model_dump()) for run, recipe in recipes}
    return {
        run: entry
        for run, made_by in wanted.items()
        for entry in known
        if (entry["recipe_sha256"], entry["search"]) == made_by
    }


def recipe_digest(recipe: Recipe) -> str:
    """Of what a model is trained by."""
    return hashlib.sha256(trained_by(recipe).encode()).hexdigest()


def _write(arguments: argparse.Namespace, runs: list[dict[str, Any]]) -> None:
    record = {
        "recipe": RECIPE,
        "overrides": [override for override in arguments.overrides if not override.startswith("data.dir=")],
        "at_once": arguments.at_once,
        "runs": runs,
        "scores": _over_seeds(runs),
        **provenance(),
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _trained_and_scored(run: Run, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train one model, unless it is there, and score it."""
    recipe = run.recipe(arguments.overrides)
    data = recipe.data.dir
    if data is None:
        raise SystemExit("the test sets are read from local files: name their folder with --set data.dir=DIR")
    folder = arguments.work / run.folder
    translator = Translator.load(str(trained(recipe, folder)), device=arguments.device)
    sets = [
        TestSet.load(data / f"{name}.en", data / f"{name}.fr")
        for name in (VAL, *(() if run.short else TESTS))
    ]
    scores: dict[str, float] = {}
    signature = ""
    for test_set in sets:
        evaluation = evaluate_on(translator, test_set, recipe.generation, lowercase_tokenized=True)
        (found,) = (score for score in evaluation.scores if score.scale == "lowercase-tokenized")
        scores[test_set.name], signature = round(found.score, 2), found.signature
    return {
        "change": run.change,
        "short": run.short,
        "seed": run.seed,
        "recipe_sha256": recipe_digest(recipe),
        "search": recipe.generation.model_dump(),
        "model": describe_model(translator, resolve_model(str(folder / "model"))),
        "training": RunLog.read(folder).summary(),
        "BLEU": scores,
        "signature": signature,
        "test_sets": [test_set.describe() for test_set in sets],
        "commit": commit(),
    }


def _over_seeds(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Mean and standard deviation of the whole recipe's scores, by test set."""
    whole = [run["BLEU"] for run in runs if not run["short"]]
    if not whole:
        return {}
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
    parser.add_argument("--only", nargs="*", choices=list(CHANGES), help="of the changes (default: all)")
    parser.add_argument("--at-once", type=int, default=1, help="runs side by side (default: 1)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", type=Path, required=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
