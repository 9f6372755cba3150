"""What a run says at its beginning and its end, and what it keeps of what it was begun with."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from nmt.errors import ConfigError, RunFolderError
from training.batching import epoch_batches
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus
from training.guidance import sized
from training.recipe import load_recipe
from training.state import newest_intact
from training.train import train
from training.trainer import Trainer

SHORT = (
    "training.batch_tokens=200",
    "training.precision=fp32",
    "training.max_updates=3",
    "training.save_every=2",
    "training.validate_every=2",
)


@pytest.fixture(scope="module")
def ended_run(recipe_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("ended") / "run"
    train(str(recipe_file), run, overrides=SHORT)
    return run


def last_update(run: Path) -> str:
    path, _ = newest_intact(run / "checkpoints")
    assert path is not None
    return path.name


def test_the_end_tells_why_how_good_where_and_what_to_type(
    recipe_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "a run"
    train(str(recipe_file), run, overrides=SHORT)
    said = capsys.readouterr().err
    assert "nmt: the run ended at update 3: all 3 updates are done\n" in said
    assert "nmt: BLEU " in said
    assert f"model in {run / 'model'}\n" in said
    assert f"nmt: next: nmt translate --model '{run / 'model'}' TEXT\n" in said
    assert f"--run '{run}' --resume --set training.max_updates=N\n" in said


def test_an_ended_run_keeps_its_settings_and_says_that_it_has_ended(
    recipe_file: Path, ended_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(str(recipe_file), ended_run, resume=True)
    said = capsys.readouterr().err
    assert last_update(ended_run) == "update-00000003"
    assert "keeps what it was begun with" in said
    assert "training.max_updates = 3 (the recipe: 10)" in said
    assert "the run had ended already at update 3: all 3 updates are done" in said
    train(str(recipe_file), ended_run, resume=True, overrides=["training.max_minutes=0.0000001"])
    assert "had ended already at update 3: 1e-07 minutes are over" in capsys.readouterr().err
    with pytest.raises(RunFolderError, match="begun with the recipe tiny, not toy"):
        train("toy", ended_run, resume=True)


def test_a_run_that_sigterm_stopped_tells_how_to_go_on(
    recipe_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    update = Trainer._update

    def stopped(trainer: Trainer) -> None:
        update(trainer)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Trainer, "_update", stopped)
    train(str(recipe_file), tmp_path / "run", overrides=SHORT)
    said = capsys.readouterr().err
    command = f"nmt train {recipe_file} --run {tmp_path / 'run'} --resume"
    assert f"nmt: stopped by SIGTERM at update 1 of 3; all is saved. To go on: {command}\n" in said


def test_adapting_without_a_model_names_the_command_and_leaves_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(ConfigError) as error:
        train("adapt", run, overrides=["data.dir=mine"])
    command = f"nmt train adapt --init-from general --set data.dir=mine --run {run}"
    assert str(error.value) == f"adapt adapts a model and needs --init-from; type: {command}"
    with pytest.raises(ConfigError, match="needs --init-from"):
        train("adapt", run, resume=True)
    assert not run.exists()


def test_few_pairs_take_few_updates_and_many_what_the_recipe_says(recipe_file: Path, tmp_path: Path) -> None:
    few = load_recipe(str(recipe_file), [*SHORT, "training.max_updates=600", "training.max_epochs=10"])
    prepare_corpus(few, tmp_path / "data")
    corpus = PreparedCorpus.open(tmp_path / "data", few)
    n_batches = len({tuple(batch) for batch in _batches(corpus)})
    options = sized(few, corpus).training
    assert options.max_updates == 10 * n_batches < 600
    assert options.validate_every == 2
    late = few.training.model_copy(update={"validate_every": 150, "save_every": 150})
    options = sized(few.model_copy(update={"training": late}), corpus).training
    assert 4 * options.validate_every >= options.max_updates > 3 * options.validate_every
    brief = few.training.model_copy(update={"max_updates": 5})
    assert sized(few.model_copy(update={"training": brief}), corpus).training.max_updates == 5
    without = few.training.model_copy(update={"max_epochs": None})
    assert sized(few.model_copy(update={"training": without}), corpus).training == without


def _batches(corpus: PreparedCorpus) -> list[list[int]]:
    pairs = corpus.split("train")
    return [batch.tolist() for batch in epoch_batches(pairs.source_lengths, pairs.target_lengths, 200, 1, 0)]
