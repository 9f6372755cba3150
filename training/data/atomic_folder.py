"""A step of long work as numbered parts in a folder, each there whole or not at all, so that it can go on.

key.json         what the parts were made from: of anything else they are thrown away
00000.NAME ...   the files of a part
00000.json       its record, written last, with each file's size and CRC-32
done.json        how many parts there are, once that is known
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmt.errors import DiskFullError
from training.disk import full_disk_told


class AtomicFolder:
    """Open ``folder`` for parts made from what ``key`` says; parts of another key are deleted."""

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self.folder = folder
        text = json.dumps(key, sort_keys=True)
        key_file = folder / "key.json"
        if not key_file.is_file() or key_file.read_text(encoding="utf-8") != text:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            write_whole(key_file, text.encode())

    def stem(self, number: int) -> Path:
        """Where part ``number`` lies, without the suffixes of its files."""
        return self.folder / f"{number:05d}"

    def has(self, number: int) -> bool:
        """Part ``number`` is there and undamaged."""
        try:
            files: dict[str, list[int]] = self.record(number)["files"]
            return all(
                _fingerprint(file_of(self.stem(number), name).read_bytes()) == known
                for name, known in files.items()
            )
        except (OSError, ValueError, KeyError):
            return False

    def record(self, number: int) -> dict[str, Any]:
        """Record that ``write_part`` was given for part ``number``."""
        record: dict[str, Any] = json.loads(file_of(self.stem(number), "json").read_text(encoding="utf-8"))
        return record

    def finish(self, n_parts: int) -> None:
        """There are no more than ``n_parts``."""
        write_whole(self.folder / "done.json", json.dumps(n_parts).encode())

    def n_parts(self) -> int | None:
        """How many parts there are, if all of them are there and undamaged."""
        try:
            n_parts = int(json.loads((self.folder / "done.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return None
        return n_parts if all(map(self.has, range(n_parts))) else None


def write_part(stem: Path, files: Mapping[str, bytes], record: Mapping[str, Any]) -> None:
    """Write the files of a part, then its record.

    Raises:
        DiskFullError: there is no room.
    """
    for name, content in files.items():
        write_whole(file_of(stem, name), content)
    known = {name: _fingerprint(content) for name, content in files.items()}
    text = json.dumps({**record, "files": known}, ensure_ascii=False)
    write_whole(file_of(stem, "json"), text.encode())


def file_of(stem: Path, name: str) -> Path:
    """The file ``name`` of a part."""
    return stem.with_name(f"{stem.name}.{name}")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file aside and give it its name."""
    aside = path.with_name(f"{path.name}.{os.getpid()}.aside")
    with full_disk_told(path, no_room):
        aside.write_bytes(content)
        aside.rename(path)


def no_room(path: Path, error: OSError) -> DiskFullError:
    """Message when there was no room for ``path``, see ``training.disk``."""
    return DiskFullError(
        f"{path}: no room to write it ({error.strerror}); make room and run the same command again: "
        "what is done is kept"
    )


def _fingerprint(content: bytes) -> list[int]:
    return [len(content), zlib.crc32(content)]
