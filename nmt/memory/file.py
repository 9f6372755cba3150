"""A memory of one's own: an SQLite file with a memory for each direction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from nmt.errors import InputError
from nmt.memory.index import TranslationMemory
from nmt.memory.segments import Reading
from nmt.memory.sqlite import GRAMS, UNIQUE, UNITS, SqliteUnits
from nmt.memory.unit import TranslationUnit

UNITS_AT_ONCE = 2000
"""Stored in one transaction."""
_MEMORIES = """
CREATE TABLE IF NOT EXISTS memories (
    number INTEGER PRIMARY KEY, source_language TEXT NOT NULL, target_language TEXT NOT NULL,
    UNIQUE (source_language, target_language)
)"""
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",
    "mmap_size = 2000000000",  # a look-up reads many pages, each a little
)


class MemoryFile:
    """Opened for one thread at a time; close it at the end.

    Args:
        path: of the file.
        create: make it where there is none.

    Raises:
        InputError: there is no such file, or it is no memory.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        if not create and not path.is_file():
            raise InputError(f"{path}: there is no such memory; make one with nmt tm import")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(path, isolation_level=None)
            for pragma in _PRAGMAS:
                self.connection.execute(f"PRAGMA {pragma}")
            for statement in (_MEMORIES, UNITS, UNIQUE, GRAMS):
                self.connection.execute(statement)
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{path} cannot be opened as a memory: {error}; choose another file") from None
        self.units = SqliteUnits(self.connection)

    def close(self) -> None:
        """At the end."""
        self.connection.close()

    def directions(self) -> list[tuple[str, str]]:
        """Languages of the memories that it has."""
        rows = self.connection.execute(
            "SELECT source_language, target_language FROM memories ORDER BY number"
        )
        return [(source, target) for source, target in rows]

    def memory(self, source: str, target: str) -> TranslationMemory:
        """The memory of a direction. Raises ``InputError`` where there is none."""
        row = self.connection.execute(
            "SELECT number FROM memories WHERE source_language = ? AND target_language = ?", (source, target)
        ).fetchone()
        if row is None:
            known = ", ".join(f"{one} to {other}" for one, other in self.directions()) or "none"
            raise InputError(f"{self.path} has no units from {source} to {target}; it has {known}")
        return TranslationMemory(self.units, int(row[0]), (source, target))

    def add(self, languages: tuple[str, str], units: Iterable[TranslationUnit]) -> int:
        """Store units that are not there yet; how many those were. What came before an error stays."""
        self.connection.execute(
            "INSERT INTO memories (source_language, target_language) VALUES (?, ?) ON CONFLICT DO NOTHING",
            languages,
        )
        number = self.memory(*languages).number
        n_added = 0
        remaining = iter(units)
        while batch := list(islice(remaining, UNITS_AT_ONCE)):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                n_added += self.units.add(number, batch)
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")
        is_first = True
        while self.units.merge(is_first=is_first):
            is_first = False
        return n_added

    def add_read(self, units: Iterator[TranslationUnit], reading: Reading) -> int:
        """As ``add``, in the direction that ``reading`` has when the first unit has been read."""
        first = next(units)
        assert reading.languages is not None, "the first unit has told them"
        return self.add(reading.languages, chain([first], units))

    def all_units(self, source: str, target: str) -> Iterator[TranslationUnit]:
        """In the order in which they came."""
        number = self.memory(source, target).number
        after = 0
        while page := self.units.page(number, after, UNITS_AT_ONCE):
            yield from page
            after = page[-1].id
