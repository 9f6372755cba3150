"""``nmt train``: prepare the corpus if need be, then train, or go on training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from training.loop import Trainer
from training.prepare import prepare_corpus
from training.recipe import load_recipe
from training.run_folder import open_run
from training.shards import PreparedCorpus

RUNS = Path("runs")


def train(recipe: str, run: Path | None = None, resume: bool = False, overrides: Sequence[str] = ()) -> Path:
    """Train ``recipe`` in ``run`` (default ``runs/<name>``).

    Returns:
        The model folder: the best model on the development set.

    Raises:
        ConfigError: the recipe is wrong.
        DataError: a corpus is.
        RunFolderError: the folder holds a run already and ``resume`` is False, or another trainer has it.
    """
    settings = load_recipe(recipe, overrides)
    path = run or RUNS / settings.name
    with open_run(path, settings, resume=resume) as folder:
        data = prepare_corpus(settings, path / "data")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        trainer = Trainer(settings, PreparedCorpus.open(data, settings), folder, device)
        if resume:
            trainer.resume()
        trainer.train()
    return folder.model
