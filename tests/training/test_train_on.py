"""A sitting of training: begun anew, stopped by SIGTERM, resumed, scored and written into the ledger."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.train_on import (
    DEVELOPMENT_SETS,
    ENDED,
    EVERYDAY,
    latest_average,
    mixture,
    newest_state,
    plan,
    read_ledger,
    share_of_mixture,
    tokens_seen,
    write_line,
)
from testbed.corpora import PAIRS, write_text

RECIPE = """
[data]
train = [{ kind = "text", path = "train" }]
dev = [{ kind = "text", path = "dev" }]

[tokenizer]
vocab_size = 320

[model]
architecture = "transformer"
d_model = 16
d_ff = 32
n_heads = 2
n_encoder_layers = 1
n_decoder_layers = 1

[training]
max_updates = 100000
learning_rate = 0.01
batch_tokens = 64
schedule = "constant"
warmup_updates = 2
save_every = 20
validate_every = 20
average_last = 2
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    write_text(folder, "train", PAIRS[:60])
    write_text(folder, "dev", PAIRS[60:])
    for item in DEVELOPMENT_SETS:
        path = folder / item.path
        write_text(path.parent, path.name, PAIRS[60:])
    (folder / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    return folder


@contextmanager
def sitting(data: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "scripts.train_on", str(data), "--runs", str(data.parent / "runs")]
    command += ["--recipe", str(data / "tiny.toml"), "--ledger", str(data.parent / "ledger.jsonl"), *options]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for_updates(data: Path, more_than: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(6000):
        if any(newest_state(run).update > more_than for run in (data.parent / "runs").glob("tiny-????????")):
            return
        assert process.poll() is None, "the sitting ended by itself"
        time.sleep(0.1)
    raise AssertionError(f"not more than {more_than} updates within ten minutes")


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_a_sitting_is_stopped_resumed_and_told_in_the_ledger(data: Path):
    lines: list[dict[str, Any]] = []
    for already in (0, 1):
        with sitting(data) as process:
            wait_for_updates(data, lines[-1]["models"]["tiny"]["updates"] if lines else 0, process)
            process.send_signal(signal.SIGTERM)
            assert process.wait(600) == 0
        lines = read_ledger(data.parent / "ledger.jsonl")
        assert len(lines) == already + 1
    first, second = (line["models"]["tiny"] for line in lines)
    (run,) = (data.parent / "runs").glob("tiny-????????")
    assert (run / "average" / "config.json").exists()
    assert first["updates"] > 0
    assert second["updates"] > 0
    assert second["total_target_tokens"] == first["total_target_tokens"] + second["target_tokens"]
    (point,) = second["curve"]
    assert point["total_target_tokens"] == second["total_target_tokens"]
    assert set(point["bleu"]) == {
        *(item.path for item in DEVELOPMENT_SETS),
        *(path.name for path in EVERYDAY),
        "mean",
    }
    assert point["bleu"]["mean"] == pytest.approx(
        sum(point["bleu"][item.path] for item in DEVELOPMENT_SETS) / len(DEVELOPMENT_SETS), abs=0.01
    )


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_a_run_that_ends_is_blended_with_what_it_began_with(data: Path):
    for _ in range(2):
        with sitting(data, "--minutes", "0.05") as process:
            assert process.wait(600) == 0
    first, second = (line["models"]["tiny"] for line in read_ledger(data.parent / "ledger.jsonl"))
    runs = data.parent / "runs"
    assert second["run"] == f"{first['run']}-2"
    assert second["init_from"] == f"{first['run']}/average"
    assert not (runs / second["run"] / "data").exists(), "the corpus of the first is used"
    assert not (runs / first["run"] / "blended").exists()
    alone, blended = second["curve"]
    assert blended["blended"] is True
    assert blended["total_target_tokens"] == alone["total_target_tokens"] == second["total_target_tokens"]
    assert latest_average(runs, "tiny", other_than=runs / "tiny") == runs / second["run"] / "blended"


def test_each_run_has_a_seed_of_its_own_and_keeps_it(data: Path):
    ledger, runs = data.parent / "ledger.jsonl", data.parent / "runs"
    (first,) = plan([str(data / "tiny.toml")], runs, ledger)
    write_line(ledger, {"sitting": "a", "models": {}})
    (resumed,) = plan([str(data / "tiny.toml")], runs, ledger)
    (first.folder / ENDED).touch()
    (second,) = plan([str(data / "tiny.toml")], runs, ledger)

    assert first.folder == resumed.folder != second.folder
    assert first.seed == resumed.seed != second.seed


def test_a_pair_more_is_another_mixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("scripts.train_on.CORPORA", tmp_path)
    before = mixture("general")
    (tmp_path / "own.tsv").write_text("One.\tUn.\n", encoding="utf-8")
    assert mixture("general") != before


def test_another_mixture_begins_from_the_newest_average(tmp_path: Path):
    for name in ("general-00000000", "general-11111111", "general_fr_en-22222222"):
        folder = tmp_path / name / "average"
        folder.mkdir(parents=True)
        (folder / "config.json").touch()
        time.sleep(0.01)
    found = latest_average(tmp_path, "general", other_than=tmp_path / "general-33333333")
    assert found == tmp_path / "general-11111111" / "average"
    assert latest_average(tmp_path, "general_fr_en", other_than=tmp_path / "general_fr_en-22222222") is None


def test_a_sitting_s_line_is_written_over_and_tokens_are_those_of_the_last(tmp_path: Path):
    ledger = tmp_path / "ledger.jsonl"
    for sitting, tokens in (("a", 5), ("b", 7), ("b", 9)):
        write_line(ledger, {"sitting": sitting, "models": {"general": {"total_target_tokens": tokens}}})
    assert [json.loads(line)["sitting"] for line in ledger.read_text(encoding="utf-8").splitlines()] == [
        "a",
        "b",
    ]
    assert tokens_seen(ledger, "general") == 9
    assert tokens_seen(ledger, "general_fr_en") == 0


def test_tokens_of_weights_that_did_not_ship_count_for_who_goes_on_from_them(tmp_path: Path):
    ledger = tmp_path / "ledger.jsonl"
    for sitting, tokens, extra in (("a", 5, {}), ("b", 7, {"shipped": False})):
        run = {"run": f"general-{sitting}", "total_target_tokens": tokens, **extra}
        write_line(ledger, {"sitting": sitting, "models": {"general": run}})
    assert tokens_seen(ledger, "general") == 5
    assert tokens_seen(ledger, "general", tmp_path / "general-a" / "average") == 5
    assert tokens_seen(ledger, "general", tmp_path / "general-b" / "blended") == 7


def test_a_short_sitting_prepares_a_share_of_the_mixture(tmp_path: Path) -> None:
    assert share_of_mixture(tmp_path, None) == share_of_mixture(tmp_path, 1000) == 1.0
    assert share_of_mixture(tmp_path, 100) == 0.25
    assert share_of_mixture(tmp_path, 0.05) == 0.05
    manifest = {"recipe": {"data": {"share": 0.4}}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert share_of_mixture(tmp_path, 100) == 0.4
