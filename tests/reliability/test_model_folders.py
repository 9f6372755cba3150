"""F7 of docs/reliability.md: a model folder that is corrupt, cut short or pickled is refused by file name."""

from __future__ import annotations

import pickle
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.errors import ModelFolderError
from nmt.model_folder.checkpoint import MANIFEST, load_model_folder, write_manifest
from tests.reliability.conftest import Record
from tests.reliability.server import ROOT


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, made: Path) -> None:
        self._made = made

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self._made,)


def copy(folder: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))


def refusal(folder: Path) -> str:
    with pytest.raises(ModelFolderError) as caught:
        load_model_folder(folder)
    return str(caught.value)


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("n_flips", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_f7_every_flipped_bit_and_every_cut_is_found_and_named(
    tiny_folder: Path, tmp_path: Path, record: Record, n_flips: int
) -> None:
    rng = random.Random(7)
    folder = copy(tiny_folder, tmp_path / "model")
    names = sorted(path.name for path in folder.iterdir())
    assert MANIFEST in names
    caught = 0
    for name in names:
        path, sound = folder / name, (folder / name).read_bytes()
        for _ in range(n_flips):
            path.write_bytes(flipped(sound, rng.randrange(8 * len(sound))))
            # in the manifest a flip makes a sum wrong, or a name: the file meant is named, or the manifest
            assert re.search(rf"{re.escape(name)}|{MANIFEST}", refusal(folder))
            caught += 1
        for n_bytes in (0, len(sound) // 2, len(sound) - 1):
            path.write_bytes(sound[:n_bytes])
            assert re.search(rf"{re.escape(name)}|{MANIFEST}", refusal(folder))
            caught += 1
        path.write_bytes(sound)
    load_model_folder(folder)
    record(
        "F7",
        "a corrupt, truncated or pickled model folder: refuses to start and names the file; 20 flips a file, "
        "all caught",
        lost=0,
        files=len(names),
        flips_a_file=n_flips,
        flips_and_cuts_caught=caught,
        pickles="refused and not opened, see test_f7_a_pickle_is_not_opened_whatever_its_name",
    )


def test_f7_a_pickle_is_not_opened_whatever_its_name(tiny_folder: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    for name in ("model.safetensors", "config.json", "generation.json", "tokenizer.model"):
        folder = copy(tiny_folder, tmp_path / "model")
        (folder / name).write_bytes(pickle.dumps(Evil(made)))
        write_manifest(folder)
        assert name in refusal(folder)
    assert not made.exists()
    pickle.loads(pickle.dumps(Evil(made)))
    assert made.exists(), "it would have been seen"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.model", MANIFEST])
def test_f7_a_server_does_not_start_with_a_corrupt_folder(
    tiny_folder: Path, tmp_path: Path, name: str
) -> None:
    folder = copy(tiny_folder, tmp_path / "model")
    (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    command = [sys.executable, "-m", "nmt", "serve", "--port", "0", "--model", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert name in done.stderr
    assert "running on" not in done.stderr
