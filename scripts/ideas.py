"""What each idea of the lectures is worth: every variant trained alike on Multi30k, and docs/lectures.md.

    python -m scripts.ideas --set data.dir=DIR --work WORK     train and score what the record lacks
    python -m scripts.ideas --set data.dir=DIR --work WORK --speed   time all anew, one beside the other
    python -m scripts.ideas --table                            the table of docs/lectures.md from the record
    python -m scripts.ideas --list                             the variants

All have one small size and as many updates, from two seeds; scores are cased sacreBLEU of beam search on
``val`` and ``test_2016_flickr``, by the model itself without the pipeline. The record,
docs/lectures/ideas.jsonl, has a line for each run. A run that is stopped goes on when it is asked for again;
one that the record has is not trained again. It works on one thread at the lowest priority: minutes a run,
hours for all. What tunes a trained translator goes on from it for fewer updates.

Speed is target tokens a second of processor time in training: other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from nmt.batch import Batch
from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import load_model_folder
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer
from scripts.ideas_measures import average_lagging, share_kept, share_of_persons, translated
from scripts.ideas_table import RECORD, SETS, lines_of, write_page
from scripts.ideas_variants import BY_NAME, IDEAS, SEEDS, Idea
from scripts.runs import let_others_go_first, trained_by
from training.align.links import align_links
from training.batching import BatchStream
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus
from training.distributed import ALONE
from training.evaluation.scoring import score_bleu
from training.evaluation.testset import TestSet
from training.objective import build_objective, build_tuning
from training.optimizer import build_optimizer
from training.preferences import frozen
from training.provenance import commit, machine
from training.recipe import Recipe
from training.run_folder import open_run
from training.run_log import RunLog
from training.speed import has_bf16_units
from training.step import TeacherForcedLoss, TrainingStep
from training.trainer import Trainer

TIMED_UPDATES, WARM_UP_UPDATES, ROUNDS = 12, 3, 3


def main() -> int:
    """Train, or with ``--table`` make the page."""
    arguments = _arguments()
    if arguments.list:
        print("\n".join(BY_NAME))
        return 0
    if arguments.table:
        return write_page(arguments.json, check=arguments.check)
    let_others_go_first()
    torch.set_num_threads(1)
    if arguments.speed:
        time_all(arguments)
    else:
        run_all(arguments)
    return 0


def run_all(arguments: argparse.Namespace) -> None:
    """Every variant from one seed, then from the next; what the record has is passed over."""
    work: Path = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    done = {(line["idea"], line["seed"], line["recipe_sha256"]) for line in lines_of(arguments.json)}
    wanted = [idea for idea in IDEAS if not arguments.only or idea.name in arguments.only]
    for seed in arguments.seeds:
        for idea in wanted:
            settings = idea.settings(seed, arguments.overrides, work)
            if idea.is_pretraining or (idea.name, seed, digest(settings)) in done:
                continue
            line = measured(idea, seed, arguments.overrides, work)
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
            with arguments.json.open("a", encoding="utf-8") as record:
                record.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(f"{idea.name}, seed {seed}: {line['BLEU']}", flush=True)


def time_all(arguments: argparse.Namespace) -> None:
    """Time every variant of the record on this machine: medians of rounds, each of one after the other."""
    work, overrides = arguments.work.resolve(), arguments.overrides
    lines = lines_of(arguments.json)
    ideas = [BY_NAME[name] for name in dict.fromkeys(line["idea"] for line in lines)]
    rates: dict[str, list[float]] = {idea.name: [] for idea in ideas}
    for _ in range(ROUNDS):
        for idea in ideas:
            settings = idea.settings(SEEDS[0], overrides, work)
            corpus = prepared(settings, work, idea.corpus)
            begun = None
            if idea.is_tuning:
                begun = load_model_folder(trained(idea, SEEDS[0], overrides, work, corpus) / "model").model
            rates[idea.name].append(speed(settings, corpus, begun))
    for line in lines:
        line["tokens_per_cpu_second"] = statistics.median(rates[line["idea"]])
        line["timed_on"] = machine()["processor"]
    aside = arguments.json.with_suffix(".new")
    aside.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    aside.rename(arguments.json)


def measured(idea: Idea, seed: int, overrides: Sequence[str], work: Path) -> dict[str, Any]:
    """Train a variant, unless it is trained already, and score it: a line of the record."""
    settings = idea.settings(seed, overrides, work)
    if settings.data.dir is None:
        raise SystemExit("the test sets are read from local files: name their folder with --set data.dir=DIR")
    corpus = prepared(settings, work, idea.corpus)
    run = trained(idea, seed, overrides, work, corpus)
    loaded = load_model_folder(run / "model")
    data = settings.data.dir
    sets = [TestSet.load(data / f"{name}.en", data / f"{name}.fr") for name in SETS]
    scores: dict[str, float] = {}
    signature, persons = "", None
    for name, test_set in zip(SETS, sets, strict=True):
        hypotheses = translated(loaded, test_set.sources, settings.generation)
        found = score_bleu(hypotheses, test_set.references)
        scores[name], signature = round(found.score, 2), found.signature
        if name == SETS[0] and idea.corpus in ("someone", "document"):
            persons = share_of_persons(test_set.sources, hypotheses, test_set.references)
    return {
        "idea": idea.name,
        "seed": seed,
        "recipe": idea.recipe,
        "changes": list(idea.changes),
        "begins_with": idea.begins_with,
        "recipe_sha256": digest(settings),
        "updates": RunLog.read(run).summary()["updates"],
        "kept_percent": share_kept(loaded) if idea.corpus == "named" else None,
        "persons_percent": persons,
        "average_lagging": average_lagging(loaded, sets[0])
        if "model.attention=monotonic" in idea.changes
        else None,
        "parameters": sum(parameter.numel() for parameter in loaded.model.parameters()),
        "tokens_per_cpu_second": speed(settings, corpus, loaded.model if idea.is_tuning else None),
        "BLEU": scores,
        "signature": signature,
        "commit": commit(),
        "machine": machine(),
        "timed_on": machine()["processor"],
        "date": time.strftime("%Y-%m-%d"),
    }


def prepared(settings: Recipe, work: Path, name: str | None) -> PreparedCorpus:
    """The corpus of a name, prepared once for all that share it, and its links if they are asked for."""
    folder = work / "data" / (name or "plain")
    corpus = PreparedCorpus.open(prepare_corpus(settings, folder), settings)
    links = settings.training.attention_links
    if links is not None and not Path(links).exists():
        aside = Path(links).with_suffix(".new")
        align_links([corpus.folder / "train.en"], [corpus.folder / "train.fr"], aside)
        aside.rename(links)
    return corpus


def trained(idea: Idea, seed: int, overrides: Sequence[str], work: Path, corpus: PreparedCorpus) -> Path:
    """The folder of a run that has come to its end."""
    settings = idea.settings(seed, overrides, work)
    run = work / f"{re.sub('[^A-Za-z0-9]+', '-', idea.name).strip('-')}-{seed}-{digest(settings)[:8]}"
    first = None if idea.begins_with is None else BY_NAME[idea.begins_with]
    begins_with = None if first is None else trained(first, seed, overrides, work, corpus) / "model"
    if (run / "done").exists():
        return run
    with open_run(run, settings, resume=True) as folder:
        trainer = Trainer(settings, corpus, folder)
        trainer.resume()
        if begins_with is not None and trainer.state.update == 0:
            trainer.begin_with(load_model_folder(begins_with).model)
        trainer.train()
        if trainer.stop_reason == "SIGTERM":
            raise SystemExit(f"{run.name}: stopped and saved; the same command goes on")
    (run / "done").touch()
    return run


def digest(settings: Recipe) -> str:
    """SHA-256 of what a model is trained by, wherever its links lie."""
    links = settings.training.attention_links
    training = settings.training.model_copy(update={"attention_links": links and Path(links).name})
    return hashlib.sha256(trained_by(settings.model_copy(update={"training": training})).encode()).hexdigest()


def speed(settings: Recipe, corpus: PreparedCorpus, begun: Model | None) -> float:
    """Target tokens for each second of processor time, in updates of ``begun``, or of a new model."""
    tokenizer = Tokenizer.load(corpus.tokenizer_file)
    stream = BatchStream(
        corpus.split("train"),
        tokenizer,
        batch_tokens=settings.training.batch_tokens,
        seed=1,
        subword_sampling=0.0,
    )
    model = begun or build_model(settings.model_config_for(tokenizer.vocab_size))
    model.requires_grad_(requires_grad=True)
    objective = build_objective(settings, build_tuning(settings.training, tokenizer, frozen(model)))
    bf16 = has_bf16_units(torch.device("cpu"))  # as in training
    loss = TeacherForcedLoss(model, objective, bf16=bf16, compiled=False)
    step = TrainingStep(loss, build_optimizer(model, settings.training), settings.training, ALONE)
    batches: list[Batch] = [stream.next() for _ in range(TIMED_UPDATES)]
    n_tokens = 0
    for update, batch in enumerate(batches):
        if update == WARM_UP_UPDATES:
            began_s, n_tokens = time.process_time(), 0
        n_tokens += step([batch], update).sums.n_tokens
    return round(n_tokens / (time.process_time() - began_s), 1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--work", type=Path, default=Path("runs/ideas"), help="folder of the runs")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--only", nargs="*", choices=list(BY_NAME), help="variants (default: all)")
    parser.add_argument("--json", type=Path, default=RECORD, help="the record")
    parser.add_argument("--speed", action="store_true", help="time the record's variants anew, no more")
    parser.add_argument("--table", action="store_true", help="make docs/lectures.md from the record, no more")
    parser.add_argument("--check", action="store_true", help="with --table: tell whether it is stale")
    parser.add_argument("--list", action="store_true", help="name the variants, no more")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ConfigError as error:
        sys.exit(str(error))
