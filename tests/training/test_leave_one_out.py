"""``python -m scripts.leave_one_out`` writes what it has measured at once, and goes on from it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from scripts.leave_one_out import main
from testbed.corpora import PAIRS, RECIPE, write_text, write_toy

PARTS = '[{ kind = "text", name = "one", path = "train" }, { kind = "text", name = "other", path = "other" }]'


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = write_toy(tmp_path, PAIRS[:40])
    write_text(tmp_path, "other", PAIRS[40:60])
    before = next(line for line in RECIPE.splitlines() if line.startswith("train ="))
    path.write_text(RECIPE.replace(before, f"train = {PARTS}"), encoding="utf-8")
    return path


def run(monkeypatch: pytest.MonkeyPatch, recipe: Path, work: str, *overrides: str) -> dict[str, object]:
    record = recipe.parent / "record.json"
    changes = [f"--set={change}" for change in ("model.dropout=0", *overrides)]
    places = ["--work", str(recipe.parent / work), "--json", str(record), "--updates", "2"]
    monkeypatch.setattr(sys, "argv", ["leave_one_out", str(recipe), *changes, *places])
    main()
    found: dict[str, object] = json.loads(record.read_text(encoding="utf-8"))
    return found


def test_each_part_is_left_out_once(monkeypatch: pytest.MonkeyPatch, recipe: Path) -> None:
    losses = run(monkeypatch, recipe, "work")["nats_per_token"]
    assert isinstance(losses, dict)
    assert set(losses) == {"nothing", "one", "other"}
    assert len({json.dumps(loss) for loss in losses.values()}) == 3


@pytest.mark.exhaustive
def test_what_was_measured_elsewhere_is_not_trained_again(
    monkeypatch: pytest.MonkeyPatch, recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    complete = run(monkeypatch, recipe, "work")
    record = recipe.parent / "record.json"
    losses = complete["nats_per_token"]
    assert isinstance(losses, dict)
    partial = {**complete, "nats_per_token": {name: losses[name] for name in ("nothing", "one")}}
    record.write_text(json.dumps(partial), encoding="utf-8")
    shutil.rmtree(recipe.parent / "work")

    again = run(monkeypatch, recipe, "elsewhere")

    assert again["nats_per_token"] == losses
    assert not (recipe.parent / "elsewhere" / "one").exists()
    assert not (recipe.parent / "elsewhere" / "nothing" / "model").exists()
    assert "| one |" in capsys.readouterr().out


@pytest.mark.exhaustive
def test_a_record_of_other_models_is_refused(monkeypatch: pytest.MonkeyPatch, recipe: Path) -> None:
    run(monkeypatch, recipe, "work")
    with pytest.raises(SystemExit, match=r"record\.json: of another recipe; name another --json"):
        run(monkeypatch, recipe, "other", "training.learning_rate=0.01")
