"""Go on training the general models in the background: one command for a whole sitting.

    python -m scripts.train_on DATA [--runs runs] [--minutes 120] [--recipe general --recipe general_fr_en]

DATA holds the corpora that the recipes name. What is missing is prepared; each recipe's run is resumed, or
begun from the mean of its last run's checkpoints, or from the model of its name that ships, or anew. Each
run has a seed of its own, so that it does not begin with the batches of the last one. The cores are shared
out among the recipes and everything runs at nice 19. SIGTERM or Ctrl-C ends the sitting:
each run saves a checkpoint.

Every hour, and at the end, the mean of each run's last checkpoints becomes ``RUNS/RECIPE/average`` and is
scored on the development sets. The sitting's line in the ledger is brought up to date each time, so that a
sitting that is killed is there too.

With ``--minutes`` each run ends by itself: its learning rate falls to nothing over the last seven tenths of
that time. The mean of its weights and of those that it began with (a model soup, Wortsman et al. 2022)
becomes ``RUNS/RECIPE/blended`` and is scored too. It is often the better one; the next run begins with it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nmt.errors import PasserelleError
from nmt.model_folder.checkpoint import PRETRAINED
from nmt.options import TranslationOptions
from nmt.translator import Translator
from scripts.runs import let_others_go_first
from training.average import average_run
from training.blend import blend
from training.evaluation.evaluate import search_options
from training.evaluation.scoring import score
from training.provenance import commit, machine
from training.recipe import CORPORA, load_recipe
from training.state import STATE, TrainingState, checkpoints

LEDGER = Path("docs/models/training_ledger.jsonl")
RECIPES = ("general", "general_fr_en")
LOOK_EVERY_S = 5.0
STOPPED_WITHIN_S = 900.0
ENDED = "ended"
"""File in the folder of a run that came to its end."""
MIXTURE_MINUTES, LEAST_SHARE = 400.0, 0.05
"""Of a sitting for which the whole mixture of a recipe is prepared; a shorter one needs as much less."""
SCORED_BY_THE_RUN = 32
"""Pairs that a run scores itself, at its beginning and end."""
COOLDOWN = 0.7
"""Share of ``--minutes`` in which the learning rate falls."""


@dataclass(frozen=True)
class DevelopmentSet:
    """Every ``step``-th line of a parallel file: ``path.en`` and ``path.fr``."""

    path: str
    step: int


DEVELOPMENT_SETS = (
    DevelopmentSet("news/newstest2013", 6),
    DevelopmentSet("flores/dev", 2),
    DevelopmentSet("software/dev", 2),
    DevelopmentSet("tatoeba/dev", 3),
    DevelopmentSet("multi30k/val", 2),
)
"""Five sets of about 500 sentences; a model ships when their mean BLEU has gained enough."""
EVERYDAY = (Path("training/sample/everyday_dev"), Path("training/sample/taught_words_dev"))
"""Sets of our own, scored beside them: everyday sentences, and words that our corpus teaches elsewhere."""


@dataclass
class Run:
    """One recipe's training process and what the ledger says of it."""

    recipe: str
    """Name or TOML file."""
    folder: Path
    init_from: str | None
    """Model that it begins with; None begins anew."""
    cores: tuple[int, ...]
    tokens_before: int
    """Target tokens that the weights had seen when this run began."""
    seed: int = 1
    updates_at_start: int = 0
    tokens_at_start: int = 0
    seconds_at_start: float = 0.0
    process: subprocess.Popen[bytes] | None = None
    was_stopped: bool = False
    curve: list[dict[str, Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The recipe's name."""
        return Path(self.recipe).stem

    @property
    def average(self) -> Path:
        """Model folder with the mean of the last checkpoints."""
        return self.folder / "average"

    @property
    def blended(self) -> Path:
        """Model folder with the mean of these weights and those that the run began with."""
        return self.folder / "blended"

    @property
    def has_ended(self) -> bool:
        """Whether the run came to its end by itself."""
        return self.process is not None and self.process.returncode == 0 and not self.was_stopped

    def state(self) -> TrainingState:
        """Where the newest checkpoint stands."""
        return newest_state(self.folder)

    def record(self) -> dict[str, Any]:
        """The run's part of the ledger's line."""
        state = self.state()
        return {
            "run": self.folder.name,
            "init_from": None if self.init_from is None else "/".join(Path(self.init_from).parts[-2:]),
            "cores": len(self.cores),
            "hours": round((state.elapsed_s - self.seconds_at_start) / 3600, 2),
            "updates": state.update - self.updates_at_start,
            "target_tokens": state.target_tokens - self.tokens_at_start,
            "total_target_tokens": self.tokens_before + state.target_tokens,
            "curve": self.curve,
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Train until told to stop."""
    options = _options(arguments)
    let_others_go_first()
    signal.signal(signal.SIGTERM, _interrupt)
    began_s = time.monotonic()
    line: dict[str, Any] = {"sitting": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit()}
    line["machine"] = {key: machine()[key] for key in ("processor", "cores", "memory_gib")}
    runs = plan(options.recipe, options.runs, options.ledger)
    next_score_s = began_s + 60 * options.score_every_minutes
    try:
        for run in runs:
            run.process = _start(run, options)
        while any(_is_running(run) for run in runs) and not _is_over(began_s, options.hours):
            time.sleep(LOOK_EVERY_S)
            if time.monotonic() >= next_score_s:
                next_score_s += 60 * options.score_every_minutes
                _score_and_record(runs, options, line, began_s)
    except KeyboardInterrupt:
        print("stopping: each run saves a checkpoint", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _stop(runs)
    _score_and_record(runs, options, line, began_s)
    failed = [run.name for run in runs if run.process is not None and run.process.returncode not in (0, None)]
    if failed:
        raise SystemExit(f"{', '.join(failed)}: training ended with an error; see {options.runs}/NAME.log")


def plan(recipes: Sequence[str], runs: Path, ledger: Path) -> list[Run]:
    """Which folder each recipe trains in, where it begins, and on which cores."""
    cores = sorted(os.sched_getaffinity(0))
    planned = []
    for index, recipe in enumerate(recipes):
        mine = tuple(cores[index :: len(recipes)]) or (cores[index % len(cores)],)
        name = Path(recipe).stem
        folder = free_folder(runs / f"{name}-{mixture(recipe)}")
        former = latest_average(runs, name, other_than=folder)
        shipped = name if (PRETRAINED / name).is_dir() else None
        init_from = str(former) if former else shipped
        seen, seed = tokens_seen(ledger, name, former), 1 + len(read_ledger(ledger))
        run = Run(recipe, folder, init_from, mine, seen, seed)
        note = folder / "begun.json"
        if note.exists():
            begun = json.loads(note.read_text(encoding="utf-8"))
            run.init_from, run.tokens_before = begun["init_from"], begun["tokens_before"]
            run.seed = begun.get("seed", 1)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            begun = {"init_from": run.init_from, "tokens_before": run.tokens_before, "seed": run.seed}
            note.write_text(json.dumps(begun) + "\n", encoding="utf-8")
        state = newest_state(folder)
        run.updates_at_start, run.tokens_at_start = state.update, state.target_tokens
        run.seconds_at_start = state.elapsed_s
        planned.append(run)
    return planned


def free_folder(folder: Path) -> Path:
    """``folder``, or with a number behind it where the run in it has ended."""
    number = 1
    place = folder
    while (place / ENDED).exists():
        number += 1
        place = folder.with_name(f"{folder.name}-{number}")
    return place


def prepared(folder: Path) -> Path | None:
    """The corpus of an earlier run on the same mixture."""
    found = sorted(folder.parent.glob(f"{folder.name[: folder.name.index('-') + 9]}*/data/manifest.json"))
    return next((path.parent for path in found if path.parent.parent != folder), None)


def share_of_mixture(corpus: Path, minutes: float | None) -> float:
    """How much of a recipe's mixture ``corpus`` has, or is to have for so many minutes of training."""
    manifest = corpus / "manifest.json"
    if manifest.exists():
        data = json.loads(manifest.read_text(encoding="utf-8"))["recipe"]["data"]
        return float(data.get("share", 1.0))
    return 1.0 if minutes is None else min(1.0, max(LEAST_SHARE, round(minutes / MIXTURE_MINUTES, 2)))


def mixture(recipe: str) -> str:
    """Eight characters of a checksum of what a recipe trains on, our own pairs included."""
    digest = hashlib.sha256(load_recipe(recipe).corpus_hash().encode())
    for path in sorted(CORPORA.rglob("*.tsv")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def newest_state(run: Path) -> TrainingState:
    """The state of a run's newest checkpoint; that of a run that has not begun where there is none."""
    found = checkpoints(run / "checkpoints")
    if not found:
        return TrainingState()
    return TrainingState.model_validate_json((found[-1] / STATE).read_text(encoding="utf-8"))


def latest_average(runs: Path, recipe: str, *, other_than: Path) -> Path | None:
    """The newest average of the recipe's earlier runs."""
    found = [
        folder
        for kind in ("average", "blended")
        for folder in runs.glob(f"{recipe}-????????*/{kind}")
        if folder.parent != other_than and (folder / "config.json").exists()
    ]
    return max(found, key=lambda folder: folder.stat().st_mtime, default=None)


def tokens_seen(ledger: Path, recipe: str, former: Path | None = None) -> int:
    """Target tokens that the weights to begin with have been trained on, by the ledger.

    A run whose weights did not ship has ``"shipped": false`` there: it counts for who goes on from it alone.
    """
    for line in reversed(read_ledger(ledger)):
        run = line["models"].get(recipe)
        if run is not None and (run.get("shipped", True) or (former and former.parent.name == run["run"])):
            return int(run["total_target_tokens"])
    return 0


def read_ledger(ledger: Path) -> list[dict[str, Any]]:
    """The ledger's lines, oldest first."""
    if not ledger.exists():
        return []
    return [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]


def write_line(ledger: Path, line: dict[str, Any]) -> None:
    """Put the sitting's line into the ledger, in place of its earlier one."""
    others = [other for other in read_ledger(ledger) if other["sitting"] != line["sitting"]]
    text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in [*others, line])
    ledger.parent.mkdir(parents=True, exist_ok=True)
    aside = ledger.with_name(f".{ledger.name}.new")
    aside.write_text(text, encoding="utf-8")
    aside.rename(ledger)


def development_scores(model: Path, data: Path) -> dict[str, float]:
    """Cased BLEU of each set, and the mean of those in ``data``, as ``nmt translate`` decodes."""
    translator = Translator.load(model)
    config, options = translator.config, search_options(translator, None)

    def bleu(path: Path, step: int) -> float:
        sources, references = (
            tuple(_lines(path.with_name(f"{path.name}.{language}"))[::step])
            for language in (config.source_language, config.target_language)
        )
        texts = [
            result.text.replace("\n", " ")
            for result in translator.translate(
                sources, TranslationOptions(confidence=False, generation=options)
            )
        ]
        return round(next(value for value in score(texts, references) if value.metric == "BLEU").score, 2)

    found = {item.path: bleu(data / item.path, item.step) for item in DEVELOPMENT_SETS}
    mean = round(sum(found.values()) / len(found), 2)
    return {**found, **{path.name: bleu(path, 1) for path in EVERYDAY}, "mean": mean}


def _score_and_record(
    runs: Sequence[Run], options: argparse.Namespace, line: dict[str, Any], began_s: float
) -> None:
    for run in runs:
        is_cold = options.minutes is not None and run.has_ended  # no mean is better than the last weights
        last = 1 if is_cold else load_recipe(run.recipe).training.average_last
        try:
            state = average_run(run.folder, last, run.average)
        except PasserelleError as error:
            print(f"{run.name}: not scored: {error}", file=sys.stderr)
            continue
        tokens = run.tokens_before + state.target_tokens
        is_new = not run.curve or run.curve[-1]["total_target_tokens"] != tokens
        if is_new or (is_cold and not (run.folder / ENDED).exists()):
            hours = round((state.elapsed_s - run.seconds_at_start) / 3600, 2)
            bleu = development_scores(run.average, options.data)
            run.curve.append({"hours": hours, "total_target_tokens": tokens, "bleu": bleu})
            print(f"{run.name}: {tokens / 1e6:.1f} M target tokens, {bleu}", flush=True)
            if is_cold:
                (run.folder / ENDED).touch()
            if is_cold and run.init_from is not None:
                bleu = development_scores(
                    blend(run.average, [run.init_from], None, run.blended), options.data
                )
                point = {"hours": hours, "total_target_tokens": tokens, "bleu": bleu, "blended": True}
                run.curve.append(point)
                print(f"{run.name}: blended with {run.init_from}, {bleu}", flush=True)
    line["hours"] = round((time.monotonic() - began_s) / 3600, 2)
    line["models"] = {run.name: run.record() for run in runs}
    write_line(options.ledger, line)


def _start(run: Run, options: argparse.Namespace) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "nmt", "train", run.recipe, "--run", str(run.folder), "--resume"]
    settings = [f"data.dir={options.data}", f"training.seed={run.seed}"]
    if options.minutes is not None:
        settings += [f"training.max_minutes={options.minutes}", f"training.cooldown={COOLDOWN}"]
    corpus = prepared(run.folder)
    if corpus is not None:
        command += ["--data", str(corpus)]
    else:
        settings.append(f"data.seed={run.seed}")  # other pairs of what is capped
    settings.append(f"data.share={share_of_mixture(corpus or run.folder / 'data', options.minutes)}")
    if run.init_from is not None:
        command += ["--init-from", run.init_from]
        # the mean of the checkpoints is scored instead
        settings += ["training.validate_every=1000000", f"training.validation_pairs={SCORED_BY_THE_RUN}"]
    settings += options.set
    command += [word for value in settings for word in ("--set", value)]
    log = (run.folder.parent / f"{run.name}.log").open("ab")
    threads = {"OMP_NUM_THREADS": str(len(run.cores))}
    process = subprocess.Popen(
        command, stdout=log, stderr=log, env={**os.environ, **threads}, process_group=0
    )
    os.sched_setaffinity(process.pid, run.cores)
    return process


def _is_running(run: Run) -> bool:
    return run.process is not None and run.process.poll() is None


def _is_over(began_s: float, hours: float | None) -> bool:
    return hours is not None and time.monotonic() - began_s >= 3600 * hours


def _stop(runs: Sequence[Run]) -> None:
    for run in runs:
        if run.process is not None and _is_running(run):
            run.was_stopped = True
            run.process.send_signal(signal.SIGTERM)
    for run in runs:
        if run.process is not None:
            run.process.wait(STOPPED_WITHIN_S)


def _interrupt(signum: int, frame: object) -> None:  # noqa: ARG001 - a handler's signature
    raise KeyboardInterrupt


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the corpora and development sets")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of the runs")
    parser.add_argument("--recipe", action="append", help=f"default: {' and '.join(RECIPES)}")
    parser.add_argument("--hours", type=float, help="end by itself after so long")
    parser.add_argument("--minutes", type=float, help="of training, the end of which is a cool-down")
    parser.add_argument("--score-every-minutes", type=float, default=60.0)
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of nmt train")
    options = parser.parse_args(arguments)
    options.recipe = options.recipe or list(RECIPES)
    return options


if __name__ == "__main__":
    main()
