"""A folder: a part is there whole or not at all, and only for the key it was made for."""

from pathlib import Path

import pytest

from training.data.atomic_folder import AtomicFolder, file_of, write_part, write_whole


def test_a_part_is_there_once_its_record_is(tmp_path: Path):
    folder = AtomicFolder(tmp_path / "stage", {"corpus": 1})
    assert not folder.has(0)
    write_part(folder.stem(0), {"text": b"one\n"}, {"pairs": 1})
    assert folder.has(0)
    assert folder.record(0)["pairs"] == 1
    file_of(folder.stem(0), "json").unlink()
    assert not folder.has(0)


@pytest.mark.parametrize("content", [b"", b"One\n", b"one\nmore\n"])
def test_a_part_whose_file_is_not_what_was_written_is_not_there(tmp_path: Path, content: bytes):
    folder = AtomicFolder(tmp_path / "stage", {})
    write_part(folder.stem(0), {"text": b"one\n"}, {})
    folder.finish(1)
    assert folder.n_parts() == 1
    file_of(folder.stem(0), "text").write_bytes(content)
    assert not folder.has(0)
    assert folder.n_parts() is None


def test_how_many_parts_there_are_is_known_when_it_is_finished(tmp_path: Path):
    folder = AtomicFolder(tmp_path / "stage", {})
    write_part(folder.stem(0), {"text": b"one\n"}, {})
    assert folder.n_parts() is None
    folder.finish(1)
    assert AtomicFolder(tmp_path / "stage", {}).n_parts() == 1


def test_parts_of_another_key_are_thrown_away(tmp_path: Path):
    folder = AtomicFolder(tmp_path / "stage", {"seed": 1})
    write_part(folder.stem(0), {"text": b"one\n"}, {})
    assert AtomicFolder(tmp_path / "stage", {"seed": 1}).has(0)
    assert not AtomicFolder(tmp_path / "stage", {"seed": 2}).has(0)
    assert not AtomicFolder(tmp_path / "stage", {"seed": 1}).has(0)


def test_a_file_has_its_name_only_once_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", die)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "subwords", b"model")
    assert not (tmp_path / "subwords").exists()
