"""Which shards are done, on a file system that all workers share; each is done once.

    OUT/NAME            a translated shard: there whole, or not there
    OUT/_done/NAME.json its entry: rows, sizes, SHA-256, seconds
    OUT/_aside/         what is being written; nothing in it counts
    OUT/_job.json       what makes the translations: model, search options, column, version
    OUT/MANIFEST.json   all entries and their sums, once every shard is done

A shard is written aside, flushed, and linked to its name: a link fails where there is one already, so of two
workers that translate the same shard (one was thought dead, say) the first wins and the other's is discarded.
Its entry follows. What has a name but no entry, from a crash between the two, is done again at the next
start.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nmt.errors import ConfigError, DataError
from nmt.model_folder.files import flush, sha256
from nmt.model_folder.lock import locked
from nmt.offline.formats import SUFFIXES

DONE, ASIDE, JOB, MANIFEST = "_done", "_aside", "_job.json", "MANIFEST.json"


@dataclass(frozen=True)
class Entry:
    """A shard that is done."""

    shard: str
    rows: int
    source_bytes: int
    bytes: int
    sha256: str
    cpu_s: float
    """Seconds of CPU time that its translation took."""
    wall_s: float


class Ledger:
    """The output folder of one job.

    Args:
        source: folder of shards.
        target: folder of translated shards.
    """

    def __init__(self, source: Path, target: Path) -> None:
        self.source = source
        self.target = target

    def shards(self) -> list[str]:
        """Names of the shards, in order.

        Raises:
            DataError: there is none.
        """
        if not self.source.is_dir():
            raise DataError(f"{self.source}: is no folder of shards (.txt, .parquet)")
        names = sorted(
            path.name
            for path in self.source.iterdir()
            if path.suffix in SUFFIXES and not path.name.startswith((".", "_")) and path.is_file()
        )
        if not names:
            raise DataError(f"{self.source}: holds no shard; name them NAME.txt or NAME.parquet")
        return names

    @contextmanager
    def begin(self, job: dict[str, Any]) -> Iterator[list[str]]:
        """Lock the folder, clear what was left half done, and give the names of the shards that are to do.

        Raises:
            ConfigError: another run has the folder, or it was begun with something else.
            DataError: a shard that is done has changed since.
        """
        for folder in (self.target / DONE, self.target / ASIDE):
            folder.mkdir(parents=True, exist_ok=True)
        busy = ConfigError(f"{self.target}: another run writes to it; wait for its end, or end it")
        with locked(self.target / "_lock", busy):
            self._check_job(job)
            shutil.rmtree(self.target / ASIDE)
            (self.target / ASIDE).mkdir()
            names = self.shards()
            yield [name for name in names if not self._is_done(name)]

    def _check_job(self, job: dict[str, Any]) -> None:
        path = self.target / JOB
        if not path.exists():
            self._write(path, job)
            return
        before = json.loads(path.read_text(encoding="utf-8"))
        changed = [name for name in {**before, **job} if before.get(name) != job.get(name)]
        if changed:
            raise ConfigError(
                f"{self.target}: was begun with another {', '.join(changed)} ({path}); take another folder"
            )

    def _is_done(self, name: str) -> bool:
        """Whether it is; if only half so, its remains are deleted."""
        entry = self.entry(name)
        finished = self.target / name
        if entry is None:
            finished.unlink(missing_ok=True)
            return False
        if entry.source_bytes != (self.source / name).stat().st_size:
            raise DataError(
                f"{self.source / name}: has changed since it was translated; take another folder for OUT"
            )
        if not finished.exists() or finished.stat().st_size != entry.bytes:
            self._entry_path(name).unlink()
            finished.unlink(missing_ok=True)
            return False
        return True

    def entry(self, name: str) -> Entry | None:
        """Entry of a shard that is done, None of one that is not."""
        try:
            return Entry(**json.loads(self._entry_path(name).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def aside(self, name: str) -> Path:
        """A new path to write a shard to; it has the shard's suffix."""
        return self.target / ASIDE / f"{uuid.uuid4().hex}-{name}"

    def commit(self, name: str, written: Path, *, rows: int, cpu_s: float, wall_s: float) -> Entry:
        """Make a shard that was written aside the translated shard, unless there is one already."""
        flush(written)
        finished = self.target / name
        try:
            os.link(written, finished)
        except FileExistsError:
            if (entry := self.entry(name)) is not None:
                written.unlink()
                return entry  # another worker was first
        flush(self.target)
        entry = Entry(
            shard=name,
            rows=rows,
            source_bytes=(self.source / name).stat().st_size,
            bytes=finished.stat().st_size,
            sha256=sha256(finished),
            cpu_s=round(cpu_s, 3),
            wall_s=round(wall_s, 3),
        )
        self._write(self._entry_path(name), asdict(entry))
        written.unlink()
        return entry

    def finish(self, job: dict[str, Any]) -> Path:
        """Write the manifest; every shard is done."""
        entries = [entry for name in self.shards() if (entry := self.entry(name)) is not None]
        path = self.target / MANIFEST
        self._write(
            path,
            {
                "job": job,
                "rows": sum(entry.rows for entry in entries),
                "bytes": sum(entry.bytes for entry in entries),
                "cpu_s": round(sum(entry.cpu_s for entry in entries), 3),
                "shards": [asdict(entry) for entry in entries],
            },
        )
        shutil.rmtree(self.target / ASIDE)
        return path

    def _entry_path(self, name: str) -> Path:
        return self.target / DONE / f"{name}.json"

    def _write(self, path: Path, content: dict[str, Any]) -> None:
        """Write aside, flush, rename."""
        aside = self.aside(path.name)
        aside.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        flush(aside)
        aside.rename(path)
        flush(path.parent)
