"""Records say how a number was made, and not where anybody's home folder is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.model_folder.files import sha256
from training.provenance import command_line, provenance, public_path


def test_paths_outside_the_working_directory_keep_two_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    shown = command_line(
        ["/opt/somewhere/bin/nmt", "evaluate", "/home/someone/data/multi30k/test.en", f"--out={tmp_path}/x"]
    )

    assert shown == "nmt evaluate multi30k/test.en --out=x"


def test_relative_paths_and_spaces_survive_in_the_command() -> None:
    assert command_line(["nmt", "translate", "a b", "data/test.en"]) == "nmt translate 'a b' data/test.en"


def test_a_module_is_named_as_it_was_called(tmp_path: Path) -> None:
    (tmp_path / "measured.py").write_text(
        "from training.provenance import this_command\nprint(this_command())", encoding="utf-8"
    )
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    for given, shown in ((["-m", "measured"], "python -m measured"), (["measured.py"], "measured.py")):
        run = subprocess.run(
            [sys.executable, *given, "--sets", "a b"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == f"{shown} --sets 'a b'"


def test_a_path_inside_the_working_directory_is_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert public_path(tmp_path / "runs" / "toy") == "runs/toy"


def test_a_record_names_command_commit_versions_and_machine() -> None:
    record = provenance(["nmt", "evaluate"])

    assert record["command"] == "nmt evaluate"
    assert record["commit"]
    assert {"python", "passerelle", "torch", "sacrebleu"} <= record["versions"].keys()
    assert {"processor", "cores", "torch_threads", "memory_gib"} <= record["machine"].keys()
    assert json.loads(json.dumps(record)) == record


def test_sha256_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")

    assert sha256(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
