"""Runs of several models for one table: those that have ended are kept, those that were stopped go on."""

from __future__ import annotations

import os
from pathlib import Path

from nmt.model_folder.files import sha256
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus
from training.recipe import Recipe
from training.run_folder import open_run
from training.trainer import Trainer

OF_A_BEAM = {"beam_size", "n_best", "length_normalization", "length_penalty"}
DONE = "done.json"
"""What a run that has come to its end was trained by."""


NICENESS = 19
AUTOGROUP = Path("/proc/self/autogroup")


def let_others_go_first(autogroup: Path = AUTOGROUP) -> None:
    """Give this process and its children the lowest priority.

    Linux may schedule by sessions (sched(7), "The autogroup feature"): then ``nice`` counts within a session
    alone. The leader of a session, such as ``setsid nohup`` makes one, lowers its whole session's weight.
    """
    os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    if os.getsid(0) == os.getpid() and autogroup.exists():
        autogroup.write_text(str(NICENESS), encoding="ascii")


def trained(recipe: Recipe, run: Path, tokenizer_file: Path | None = None) -> Path:
    """The model folder of a run that has come to its end; it is trained, or goes on, unless it has.

    Args:
        recipe: of the run.
        run: its folder; the corpus is prepared in it.
        tokenizer_file: a ready SentencePiece model to take instead of learning one.

    Raises:
        RunFolderError: the run was begun with another recipe.
        SystemExit: it has ended with another recipe; or SIGTERM came: the run is saved, and goes on when it
            is asked for again.
    """
    if tokenizer_file is not None:
        given = recipe.tokenizer.model_copy(update={"given": sha256(tokenizer_file)})
        recipe = recipe.model_copy(update={"tokenizer": given})
    done, made_by = run / DONE, trained_by(recipe)
    if not done.exists():
        with open_run(run, recipe, resume=True) as folder:
            prepared = prepare_corpus(recipe, run / "data", tokenizer_file)
            trainer = Trainer(recipe, PreparedCorpus.open(prepared, recipe), folder)
            trainer.resume()
            trainer.train()
            if trainer.stop_reason == "SIGTERM":
                raise SystemExit(f"{run}: stopped and saved; the same command goes on")
            done.write_text(made_by, encoding="utf-8")
    elif done.read_text(encoding="utf-8") != made_by:
        raise SystemExit(f"{run}: has ended with another recipe (see {DONE}); choose another --work folder")
    return run / "model"


def trained_by(recipe: Recipe) -> str:
    """All of a recipe that changes the model.

    Not where its corpus lies; nor, where checkpoints are compared by greedy search, what only a beam needs.
    What has its default is left out, so that a key that is new leaves older runs what they are.
    """
    is_greedy = recipe.training.validation_beam_size == 1
    return recipe.model_dump_json(
        exclude_defaults=True, exclude={"data": {"dir"}, "generation": OF_A_BEAM if is_greedy else set[str]()}
    )
