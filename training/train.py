"""``nmt train``: prepare the corpus if need be, then train, or go on; alone or under ``torchrun``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nmt.commands.lines import note
from nmt.config import apply_overrides, parse
from nmt.errors import ConfigError, RunFolderError
from nmt.model_folder.checkpoint import (
    TOKENIZER,
    LoadedModel,
    load_model_folder,
    resolve_model,
)
from training.data.shards import PreparedCorpus
from training.data.tokenizers import checksum_in, is_imported
from training.disk import full_disk_told
from training.distributed import World, open_world, was_restarted
from training.guidance import has_same_data, needs_a_model, resuming, sized, tell_end, tell_start
from training.recipe import Recipe, load_recipe
from training.run_folder import RunFolder, begun_with, open_run
from training.state import cannot_save, checkpoints
from training.trainer import Trainer

RUNS = Path("runs")


def for_imported(settings: Recipe, loaded: LoadedModel) -> Recipe:
    """The recipe for an imported model: its pairs undisturbed, since it knows none of our pieces.

    Raises:
        ConfigError: the recipe asks for what needs pieces of ours.
        UnsupportedLanguageError: the model does not translate between the recipe's languages.
    """
    options = settings.training
    for key, wanted in (
        ("objective", options.objective != "translation"),
        ("attention_links", options.attention_links is not None),
    ):
        if wanted:
            raise ConfigError(
                f"{loaded.folder}: training.{key} = {getattr(options, key)} is not there for an imported "
                "model; begin with one of ours, or leave it out"
            )
    data = settings.data
    loaded.between(data.source_language, data.target_language)
    if data.noise is not None:
        note("data.noise is left out: an imported model has none of the placeholders that it teaches")
    return settings.model_copy(update={"data": data.model_copy(update={"noise": None})})


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
        resume: go on from the newest checkpoint, if there is one, with the settings the run was begun with.
        overrides: ``dotted.key=value`` of the recipe.
        data: a prepared corpus, taken as it is without the raw corpora. None prepares ``run/data``.
        init_from: a model folder or the name of one: its weights, sub-words and architecture are kept.

    Returns:
        The model folder: the best model on the development set.

    Raises:
        ConfigError: the recipe is wrong, does not fit ``init_from``, or needs it.
        DataError: a corpus is wrong.
        DiskFullError: no room for what the run writes; earlier checkpoints stand.
        ModelFolderError: ``init_from`` is none.
        RunFolderError: the folder holds a run already and ``resume`` is False, or another trainer has it.
    """
    given = load_recipe(recipe, overrides)
    path = run or RUNS / given.name
    resume = resume or was_restarted()
    settings = _kept(path, given, overrides) if resume else given
    begins = settings.adapts or settings.tokenizer.given is not None
    if begins and init_from is None and not (resume and checkpoints(path / "checkpoints")):
        raise needs_a_model(recipe, path, settings.data.dir)
    loaded = None if init_from is None else load_model_folder(resolve_model(init_from))
    tokenizer_file = None if settings.tokenizer.given is None or data else path / "data" / TOKENIZER
    if loaded is not None:
        tokenizer_file = loaded.folder / TOKENIZER
        settings = _beginning_with(loaded, settings)
    with (
        full_disk_told(path, cannot_save),  # of whatever is written there, TensorBoard's events too
        open_world(sharded=settings.training.sharded) as world,
        _folder(path, settings, world, resume) as folder,
    ):
        corpus = _corpus(data, path / "data", settings, tokenizer_file, world)
        settings = sized(settings, corpus)
        if world.is_first:
            tell_start(path, settings, given, corpus)
        trainer = Trainer(settings, corpus, folder, world)
        first_update = _resumed(trainer) if resume else 0
        if first_update == 0 and loaded is not None:
            trainer.begin_with(loaded.model)
        elif first_update == 0 and begins:  # no checkpoint was intact
            raise needs_a_model(recipe, path, settings.data.dir)
        trainer.train()
        if world.is_first:
            tell_end(trainer, first_update, resuming(recipe, path, data, overrides if resume else ()))
    return folder.model


def _beginning_with(loaded: LoadedModel, settings: Recipe) -> Recipe:
    """The recipe with the architecture of a model whose weights are kept."""
    if is_imported(loaded.folder):
        settings = for_imported(settings, loaded)
    return settings.beginning_with(loaded.config.model, checksum_in(loaded.folder))


def _resumed(trainer: Trainer) -> int:
    """Go on from the newest checkpoint; its update, 0 without one."""
    trainer.resume()
    return trainer.state.update


def _corpus(
    ready: Path | None, folder: Path, settings: Recipe, tokenizer_file: Path | None, world: World
) -> PreparedCorpus:
    """The corpus that is ``ready``, or else that of ``folder``, which the first process prepares."""
    if ready is not None:
        return _open_ready(ready, settings)
    if world.is_first:
        # needs libraries that training does not
        from training.data.prepare import prepare_corpus  # noqa: PLC0415

        prepare_corpus(settings, folder, tokenizer_file)
    world.wait_for_all()
    return PreparedCorpus.open(folder, settings)


@contextmanager
def _folder(path: Path, settings: Recipe, world: World, resume: bool) -> Iterator[RunFolder]:
    """The run's folder: the first process has its lock, the others look on."""
    if world.is_first:
        with open_run(path, settings, resume=resume) as folder:
            yield folder
    else:
        yield RunFolder(path, silent=True)


def _kept(path: Path, given: Recipe, overrides: Sequence[str]) -> Recipe:
    """The settings that the run in ``path`` was begun with, changed by ``overrides`` alone."""
    begun = begun_with(path)
    if begun is None:
        return given
    if begun.name != given.name:
        raise RunFolderError(
            f"{path}: begun with the recipe {begun.name}, not {given.name}; name that or another --run"
        )
    kept = parse(Recipe, apply_overrides(begun.model_dump(mode="json"), overrides), where=str(path))
    if kept.data.dir is None and has_same_data(kept, given):  # which may lie elsewhere by now
        return kept.model_copy(update={"data": given.data})
    return kept


def _open_ready(data: Path, settings: Recipe) -> PreparedCorpus:
    """A corpus prepared earlier: by this recipe, or with the sub-words of the model to begin with."""
    if settings.tokenizer.given is None:
        return PreparedCorpus.open(data, settings)
    corpus = PreparedCorpus.open(data)
    if checksum_in(corpus.folder) != settings.tokenizer.given:
        raise ConfigError(
            f"{data}: prepared with other sub-words than those of --init-from; leave --data out to prepare it"
        )
    return corpus
