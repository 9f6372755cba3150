"""``nmt translate-corpus`` on a local cluster with a tiny model; skipped where Ray is not installed.

The run that is killed and resumed is ``python -m scripts.offline``, recorded in docs/reliability/ray.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nmt.conftest import SENTENCES, save_tiny_model, train_tokenizer

ROOT = Path(__file__).resolve().parent.parent.parent.parent


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "tokenizer.model").write_bytes(train_tokenizer())
    save_tiny_model(folder / "tiny", folder / "tokenizer.model")
    return folder / "tiny"


def nmt(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nmt", "translate-corpus", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "RAY_ADDRESS": ""},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_without_ray_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError:
        done = nmt(tmp_path, tmp_path / "out")
        assert done.returncode == 2
        assert done.stderr == "nmt: ray is not installed: run pip install 'passerelle[ray]'\n"
    else:
        pytest.skip("Ray is installed")


def test_a_corpus_without_a_folder_for_its_translation_is_refused(tmp_path: Path) -> None:
    done = nmt(tmp_path)
    assert done.returncode == 2
    assert "Missing argument 'OUT'" in done.stderr


@pytest.mark.slow
def test_shards_are_translated_as_lines_are_and_a_broken_one_stops_no_other(
    model: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'passerelle[ray]'")
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for index in range(4):
        (source / f"{index}.txt").write_text("".join(f"{line}\n" for line in SENTENCES[index::4]))
    (source / "broken.txt").write_bytes(b"\xff\n")

    failed = nmt(source, target, "--model", model, "--workers", 2)

    assert failed.returncode == 2, failed.stderr
    assert "1 of 5 shards could not be translated, the first: broken.txt: line 1" in failed.stderr
    (source / "broken.txt").unlink()
    done = nmt(source, target, "--model", model, "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(target / "MANIFEST.json")
    plain = subprocess.run(
        [sys.executable, "-m", "nmt", "translate", "--model", str(model), "--device", "cpu"],
        input=(source / "2.txt").read_text(), cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (target / "2.txt").read_text() == plain.stdout
    manifest = json.loads((target / "MANIFEST.json").read_text())
    assert manifest["rows"] == len(SENTENCES)
    for shard in manifest["shards"]:
        assert hashlib.sha256((target / shard["shard"]).read_bytes()).hexdigest() == shard["sha256"]
