"""Units in SQLite: a table, and an FTS5 index of grams that holds no text (contentless, without positions).

The service uses it within its own transactions, ``nmt tm`` with a file of its own (``nmt.memory.file``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nmt.memory.grams import gram_numbers
from nmt.memory.normal import key_number, normal_form
from nmt.memory.unit import TranslationUnit

UNITS = """
CREATE TABLE IF NOT EXISTS memory_units (
    id INTEGER PRIMARY KEY, memory INTEGER NOT NULL, key_number BIGINT NOT NULL, pair_number BIGINT NOT NULL,
    key TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL
)"""
UNIQUE = """
CREATE UNIQUE INDEX IF NOT EXISTS ix_memory_units_memory_key_number_pair_number
ON memory_units (memory, key_number, pair_number)"""
GRAMS = """
CREATE VIRTUAL TABLE IF NOT EXISTS memory_grams
USING fts5(grams, content='', detail=none, columnsize=0, tokenize='ascii')"""

_INSERT = """
INSERT INTO memory_units (memory, key_number, pair_number, key, source, target) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING"""
_COLUMNS = "id, source, target"
MERGED_PAGES = 500


@dataclass(frozen=True)
class SqliteUnits:
    """Units of all memories in one database; the caller begins and ends transactions."""

    connection: sqlite3.Connection

    def add(self, memory: int, units: Sequence[TranslationUnit]) -> int:
        """See ``UnitIndex.add``."""
        cursor = self.connection.cursor()
        added: list[tuple[int, str]] = []
        for unit in units:
            form = normal_form(unit.source)
            numbers = key_number(form.key), pair_number(unit)
            cursor.execute(_INSERT, (memory, *numbers, form.key, unit.source, unit.target))
            if cursor.rowcount:
                assert cursor.lastrowid is not None
                added.append((cursor.lastrowid, _document(memory, form.words)))
        cursor.executemany("INSERT INTO memory_grams (rowid, grams) VALUES (?, ?)", added)
        return len(added)

    def with_keys(self, memory: int, numbers: Sequence[int]) -> dict[int, list[TranslationUnit]]:
        """See ``UnitIndex.with_keys``."""
        found: dict[int, list[TranslationUnit]] = {}
        for number in numbers:
            rows = self.connection.execute(
                f"SELECT {_COLUMNS} FROM memory_units WHERE memory = ? AND key_number = ? "  # noqa: S608
                "ORDER BY id DESC LIMIT 64",
                (memory, number),
            ).fetchall()
            if rows:
                found[number] = [TranslationUnit(source, target, id_) for id_, source, target in rows]
        return found

    def with_grams(self, sets: Sequence[Sequence[int]], most: int) -> list[list[int]]:
        """See ``GramIndex.with_grams``."""
        statement = "SELECT rowid FROM memory_grams WHERE memory_grams MATCH ? LIMIT ?"
        return [
            [id_ for (id_,) in self.connection.execute(statement, (_tokens(dict.fromkeys(numbers)), most))]
            for numbers in sets
        ]

    def firsts(self, numbers: Sequence[int], most: int) -> dict[int, list[int]]:
        """See ``GramIndex.firsts``."""
        return dict(zip(numbers, self.with_grams([[number] for number in numbers], most), strict=True))

    def with_ids(self, memory: int, ids: Sequence[int]) -> list[tuple[str, TranslationUnit]]:
        """See ``UnitIndex.with_ids``."""
        marks = ",".join("?" * len(ids))
        rows = self.connection.execute(
            f"SELECT key, {_COLUMNS} FROM memory_units WHERE id IN ({marks}) AND +memory = ?",  # noqa: S608
            (*ids, memory),  # the plus keeps SQLite from reading the whole memory by its other index
        )
        return [(key, TranslationUnit(source, target, id_)) for key, id_, source, target in rows]

    def page(self, memory: int, after: int, most: int) -> list[TranslationUnit]:
        """See ``UnitIndex.page``."""
        rows = self.connection.execute(
            f"SELECT {_COLUMNS} FROM memory_units WHERE +memory = ? AND id > ? ORDER BY id LIMIT ?",  # noqa: S608
            (memory, after, most),  # the plus: in the order of ids, and not all of the memory, sorted
        )
        return [TranslationUnit(source, target, id_) for id_, source, target in rows]

    def merge(self, *, is_first: bool) -> bool:
        """See ``UnitIndex.merge``.

        https://www.sqlite.org/fts5.html#the_merge_command: the first call begins with all there is.
        """
        before = self.connection.total_changes
        self.connection.execute(
            "INSERT INTO memory_grams (memory_grams, rank) VALUES ('merge', ?)",
            (-MERGED_PAGES if is_first else MERGED_PAGES,),
        )
        return self.connection.total_changes - before >= 2

    def remove(self, memory: int, most: int) -> int:
        """See ``UnitIndex.remove``."""
        rows = self.connection.execute(
            "SELECT id, key FROM memory_units WHERE memory = ? LIMIT ?", (memory, most)
        ).fetchall()
        self.connection.executemany(
            "INSERT INTO memory_grams (memory_grams, rowid, grams) VALUES ('delete', ?, ?)",
            [(id_, _document(memory, key.split(" "))) for id_, key in rows],
        )
        self.connection.executemany("DELETE FROM memory_units WHERE id = ?", [(id_,) for id_, _ in rows])
        return len(rows)


def pair_number(unit: TranslationUnit) -> int:
    """By which a unit that is there already is known."""
    return key_number(f"{unit.source}\0{unit.target}")


def _document(memory: int, words: Sequence[str]) -> str:
    return _tokens(gram_numbers(memory, words))


def _tokens(numbers: Iterable[int]) -> str:
    """Gram numbers as FTS5 reads them; in a query all are asked for."""
    return " ".join(f"{number:x}" for number in numbers)
