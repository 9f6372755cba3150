"""Runs of several models for one table: those that have ended are kept, those that were stopped go on."""

from __future__ import annotations

import time
from pathlib import Path

from nmt.files import sha256
from training.loop import Trainer
from training.prepare import prepare_corpus
from training.recipe import Recipe
from training.run_folder import open_run
from training.shards import PreparedCorpus

DONE = "done"


def trained(recipe: Recipe, run: Path, tokenizer_file: Path | None = None) -> Path:
    """The model folder of a run that has come to its end; it is trained, or goes on, unless it has.

    Args:
        recipe: of the run.
        run: its folder; the corpus is prepared in it.
        tokenizer_file: a ready SentencePiece model to take instead of learning one.

    Raises:
        SystemExit: SIGTERM came: the run is saved, and goes on when it is asked for again.
    """
    if tokenizer_file is not None:
        given = recipe.tokenizer.model_copy(update={"given": sha256(tokenizer_file)})
        recipe = recipe.model_copy(update={"tokenizer": given})
    if not (run / DONE).exists():
        with open_run(run, recipe, resume=True) as folder:
            prepared = prepare_corpus(recipe, run / "data", tokenizer_file)
            trainer = Trainer(recipe, PreparedCorpus.open(prepared, recipe), folder)
            trainer.resume()
            began_s = time.monotonic()
            trainer.train()
            if trainer.stop_reason == "SIGTERM":
                raise SystemExit(f"{run}: stopped and saved; the same command goes on")
            (run / DONE).write_text(f"{time.monotonic() - began_s:.0f} s\n", encoding="utf-8")
    return run / "model"
