import os
from pathlib import Path

import pytest

from nmt.errors import DataError
from training.data import packing as pieces_module
from training.data.packing import pack, unpack


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """1.2 MB that cannot be compressed, in two files of two levels; a "MiB" is 100 kB here."""
    monkeypatch.setattr(pieces_module, "MIB", 100_000)
    (tmp_path / "folder/tests").mkdir(parents=True)
    (tmp_path / "folder/tokens").write_bytes(os.urandom(900_000))
    (tmp_path / "folder/tests/a.en").write_bytes(os.urandom(300_000))
    (tmp_path / "folder/text").write_text("left out\n")
    return tmp_path / "folder"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_was_packed_is_unpacked_and_no_piece_is_over_the_limit(folder, tmp_path):
    files = pack(folder, tmp_path / "pieces", piece_mib=5)
    assert len(files) == 3
    assert max(file.stat().st_size for file in files) == 500_000
    unpack(tmp_path / "pieces", tmp_path / "back")
    assert contents(tmp_path / "back") == contents(folder)


def test_files_that_are_left_out_do_not_travel(folder, tmp_path):
    pack(folder, tmp_path / "pieces", leave_out=["text"])
    unpack(tmp_path / "pieces", tmp_path / "back")
    assert set(contents(tmp_path / "back")) == {"tokens", "tests/a.en"}


def test_the_same_folder_gives_the_same_pieces(folder, tmp_path):
    pack(folder, tmp_path / "one")
    os.utime(folder / "tokens", (1, 1))
    pack(folder, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("harm", ["missing", "flipped", "cut"])
def test_a_piece_that_is_not_as_it_was_sent_is_named_and_nothing_is_written(folder, tmp_path, harm):
    victim = pack(folder, tmp_path / "pieces", piece_mib=5)[1]
    data = bytearray(victim.read_bytes())
    data[1000] ^= 1
    if harm == "missing":
        victim.unlink()
    else:
        victim.write_bytes(data if harm == "flipped" else data[:-1])
    with pytest.raises(DataError, match=victim.name):
        unpack(tmp_path / "pieces", tmp_path / "back")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pieces"]


def test_nothing_is_overwritten(folder, tmp_path):
    pack(folder, tmp_path / "pieces")
    with pytest.raises(DataError, match="not empty"):
        pack(folder, tmp_path / "pieces")
    with pytest.raises(DataError, match="exists"):
        unpack(tmp_path / "pieces", folder)


def test_a_missing_folder_and_an_unknown_name_are_refused(folder, tmp_path):
    with pytest.raises(DataError, match="no folder"):
        pack(tmp_path / "nowhere", tmp_path / "pieces")
    with pytest.raises(DataError, match="has no txt"):
        pack(folder, tmp_path / "pieces", leave_out=["txt"])
    with pytest.raises(DataError, match="no folder that 'nmt pack' wrote"):
        unpack(folder, tmp_path / "back")
