"""Units of translation memories in a session of the service's database, see ``nmt.memory.index.UnitIndex``.

SQLite: the table and FTS5 index of ``nmt.memory.sqlite``. PostgreSQL: the same table, with the grams of a
unit in a column of their own under a GIN index, which needs no extension.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import CursorResult, text
from sqlalchemy.orm import Session

from nmt.memory.grams import gram_numbers
from nmt.memory.index import UnitIndex
from nmt.memory.normal import key_number, normal_form
from nmt.memory.sqlite import SqliteUnits, pair_number
from nmt.memory.unit import TranslationUnit

NEWEST_OF_A_KEY = 64
_SIGNED = 1 << 31

_INSERT = text(
    "INSERT INTO memory_units (memory, key_number, pair_number, key, source, target, grams) "
    "VALUES (:memory, :key_number, :pair_number, :key, :source, :target, CAST(:grams AS INTEGER[])) "
    "ON CONFLICT DO NOTHING"
)
_WITH_KEYS = text(
    "SELECT key_number, id, source, target FROM memory_units "
    "WHERE memory = :memory AND key_number = ANY(CAST(:numbers AS BIGINT[])) ORDER BY id DESC LIMIT :most"
)
_WITH_IDS = text(
    "SELECT key, id, source, target FROM memory_units "
    "WHERE id = ANY(CAST(:ids AS BIGINT[])) AND memory = :memory"
)
_PAGE = text(
    "SELECT id, source, target FROM memory_units WHERE memory = :memory AND id > :after "
    "ORDER BY id LIMIT :most"
)
_REMOVE = text(
    "DELETE FROM memory_units WHERE id IN (SELECT id FROM memory_units WHERE memory = :memory LIMIT :most)"
)


def units_in(session: Session) -> UnitIndex:
    """The units in the database of a session, within its transaction."""
    connection = session.connection()
    if connection.dialect.name == "sqlite":
        return SqliteUnits(cast(sqlite3.Connection, connection.connection.dbapi_connection))
    return PostgresUnits(session)


@dataclass(frozen=True)
class PostgresUnits:
    """Units in PostgreSQL."""

    session: Session

    def add(self, memory: int, units: Sequence[TranslationUnit]) -> int:
        """See ``UnitIndex.add``."""
        if not units:
            return 0
        result = self.session.execute(_INSERT, [_row(memory, unit) for unit in units])
        assert isinstance(result, CursorResult)
        return int(result.rowcount)

    def with_keys(self, memory: int, numbers: Sequence[int]) -> dict[int, list[TranslationUnit]]:
        """See ``UnitIndex.with_keys``."""
        found: dict[int, list[TranslationUnit]] = {}
        for start in range(0, len(numbers), 500):
            some = list(numbers[start : start + 500])
            most = NEWEST_OF_A_KEY * len(some)
            rows = self.session.execute(_WITH_KEYS, {"memory": memory, "numbers": some, "most": most})
            for number, id_, source, target in rows:
                found.setdefault(number, []).append(TranslationUnit(source, target, id_))
        return found

    def with_grams(self, sets: Sequence[Sequence[int]], most: int) -> list[list[int]]:
        """See ``GramIndex.with_grams``."""
        found: list[list[int]] = [[] for _ in sets]
        if not sets:
            return found
        self.session.execute(text("SET LOCAL enable_seqscan = off"))  # a LIMIT makes it look cheap
        parts = [
            f"(SELECT {place}, id FROM memory_units "  # noqa: S608 - numbers
            f"WHERE grams @> CAST(:grams_{place} AS INTEGER[]) LIMIT :most)"
            for place in range(len(sets))
        ]
        values = {f"grams_{place}": _signed(numbers) for place, numbers in enumerate(sets)}
        for place, id_ in self.session.execute(text(" UNION ALL ".join(parts)), {**values, "most": most}):
            found[place].append(id_)
        return found

    def firsts(self, numbers: Sequence[int], most: int) -> dict[int, list[int]]:  # noqa: ARG002 - as SQLite's
        """See ``GramIndex.firsts``: a GIN index skips what lies between the units with the rarest gram."""
        return {}

    def with_ids(self, memory: int, ids: Sequence[int]) -> list[tuple[str, TranslationUnit]]:
        """See ``UnitIndex.with_ids``."""
        rows = self.session.execute(_WITH_IDS, {"memory": memory, "ids": list(ids)})
        return [(key, TranslationUnit(source, target, id_)) for key, id_, source, target in rows]

    def page(self, memory: int, after: int, most: int) -> list[TranslationUnit]:
        """See ``UnitIndex.page``."""
        rows = self.session.execute(_PAGE, {"memory": memory, "after": after, "most": most})
        return [TranslationUnit(source, target, id_) for id_, source, target in rows]

    def remove(self, memory: int, most: int) -> int:
        """See ``UnitIndex.remove``."""
        result = self.session.execute(_REMOVE, {"memory": memory, "most": most})
        assert isinstance(result, CursorResult)
        return int(result.rowcount)

    def merge(self, *, is_first: bool) -> bool:  # noqa: ARG002 - as SQLite's
        """See ``UnitIndex.merge``."""
        self.session.execute(text("SELECT gin_clean_pending_list('ix_memory_units_grams')"))
        return False


def _row(memory: int, unit: TranslationUnit) -> dict[str, Any]:
    form = normal_form(unit.source)
    return {
        "memory": memory,
        "key_number": key_number(form.key),
        "pair_number": pair_number(unit),
        "key": form.key,
        "source": unit.source,
        "target": unit.target,
        "grams": _signed(gram_numbers(memory, form.words)),
    }


def _signed(numbers: Sequence[int]) -> list[int]:
    """As PostgreSQL's INTEGER holds them."""
    return [number - _SIGNED for number in dict.fromkeys(numbers)]
