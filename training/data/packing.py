"""``nmt pack`` and ``nmt unpack``: a folder in pieces of bounded size, for ways that carry no large file.

    OUT/piece-000.xz.part, piece-001.xz.part, ...      one compressed tar archive, cut
    OUT/pieces.json                                    each piece's size and SHA-256, in order

Unpacking checks every piece before anything is written, and the folder appears whole or not at all.
"""

from __future__ import annotations

import io
import json
import lzma
import shutil
import sys
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from nmt.errors import DataError
from nmt.model_folder.files import sha256

INDEX = "pieces.json"
MIB = 2**20
PRESET = 2
"""Preset of xz: token ids shrink to half at once and hardly further."""


def pack(folder: Path, out: Path, piece_mib: int = 40, leave_out: Collection[str] = ()) -> list[Path]:
    """Write ``folder`` as pieces of at most ``piece_mib`` MiB into ``out``, a new or empty folder.

    Args:
        folder: what to pack; links and special files are refused.
        out: where the pieces go.
        piece_mib: most of a piece.
        leave_out: names, relative to ``folder``, of files that do not travel.

    Raises:
        DataError: ``folder`` is missing, ``out`` holds something, or a name of ``leave_out`` is unknown.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    if not names:
        raise DataError(f"{folder}: no folder, or an empty one")
    unknown = sorted(set(leave_out) - set(names))
    if unknown:
        raise DataError(f"{folder}: has no {unknown[0]} to leave out")
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty; choose another folder or delete it")
    out.mkdir(parents=True, exist_ok=True)
    cutter = _Cutter(out, piece_mib * MIB)
    with (
        io.BufferedWriter(cutter) as sink,
        lzma.LZMAFile(sink, "wb", preset=PRESET) as compressed,
        tarfile.open(fileobj=compressed, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in names:
            if name not in leave_out:
                archive.add(folder / name, arcname=name, filter=_plain)
    pieces = cutter.pieces
    index = {"pieces": [{"name": p.name, "bytes": p.stat().st_size, "sha256": sha256(p)} for p in pieces]}
    (out / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    return pieces


def unpack(pieces: Path, folder: Path) -> None:
    """Check the pieces in ``pieces`` and write the folder that they hold.

    Raises:
        DataError: a piece is missing or damaged, by name, or ``folder`` exists.
    """
    if folder.exists():
        raise DataError(f"{folder}: exists; choose another folder or delete it")
    files = list(_checked(pieces))
    aside = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    try:
        with (
            lzma.LZMAFile(io.BufferedReader(_Joined(files))) as compressed,
            tarfile.open(fileobj=compressed, mode="r|") as archive,
        ):
            archive.extractall(aside, filter="data")
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def pack_command(folder: Path, out: Path, piece_mib: int, leave_out: Collection[str]) -> None:
    """``nmt pack``."""
    pieces = pack(folder, out, piece_mib, leave_out)
    total = sum(piece.stat().st_size for piece in pieces)
    print(f"{out}: {len(pieces)} pieces, {total / MIB:.1f} MiB", file=sys.stderr)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Contents and name alone: the same folder gives the same pieces, whoever owns it."""
    if not member.isfile():
        raise DataError(f"{member.name}: neither a plain file nor a folder")
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _checked(pieces: Path) -> Iterator[Path]:
    index = pieces / INDEX
    try:
        listed: list[dict[str, Any]] = json.loads(index.read_text(encoding="utf-8"))["pieces"]
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{index}: {error}; this is no folder that 'nmt pack' wrote") from None
    for entry in listed:
        piece = pieces / str(entry["name"])
        if not piece.is_file():
            raise DataError(f"{piece}: missing; fetch it again")
        if sha256(piece) != entry["sha256"]:
            raise DataError(f"{piece}: damaged, its SHA-256 is not that of {INDEX}; fetch it again")
        yield piece


class _Cutter(io.RawIOBase):
    """Writer into one file after another, each of at most ``limit`` bytes."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.pieces: list[Path] = []
        self._folder = folder
        self._limit = limit
        self._room = 0
        self._file: io.BufferedWriter | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer, as RawIOBase has it
        rest = memoryview(data).cast("B")
        n_bytes = len(rest)
        while rest:
            if not self._room:
                self._next()
            assert self._file is not None
            part = rest[: self._room]
            self._file.write(part)
            self._room -= len(part)
            rest = rest[len(part) :]
        return n_bytes

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()

    def _next(self) -> None:
        if self._file is not None:
            self._file.close()
        self.pieces.append(self._folder / f"piece-{len(self.pieces):03d}.xz.part")
        self._file = self.pieces[-1].open("wb")
        self._room = self._limit


class _Joined(io.RawIOBase):
    """The bytes of several files, one after another."""

    def __init__(self, files: list[Path]) -> None:
        self._left = files[::-1]
        self._file: io.BufferedReader | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any buffer, as RawIOBase has it
        while self._file is not None or self._left:
            if self._file is None:
                self._file = self._left.pop().open("rb")
            n_bytes = self._file.readinto(buffer)
            if n_bytes:
                return n_bytes
            self._file.close()
            self._file = None
        return 0
