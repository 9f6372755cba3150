"""The whole trainer on a corpus of 80 pairs: it learns, resumes exactly, and stops when told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from nmt.errors import ConfigError, NumericalError, RunFolderError
from nmt.model_folder.checkpoint import load_model_folder
from testbed.corpora import RECIPE
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus, TokenPairs
from training.recipe import load_recipe
from training.run_folder import open_run
from training.state import checkpoints, newest_intact
from training.train import train
from training.trainer import Trainer
from training.validation import Validation

SHORT = (
    "training.batch_tokens=200",
    "training.precision=fp32",
    "training.save_every=4",
    "training.validate_every=8",
    "training.log_every=2",
    "model.dropout=0.2",
)


def run_trainer(recipe: Path, run: Path, *overrides: str, resume: bool = False) -> Path:
    return train(str(recipe), run, resume, [*SHORT, *overrides])


def final_weights(run: Path) -> dict[str, torch.Tensor]:
    path, problems = newest_intact(run / "checkpoints")
    assert path is not None
    assert not problems
    return {**load_file(path / "weights.safetensors"), **load_file(path / "optimizer.safetensors")}


def assert_same_weights(run: Path, other: Path) -> None:
    left, right = final_weights(run), final_weights(other)
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left)


def events(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def straight_run(recipe_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("straight") / "run"
    run_trainer(recipe_file, run)
    return run


def test_a_run_leaves_a_model_folder_checkpoints_and_a_log(straight_run: Path):
    loaded = load_model_folder(straight_run / "model")
    assert loaded.config.name == "tiny"
    assert [path.name for path in checkpoints(straight_run / "checkpoints")] == [
        "update-00000004",
        "update-00000008",
        "update-00000010",
    ]
    logged = events(straight_run)
    assert [event["update"] for event in logged if event["event"] == "train"] == [2, 4, 6, 8, 10]
    assert {"loss", "nll", "learning_rate", "tokens_per_second", "gradient_norm", "elapsed_s"} <= logged[
        0
    ].keys()
    assert {"bleu", "perplexity"} <= next(e for e in logged if e["event"] == "validation").keys()
    assert list((straight_run / "tensorboard").glob("events.out.tfevents.*"))


def test_an_interrupted_run_ends_in_the_very_weights_of_one_that_was_not(
    recipe_file: Path, straight_run: Path, tmp_path: Path
):
    recipe = load_recipe(str(recipe_file), SHORT)
    run = tmp_path / "run"
    with open_run(run, recipe, resume=False) as folder:
        trainer = Trainer(recipe, PreparedCorpus.open(straight_run / "data", recipe), folder)
        for _ in range(6):  # two updates past the checkpoint that is saved here at 4
            trainer._update()
            if trainer.state.update == 4:
                trainer._save()
    run_trainer(recipe_file, run, resume=True)
    assert_same_weights(run, straight_run)


@pytest.mark.parametrize("sampling", ["training.subword_sampling=0.1", "training.accumulate=3"])
def test_resuming_is_exact_with_sampled_subwords_and_accumulated_gradients(
    recipe_file: Path, tmp_path: Path, sampling: str
):
    run_trainer(recipe_file, tmp_path / "straight", sampling)
    run_trainer(recipe_file, tmp_path / "halved", sampling, "training.max_updates=5")
    run_trainer(recipe_file, tmp_path / "halved", "training.max_updates=10", resume=True)
    assert_same_weights(tmp_path / "straight", tmp_path / "halved")


def start_process(recipe: Path, run: Path, *overrides: str) -> subprocess.Popen[bytes]:
    code = "import sys; from pathlib import Path; from training.train import train; " + (
        "train(sys.argv[1], Path(sys.argv[2]), resume=True, overrides=sys.argv[3:])"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(recipe), str(run), *SHORT, *overrides],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},
    )


def wait_for_checkpoints(run: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + 200
    while len(checkpoints(run / "checkpoints")) < count:
        assert process.poll() is None, "the trainer ended too soon"
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


@pytest.mark.exhaustive
def test_kill_9_loses_at_most_one_checkpoint_interval(recipe_file: Path, tmp_path: Path):
    long = ("training.max_updates=40", "training.keep_checkpoints=100", "training.validate_every=100")
    run = tmp_path / "killed"
    for wanted in (2, 5):
        process = start_process(recipe_file, run, *long)
        wait_for_checkpoints(run, wanted, process)
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_trainer(recipe_file, run, *long, resume=True)
    run_trainer(recipe_file, tmp_path / "straight", *long)
    assert_same_weights(run, tmp_path / "straight")


def test_sigterm_saves_where_the_run_stands(recipe_file: Path, tmp_path: Path):
    run = tmp_path / "run"
    endless = ("training.max_updates=100000", "training.save_every=100000", "training.validate_every=100000")
    process = start_process(recipe_file, run, *endless)
    deadline_s = time.monotonic() + 200
    while not (run / "log.jsonl").exists() or not (run / "log.jsonl").read_text():
        assert process.poll() is None
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    process.terminate()
    assert process.wait(timeout=60) == 0
    path, problems = newest_intact(run / "checkpoints")
    assert path is not None
    assert not problems


def test_a_second_trainer_in_the_same_folder_is_refused(recipe_file: Path, tmp_path: Path):
    recipe = load_recipe(str(recipe_file), SHORT)
    with (
        open_run(tmp_path, recipe, resume=False),
        pytest.raises(RunFolderError, match="another trainer is at work"),
        open_run(tmp_path, recipe, resume=True),
    ):
        pass


def test_a_run_is_not_overwritten_unless_it_is_resumed(recipe_file: Path, straight_run: Path):
    with pytest.raises(RunFolderError, match=r"already holds a run; go on with --resume"):
        run_trainer(recipe_file, straight_run)


@pytest.mark.parametrize(
    ("override", "what"),
    [
        ("model.d_ff=64", "model"),
        ("data.cleaning.max_words=50", "data and tokenizer"),
        ("training.seed=2", "training.seed"),
    ],
)
def test_a_run_begun_with_another_recipe_is_not_resumed(
    recipe_file: Path, straight_run: Path, override: str, what: str
):
    with pytest.raises(RunFolderError, match=f"begun with another {what}"):
        run_trainer(recipe_file, straight_run, override, resume=True)


def test_nan_ends_the_run_and_never_reaches_a_checkpoint(
    recipe_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    original = Trainer._update

    def poisoned(self: Trainer) -> None:
        if self.state.update == 4:
            with torch.no_grad():
                next(self.model.parameters()).fill_(float("nan"))
        original(self)

    monkeypatch.setattr(Trainer, "_update", poisoned)
    with pytest.raises(NumericalError, match=r"by update 6.*last checkpoint is sound"):
        run_trainer(recipe_file, tmp_path / "run")
    assert all(tensor.isfinite().all() for tensor in final_weights(tmp_path / "run").values())


def test_a_wall_clock_limit_and_patience_end_a_run(recipe_file: Path, tmp_path: Path):
    run_trainer(recipe_file, tmp_path / "timed", "training.max_minutes=0.00001")
    assert checkpoints(tmp_path / "timed" / "checkpoints")[-1].name == "update-00000001"
    run_trainer(
        recipe_file,
        tmp_path / "patient",
        "training.max_updates=50",
        "training.validate_every=1",
        "training.patience=2",
        "training.learning_rate=1e-9",
        "training.average_last=1",
    )
    assert checkpoints(tmp_path / "patient" / "checkpoints")[-1].name < "update-00000050"


def test_the_last_weights_are_scored_and_published_though_no_validation_was_due(
    recipe_file: Path, tmp_path: Path
):
    run_trainer(recipe_file, tmp_path / "run", "training.max_updates=5", "training.validate_every=100")
    validations = [event["update"] for event in events(tmp_path / "run") if event["event"] == "validation"]
    assert validations == [5]
    assert (tmp_path / "run" / "model" / "config.json").exists()


def test_a_run_scores_as_many_pairs_as_asked(
    recipe_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    scored: list[int] = []

    def validate(model: object, pairs: TokenPairs, *others: object) -> Validation:
        scored.append(len(pairs))
        return Validation(1.0, 2.0, 3.0, "")

    monkeypatch.setattr("training.trainer.validate", validate)
    run_trainer(recipe_file, tmp_path / "run", "training.max_updates=8", "training.validation_pairs=2")
    assert set(scored) == {2}


@pytest.mark.exhaustive
def test_bf16_trains_too(recipe_file: Path, tmp_path: Path):
    run_trainer(recipe_file, tmp_path / "run", "training.precision=bf16", "training.max_updates=30")
    losses = [event["loss"] for event in events(tmp_path / "run") if event["event"] == "train"]
    assert losses[-1] < losses[0] - 0.5


@pytest.fixture(scope="module")
def first_model(recipe_file, tmp_path_factory) -> Path:
    return run_trainer(recipe_file, tmp_path_factory.mktemp("first") / "run", "training.max_updates=40")


def test_a_run_that_begins_with_a_model_keeps_its_subwords_and_is_scored_before(
    recipe_file, first_model, tmp_path
):
    other = recipe_file.with_name("other.toml")
    text = RECIPE.replace('path = "train"', 'path = "test"').replace("d_model = 16", "d_model = 32")
    text = text.replace('name = "held-out", path = "test"', 'name = "held-out", path = "train"')
    other.write_text(text.replace("vocab_size = 320", "vocab_size = 310"), encoding="utf-8")
    model = train(str(other), tmp_path / "run", False, SHORT, init_from=str(first_model))
    assert (model / "tokenizer.model").read_bytes() == (first_model / "tokenizer.model").read_bytes()
    assert load_model_folder(model).config.model.d_model == 16
    first_score = json.loads((first_model / "scores.json").read_text())["dev"]["bleu"]
    before = next(event for event in events(tmp_path / "run") if event["event"] == "validation")
    assert before["update"] == 0
    assert before["bleu"] == pytest.approx(first_score, abs=0.01)


def test_training_that_gains_nothing_leaves_the_model_it_began_with(recipe_file, first_model, tmp_path):
    model = train(
        str(recipe_file),
        tmp_path / "run",
        False,
        [*SHORT, "training.learning_rate=1e-12"],
        init_from=str(first_model),
    )
    before, after = (load_file(folder / "model.safetensors") for folder in (first_model, model))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_model_of_another_kind_is_no_beginning(recipe_file, first_model, tmp_path):
    recipe = recipe_file.with_name("rnn.toml")
    head = RECIPE.split("[model]")[0]
    recipe.write_text(
        head + '[model]\narchitecture = "rnn"\nd_embedding = 8\nd_hidden = 8\n'
        "[training]\nmax_updates = 2\nlearning_rate = 0.01\n"
    )
    with pytest.raises(ConfigError, match=r"model.architecture is rnn, but --init-from names a transformer"):
        train(str(recipe), tmp_path / "run", False, SHORT, init_from=str(first_model))


def test_a_ready_corpus_needs_no_raw_text(recipe_file, tmp_path):
    ready = prepare_corpus(load_recipe(str(recipe_file)), tmp_path / "data")
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_bytes(recipe_file.read_bytes())
    model = train(str(elsewhere), tmp_path / "run", False, SHORT, data=ready)
    assert (model / "tokenizer.model").read_bytes() == (ready / "tokenizer.model").read_bytes()


def test_a_ready_corpus_of_other_subwords_is_refused(recipe_file, first_model, tmp_path):
    ready = prepare_corpus(load_recipe(str(recipe_file), ["tokenizer.vocab_size=310"]), tmp_path / "data")
    with pytest.raises(ConfigError, match="prepared with other sub-words"):
        train(str(recipe_file), tmp_path / "run", False, SHORT, data=ready, init_from=str(first_model))
