"""Messages of ``nmt train``: how long it will train, why it ended, what comes next."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmt.commands.lines import note
from nmt.errors import ConfigError
from training.batching import epoch_batches
from training.data.shards import PreparedCorpus
from training.recipe import Recipe
from training.trainer import Trainer

VALIDATIONS_OF_A_SHORT_RUN = 4


def resuming(recipe: str, path: Path, data: Path | None, overrides: Sequence[str]) -> str:
    """The command line that goes on with a run, whose folder keeps what it was begun with."""
    command = ["nmt", "train", recipe, "--run", str(path), "--resume"]
    command += [] if data is None else ["--data", str(data)]
    return shlex.join([*command, *(word for value in overrides for word in ("--set", value))])


def needs_a_model(recipe: str, path: Path, data_dir: Path | None) -> ConfigError:
    """A recipe that adapts a model was given none."""
    place = "FOLDER" if data_dir is None else str(data_dir)
    command = ["nmt", "train", recipe, "--init-from", "general", "--set", f"data.dir={place}"]
    return ConfigError(
        f"{recipe} adapts a model and needs --init-from; type: {shlex.join([*command, '--run', str(path)])}"
    )


def sized(recipe: Recipe, corpus: PreparedCorpus) -> Recipe:
    """The recipe with ``max_epochs`` as updates, and with validations enough in what may be a short run."""
    options = recipe.training
    if options.max_epochs is None:
        return recipe
    pairs = corpus.split("train")
    lengths = pairs.source_lengths, pairs.target_lengths
    per_epoch = len(epoch_batches(*lengths, options.batch_tokens, options.seed, 0)) / options.accumulate
    updates = min(options.max_updates, max(1, math.ceil(options.max_epochs * per_epoch)))
    often = math.ceil(updates / VALIDATIONS_OF_A_SHORT_RUN)
    fitted = {
        key: min(getattr(options, key), often) for key in ("warmup_updates", "validate_every", "save_every")
    }
    return recipe.model_copy(
        update={"training": options.model_copy(update={"max_updates": updates, **fitted})}
    )


def has_same_data(recipe: Recipe, other: Recipe) -> bool:
    """Whether two recipes name the same corpora, wherever these lie, cleaned and disturbed alike."""
    return bool(recipe.corpus_identity()["data"] == other.corpus_identity()["data"])


def tell_start(path: Path, settings: Recipe, given: Recipe, corpus: PreparedCorpus) -> None:
    """Say what a resumed run does not take from the recipe, and how long one sized by its pairs will be.

    Args:
        path: the run's folder.
        settings: those of the run.
        given: the recipe as it is now.
        corpus: what is trained on.
    """
    options = settings.training
    sized_options = sized(given, corpus).training
    parts = ("training", "generation", "alignment")
    kept, here = (
        {
            key: value
            for part in parts
            for key, value in _flat(recipe.model_dump(mode="json")[part], f"{part}.")
        }
        for recipe in (settings, given.model_copy(update={"training": sized_options}))
    )
    shown = [f"{key} = {kept[key]} (the recipe: {here[key]})" for key in kept if kept[key] != here.get(key)]
    if not has_same_data(settings, given):
        shown.append("its corpora and their cleaning (the recipe has others)")
    if shown:
        note(f"{path} keeps what it was begun with: {', '.join(shown)}; --set KEY=VALUE changes a limit")
    if options.max_epochs is not None:
        note(
            f"{len(corpus.split('train')):,} pairs: {options.max_updates} updates, at most "
            f"{options.max_epochs} passes over them (training.max_epochs), scored every "
            f"{options.validate_every} updates"
        )


def tell_end(trainer: Trainer, first_update: int, go_on: str) -> None:
    """Say why a run ended, its score, where the model is, and what to type next."""
    state, most = trainer.state, trainer.options.max_updates
    if trainer.stop_reason == "SIGTERM":
        note(f"stopped by SIGTERM at update {state.update} of {most}; all is saved. To go on: {go_on}")
        return
    reason = trainer.stop_reason or f"all {most} updates are done"
    ended = "ended" if state.update > first_update else "had ended already"
    note(f"the run {ended} at update {state.update}: {reason}")
    score, which = state.best_bleu, f"update {state.best_update}"
    if trainer.average_score is not None and trainer.average_score > score:
        score, which = trainer.average_score, "the mean of the last checkpoints"
    elif state.best_update == 0:
        which = "the model that it began with: none was better"
    folder = trainer.run_folder.model
    if trainer.pretraining is None:
        note(f"BLEU {score:.1f} on the development set ({which}), model in {folder}")
        note(f"next: nmt translate --model {shlex.quote(str(folder))} TEXT")
    else:
        note(f"words of the development set have a probability of {score:.1f} % ({which}), model in {folder}")
        note(f"next: nmt train RECIPE --init-from {shlex.quote(str(folder))}")
    note(f"to train on: {go_on} --set {_longer(trainer)}")


def _longer(trainer: Trainer) -> str:
    reason = trainer.stop_reason or ""
    if "minutes" in reason:
        return "training.max_minutes=MINUTES"
    if "no better" in reason:
        return "training.patience=0"
    return "training.max_updates=N" if trainer.options.max_epochs is None else "training.max_epochs=N"


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
