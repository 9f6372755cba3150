"""A run's folder, ``runs/<name>/``: one trainer at a time, a log of events, scalars for TensorBoard.

data/           the prepared corpus
checkpoints/    see ``training.state``
model/          the best model so far, a model folder ready to serve
log.jsonl       one event a line: "train", "validation", "note"
tensorboard/    the same scalars
recipe.json     the recipe in full, as first started
reference.safetensors    the model begun with, which ``training.preferences`` compares with
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from torch.utils.tensorboard.writer import SummaryWriter

from nmt.errors import RunFolderError
from nmt.model_folder.files import flush
from nmt.model_folder.lock import locked
from training.recipe import Recipe
from training.run_log import LOG
from training.state import cannot_save, checkpoints

RECIPE = "recipe.json"


class RunFolder:
    """Places within a run's folder, and its two logs; a ``silent`` one writes neither."""

    def __init__(self, path: Path, *, silent: bool = False) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.model = path / "model"
        self.reference = path / "reference.safetensors"
        self._silent = silent
        if not silent:
            self._log = (path / LOG).open("a", encoding="utf-8")
            self._tensorboard = SummaryWriter(str(path / "tensorboard"))

    def log(self, event: str, update: int, **values: float | str | None) -> None:
        """Append an event; numbers also go to TensorBoard as ``event/name``."""
        if self._silent:
            return
        shown = {key: round(v, 6) if isinstance(v, float) else v for key, v in values.items()}
        try:
            self._log.write(json.dumps({"event": event, "update": update, **shown}) + "\n")
            self._log.flush()
        except OSError as error:
            raise cannot_save(self.path / LOG, error) from None
        for key, value in values.items():
            if isinstance(value, int | float) and key != "elapsed_s":
                self._tensorboard.add_scalar(f"{event}/{key}", value, update)

    def close(self) -> None:
        """Close both logs; what a full disk did not take has been told when it was written."""
        if not self._silent:
            with suppress(OSError):
                self._log.close()
            with suppress(OSError):
                self._tensorboard.close()


@contextmanager
def open_run(path: Path, recipe: Recipe, *, resume: bool) -> Iterator[RunFolder]:
    """Lock the folder for the length of the block.

    Raises:
        RunFolderError: another trainer has it, or it holds a run and ``resume`` was not asked for, or the run
            in it was begun with another recipe.
    """
    path.mkdir(parents=True, exist_ok=True)
    busy = RunFolderError(f"{path}: another trainer is at work here; stop it or choose another --run")
    with locked(path / "lock", busy):
        if checkpoints(path / "checkpoints") and not resume:
            raise RunFolderError(f"{path}: already holds a run; go on with --resume, or choose another --run")
        _check_recipe(path / RECIPE, recipe)
        run = RunFolder(path)
        try:
            yield run
        finally:
            run.close()


def begun_with(path: Path) -> Recipe | None:
    """The recipe that the run in ``path`` was begun with, if there is one."""
    file = path / RECIPE
    return Recipe.model_validate_json(file.read_text(encoding="utf-8")) if file.exists() else None


def _check_recipe(file: Path, recipe: Recipe) -> None:
    """A run goes on with the model, corpus, optimizer and seed it began with; limits may change."""
    begun = begun_with(file.parent)
    if begun is not None:
        for key, there, here in (
            ("model", begun.model, recipe.model),
            ("data and tokenizer", begun.corpus_hash(), recipe.corpus_hash()),
            ("training.optimizer", begun.training.optimizer, recipe.training.optimizer),
            ("training.seed", begun.training.seed, recipe.training.seed),
            ("training.batch_tokens", begun.training.batch_tokens, recipe.training.batch_tokens),
        ):
            if there != here:
                raise RunFolderError(
                    f"{file.parent}: begun with another {key} (see {file.name}); choose another --run folder"
                )
    else:
        aside = file.with_name(f".{file.name}.new")
        aside.write_text(recipe.model_dump_json(indent=2) + "\n", encoding="utf-8")
        flush(aside)
        aside.rename(file)
