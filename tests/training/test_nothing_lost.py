"""T1 to T8 of what training promises, in short; ``-m slow`` runs ``scripts/training_faults.py`` in full."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nmt.errors import DiskFullError
from nmt.model_folder.checkpoint import FILES, load_model_folder
from testbed.corpora import write_toy
from testbed.faults import Crash, crash, dying_at
from tests.training.data.test_prepare import contents
from tests.training.test_state import trained
from training.data.shards import PreparedCorpus
from training.publish import restore_interrupted
from training.recipe import load_recipe
from training.run_folder import RunFolder, open_run
from training.state import TrainingState, newest_intact, save_checkpoint
from training.train import train
from training.trainer import Trainer
from training.validation import Validation

SHORT = ("training.precision=fp32", "training.batch_tokens=200", "model.dropout=0.2")
OFTEN = (*SHORT, "training.save_every=2", "training.validate_every=4", "training.max_updates=8")


@pytest.fixture(scope="module")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def straight(recipe_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("straight") / "run"
    train(str(recipe_file), run, False, OFTEN)
    return run


def final(run: Path) -> dict[str, bytes]:
    path, problems = newest_intact(run / "checkpoints")
    assert path is not None
    assert not problems
    return {name: (path / name).read_bytes() for name in ("weights.safetensors", "optimizer.safetensors")}


@pytest.mark.parametrize("damaged", [False, True], ids=["new", "in the place of a damaged one"])
def test_a_crash_at_any_point_of_a_save_leaves_the_checkpoint_before_it(tmp_path: Path, damaged: bool):
    model, optimizer = trained()
    point = 0
    while True:
        point += 1
        folder = tmp_path / str(point)
        for update in (1, 2, *((3,) if damaged else ())):
            save_checkpoint(folder, model, optimizer, TrainingState(update=update), keep=3)
        if damaged:
            (folder / "update-00000003" / "weights.safetensors").write_bytes(b"")
        with dying_at(point, crash) as operations:
            try:
                save_checkpoint(folder, model, optimizer, TrainingState(update=3), keep=3)
            except Crash:
                pass
            else:
                break
        path, _ = newest_intact(folder)
        assert path is not None
        assert path.name in ("update-00000002", "update-00000003")
        save_checkpoint(folder, model, optimizer, TrainingState(update=4), keep=2)  # no rest is in the way
        assert newest_intact(folder) == (folder / "update-00000004", [])
    assert point > 12
    assert operations.seen == point - 1


def test_a_crash_at_any_point_of_publishing_leaves_a_model(recipe_file: Path, straight: Path, tmp_path: Path):
    recipe = load_recipe(str(recipe_file), OFTEN)
    corpus = PreparedCorpus.open(straight / "data", recipe)
    trainer = Trainer(recipe, corpus, RunFolder(tmp_path, silent=True))
    validation = Validation(loss=1.0, perplexity=2.7, bleu=3.0, signature="")
    point = 0
    while True:
        point += 1
        shutil.rmtree(trainer.run_folder.model, ignore_errors=True)
        trainer._publish(trainer.model, validation)
        with dying_at(point, crash):
            try:
                trainer._publish(trainer.model, validation)
            except Crash:
                # what a power cut would not have done: tidy up on the way out
                pass
            else:
                break
        restore_interrupted(trainer.run_folder.model)
        load_model_folder(trainer.run_folder.model)
        assert [path.name for path in tmp_path.iterdir() if path.name != "model"] == []
    assert point > 12


@pytest.mark.parametrize("writes", ["checkpoint", "log"])
def test_a_full_disk_has_an_error_of_its_own(tmp_path: Path, writes: str):
    error: Exception
    if writes == "checkpoint":
        save_checkpoint(tmp_path, *trained(), TrainingState(update=1), keep=3)
        with no_file_over(2**16), pytest.raises(DiskFullError) as stopped:
            save_checkpoint(tmp_path, *trained(size=2**15), TrainingState(update=2), keep=3)
        error = stopped.value
        assert newest_intact(tmp_path) == (tmp_path / "update-00000001", [])
    else:
        if not Path("/dev/full").is_char_device():
            pytest.skip("this system has no /dev/full")
        (tmp_path / "log.jsonl").symlink_to("/dev/full")
        folder = RunFolder(tmp_path)
        with pytest.raises(DiskFullError) as stopped:
            folder.log("train", 1, loss=1.0)
        folder.close()
        error = stopped.value
    assert isinstance(error, DiskFullError)
    assert "no room (a full disk" in str(error)
    assert str(error).endswith("earlier checkpoints stand: make room, then --resume")


def test_whatever_has_no_room_ends_the_run_with_the_same_error(
    recipe_file: Path, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """TensorBoard's events are written by a thread of that library, which fails at a later call."""

    def add_scalar(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("training.run_folder.SummaryWriter.add_scalar", add_scalar)
        with pytest.raises(DiskFullError, match="earlier checkpoints stand: make room, then --resume"):
            train(str(recipe_file), tmp_path / "run", False, [*OFTEN, "training.log_every=3"])
    train(str(recipe_file), tmp_path / "run", True, OFTEN)
    assert final(tmp_path / "run") == final(straight)


@pytest.mark.parametrize("name", FILES)
def test_a_disk_that_fills_up_at_any_file_of_a_model_is_told_and_the_former_model_stands(
    recipe_file: Path, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    recipe = load_recipe(str(recipe_file), OFTEN)
    trainer = Trainer(
        recipe, PreparedCorpus.open(straight / "data", recipe), RunFolder(tmp_path, silent=True)
    )
    trainer._publish(trainer.model, Validation(loss=1.0, perplexity=2.7, bleu=3.0, signature=""))
    before = contents(tmp_path / "model")

    def no_room(path: Path) -> None:
        if path.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("nmt.model_folder.checkpoint.flush", no_room)
    with pytest.raises(DiskFullError, match="what was there stands: make room, then --resume"):
        trainer._publish(trainer.model, Validation(loss=1.0, perplexity=2.7, bleu=4.0, signature=""))
    assert contents(tmp_path / "model") == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@contextmanager
def no_file_over(n_bytes: int) -> Iterator[None]:
    """The system refuses this process larger files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("where", ["gradients", "validation", "save"])
def test_sigterm_is_answered_at_once_and_nothing_differs_in_the_end(
    recipe_file: Path, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
):
    recipe = load_recipe(str(recipe_file), OFTEN)
    target = {
        "gradients": "training.step.TrainingStep.gradients",
        "validation": "training.trainer.validate",
        "save": "training.trainer.save_checkpoint",
    }[where]
    owner, name = target.rsplit(".", 1)
    calls = []
    with open_run(tmp_path / "run", recipe, resume=False) as folder, monkeypatch.context() as patch:
        trainer = Trainer(recipe, PreparedCorpus.open(straight / "data", recipe), folder)
        original = getattr(trainer.step, name) if owner.endswith("TrainingStep") else None
        import training.trainer

        holder = trainer.step if original else training.trainer
        original = original or getattr(holder, name)

        def interrupted(*arguments: object, **options: object) -> object:
            calls.append(trainer.state.update)
            if trainer.state.update == 4:
                os.kill(os.getpid(), signal.SIGTERM)
            return original(*arguments, **options)

        patch.setattr(holder, name, interrupted)
        trainer.train()
        assert trainer.stop_reason == "SIGTERM"
        assert max(calls) == 4
    path, _ = newest_intact(tmp_path / "run" / "checkpoints")
    assert path is not None
    assert path.name == "update-00000004"
    shutil.copytree(straight / "data", tmp_path / "run" / "data")
    train(str(recipe_file), tmp_path / "run", True, OFTEN)
    assert final(tmp_path / "run") == final(straight)
    scores = [(run / "model" / "scores.json").read_bytes() for run in (straight, tmp_path / "run")]
    assert scores[0] == scores[1]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("promise", ["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"])
def test_the_promise_holds_in_full(tmp_path: Path, promise: str):
    out = tmp_path / "training.json"
    command = [sys.executable, "-m", "scripts.training_faults", "--only", promise, "--out", str(out)]
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    record = json.loads(out.read_text())[promise]
    assert record["kept"], record
