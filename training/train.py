"""``nmt train``: prepare the corpus if need be, then train, or go on; alone or under ``torchrun``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nmt.errors import ConfigError
from nmt.model_folder.checkpoint import (
    TOKENIZER,
    LoadedModel,
    load_model_folder,
    resolve_model,
)
from nmt.model_folder.files import sha256
from nmt.model_folder.vocabulary import VOCABULARY
from nmt.models.build import Model
from training.data.shards import PreparedCorpus
from training.disk import full_disk_told
from training.distributed import World, open_world, was_restarted
from training.loop import Trainer
from training.recipe import Recipe, load_recipe
from training.run_folder import RunFolder, open_run
from training.state import cannot_save

RUNS = Path("runs")


def refuse_imported(loaded: LoadedModel) -> None:
    """Raise ``ConfigError`` for a model whose pieces are not in SentencePiece's order: none is trained on."""
    if (loaded.folder / VOCABULARY).exists():
        raise ConfigError(
            f"{loaded.folder}: an imported model cannot be trained on; begin with one of ours, or anew"
        )


def train(
    recipe: str,
    run: Path | None = None,
    resume: bool = False,
    overrides: Sequence[str] = (),
    *,
    data: Path | None = None,
    init_from: str | None = None,
) -> Path:
    """Train ``recipe`` in ``run`` (default ``runs/<name>``).

    Args:
        recipe: a file, or the name of one that ships.
        run: the run's folder.
        resume: go on from the newest checkpoint, if there is one.
        overrides: ``dotted.key=value`` of the recipe.
        data: a prepared corpus, taken as it is without the raw corpora. None prepares ``run/data``.
        init_from: a model folder or the name of one: begin with its weights and keep its sub-words and
            architecture.

    Returns:
        The model folder: the best model on the development set.

    Raises:
        ConfigError: the recipe is wrong, or does not fit ``init_from``.
        DataError: a corpus is wrong.
        DiskFullError: no room for what the run writes; earlier checkpoints stand.
        ModelFolderError: ``init_from`` is none.
        RunFolderError: the folder holds a run already and ``resume`` is False, or another trainer has it.
    """
    settings = load_recipe(recipe, overrides)
    tokenizer_file: Path | None = None
    initial: Model | None = None
    if init_from is not None:
        loaded = load_model_folder(resolve_model(init_from))
        refuse_imported(loaded)
        initial, tokenizer_file = loaded.model, loaded.folder / TOKENIZER
        settings = settings.beginning_with(loaded.config.model, sha256(tokenizer_file))
    path = run or RUNS / settings.name
    resume = resume or was_restarted()
    with (
        full_disk_told(path, cannot_save),  # of whatever is written there, TensorBoard's events too
        open_world(sharded=settings.training.sharded) as world,
        _folder(path, settings, world, resume) as folder,
    ):
        if data is not None:
            corpus = _open_ready(data, settings, tokenizer_file)
        else:
            if world.is_first:
                # needs libraries that training does not
                from training.data.prepare import prepare_corpus  # noqa: PLC0415

                prepare_corpus(settings, path / "data", tokenizer_file)
            world.wait_for_all()
            corpus = PreparedCorpus.open(path / "data", settings)
        trainer = Trainer(settings, corpus, folder, world)
        if resume:
            trainer.resume()
        if initial is not None and trainer.state.update == 0:
            trainer.begin_with(initial)
        trainer.train()
    return folder.model


@contextmanager
def _folder(path: Path, settings: Recipe, world: World, resume: bool) -> Iterator[RunFolder]:
    """The run's folder: the first process has its lock, the others look on."""
    if world.is_first:
        with open_run(path, settings, resume=resume) as folder:
            yield folder
    else:
        yield RunFolder(path, silent=True)


def _open_ready(data: Path, settings: Recipe, tokenizer_file: Path | None) -> PreparedCorpus:
    """A corpus prepared earlier: by this recipe, or with the sub-words of the model to begin with."""
    if tokenizer_file is None:
        return PreparedCorpus.open(data, settings)
    corpus = PreparedCorpus.open(data)
    if sha256(corpus.tokenizer_file) != settings.tokenizer.given:
        raise ConfigError(
            f"{data}: prepared with other sub-words than those of --init-from; leave --data out to prepare it"
        )
    return corpus
