"""Two processes train as one does: the same weights within rounding, and every sentence exactly once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed import HashStore, Store

from nmt.batch import Batch
from nmt.errors import ConfigError
from nmt.tokenizer import Tokenizer
from testbed.corpora import write_toy
from tests.training.cases import CASES, COMMON
from training.batching import BatchStream
from training.data.prepare import prepare_corpus
from training.data.shards import PreparedCorpus
from training.distributed import ALONE, World, fresh_corner, open_world
from training.recipe import load_recipe
from training.state import checkpoints
from training.train import train


@pytest.fixture(scope="module")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def in_two(recipe_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two processes have left what they trained."""
    out = tmp_path_factory.mktemp("two")
    prepare_corpus(load_recipe(str(recipe_file), COMMON), out / "data")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, "-m", "tests.training.in_step", str(recipe_file), str(out)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def losses(run: Path) -> list[float]:
    events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [event["loss"] for event in events if event["event"] == "train"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES)
def test_two_processes_train_to_the_weights_of_one(
    recipe_file: Path, in_two: Path, tmp_path: Path, case: str
):
    alone = [override for override in CASES[case] if "sharded" not in override]
    train(str(recipe_file), tmp_path / "run", False, [*COMMON, *alone])
    one = load_file(checkpoints(tmp_path / "run" / "checkpoints")[-1] / "weights.safetensors")
    two = load_file(in_two / f"{case}.safetensors")
    assert one.keys() == two.keys()
    for name in one:
        torch.testing.assert_close(two[name], one[name], atol=2e-5, rtol=0)
    assert losses(in_two / case) == pytest.approx(losses(tmp_path / "run"), abs=1e-4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES)
def test_two_processes_resume_from_what_one_of_them_saved(in_two: Path, case: str):
    trained = load_file(in_two / f"{case}.safetensors")
    resumed = load_file(in_two / f"{case}.resumed.safetensors")
    assert all(torch.equal(trained[name], resumed[name]) for name in trained)
    assert [path.name for path in checkpoints(in_two / case / "checkpoints")] == ["update-00000005"]


def rows(batch: Batch) -> list[tuple[int, ...]]:
    """Real target tokens of each sentence that counts."""
    assert batch.target_out_BT is not None
    assert batch.target_mask_BT is not None
    return [
        tuple(ids[mask].tolist())
        for ids, mask in zip(batch.target_out_BT, batch.target_mask_BT, strict=True)
        if mask.any()
    ]


@pytest.mark.parametrize("budget", [1, 40, 200])
def test_every_sentence_is_seen_once_in_an_epoch_of_1_then_2_then_1_processes(
    recipe_file: Path, tmp_path: Path, budget: int
):
    recipe = load_recipe(str(recipe_file))
    corpus = PreparedCorpus.open(prepare_corpus(recipe, tmp_path / "data"), recipe)

    def stream() -> BatchStream:
        return BatchStream(
            corpus.split("train"),
            Tokenizer.load(corpus.tokenizer_file),
            batch_tokens=budget,
            seed=1,
            subword_sampling=0.0,
        )

    whole_epoch, seen = [], []
    straight = stream()
    while straight.epoch == 0 and straight.next_batch < len(straight._batches):
        whole_epoch += rows(straight.next())
    place = (0, 0)
    thirds = [len(straight._batches) // 3, 2 * len(straight._batches) // 3, len(straight._batches)]
    for size, end in zip((1, 2, 1), thirds, strict=True):
        processes = [stream() for _ in range(size)]
        for rank, its_stream in enumerate(processes):
            its_stream.seek(*place)
            while its_stream.next_batch < end:
                seen += rows(World(rank, size).part(its_stream.next()))
        place = (processes[0].epoch, processes[0].next_batch)
    assert len(seen) == len(corpus.split("train"))
    assert sorted(seen) == sorted(whole_epoch)


def test_each_process_draws_dropout_of_its_own():
    seeds = {World(rank, 8).seed(1, update) for rank in range(8) for update in range(1000)}
    assert len(seeds) == 8000
    assert World(0, 8).seed(3, 5) == ALONE.seed(3, 5)


def test_processes_started_again_meet_where_no_dead_one_has_written():
    store = HashStore()
    corners: dict[int, Store] = {}
    for start in ("first", "second"):
        processes = [
            threading.Thread(target=lambda rank=rank: corners.update({rank: fresh_corner(store, rank, 3)}))
            for rank in (2, 1, 0)
        ]
        for process in processes:  # the first process comes last, when the others have long been asking
            process.start()
        for process in processes:
            process.join()
        assert [corner.check(["address"]) for corner in corners.values()] == [False] * 3
        corners[0].set("address", start)
        assert [corner.get("address").decode() for corner in corners.values()] == [start] * 3


def test_the_first_process_started_again_is_not_content_with_answers_to_a_dead_one():
    store = HashStore()
    store.set("start/1", "one that is dead")
    store.set("start/one that is dead", "what it was told")
    corners: list[Store] = []
    first = threading.Thread(target=lambda: corners.append(fresh_corner(store, 0, 2)))
    first.start()
    other = fresh_corner(store, 1, 2)
    first.join()
    other.set("address", "new")
    assert corners[0].get("address") == b"new"


def test_sharing_out_needs_more_than_one_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with (
        pytest.raises(ConfigError, match=r"training.sharded .* torchrun --nproc-per-node"),
        open_world(sharded=True),
    ):
        pass


def test_a_matrix_that_is_shared_out_is_not_for_muon(recipe_file: Path):
    with pytest.raises(ConfigError, match="set optimizer to adamw"):
        load_recipe(str(recipe_file), ["training.sharded=true", "training.optimizer=muon"])


def test_a_run_that_torchrun_restarts_is_resumed(
    recipe_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    train(str(recipe_file), tmp_path / "run", False, [*COMMON, "training.max_updates=2"])
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    train(str(recipe_file), tmp_path / "run", False, COMMON)
    assert checkpoints(tmp_path / "run" / "checkpoints")[-1].name == "update-00000005"
