"""Glossaries as DeepL's API knows them, each with the terms of one direction, owned by a key."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import defer

from nmt.errors import InputError
from service.database.models import GlossaryRow
from service.database.names import check_name
from service.database.records import Glossary
from service.database.transactions import Transactions

LONGEST_NAME = 1024


class Glossaries:
    """The glossaries. A key sees its own only. All methods block; see ``Database.run``.

    Args:
        transactions: where they are.
        max_glossaries: most for one key.
        max_entries: most in one glossary.
    """

    def __init__(self, transactions: Transactions, max_glossaries: int, max_entries: int) -> None:
        self._transactions = transactions
        self._max_glossaries = max_glossaries
        self._max_entries = max_entries

    def create(
        self,
        key_id: str,
        name: str,
        source_language: str,
        target_language: str,
        entries: Sequence[tuple[str, str]],
    ) -> Glossary:
        """Store a glossary; whether its entries make sense is its caller's business.

        Raises:
            InputError: no name or entries, or too many of something; the message names the limit.
        """
        name = check_name("name", name, LONGEST_NAME)
        if not entries:
            raise InputError("entries: a glossary has at least one entry")
        self._check_count(entries)
        row = GlossaryRow(
            id=str(uuid.uuid4()),
            key_id=key_id,
            name=name,
            source_language=source_language,
            target_language=target_language,
            created_at=self._transactions.now(),
            n_entries=len(entries),
            entries=[[source, target] for source, target in entries],
        )
        with self._transactions.writing() as session:
            self._transactions.lock(session, f"glossaries {key_id}")
            n_glossaries = session.scalar(
                select(func.count()).select_from(GlossaryRow).where(GlossaryRow.key_id == key_id)
            )
            if int(n_glossaries or 0) >= self._max_glossaries:
                raise InputError(
                    f"there are {n_glossaries} glossaries already, and the limit is {self._max_glossaries}; "
                    f"delete one first"
                )
            session.add(row)
        return _glossary(row)

    def all(self, key_id: str) -> list[Glossary]:
        """All of a key, oldest first, without reading their entries."""
        with self._transactions.reading() as session:
            rows = session.scalars(
                select(GlossaryRow)
                .options(defer(GlossaryRow.entries))
                .where(GlossaryRow.key_id == key_id)
                .order_by(GlossaryRow.created_at, GlossaryRow.id)
            )
            return [_glossary(row) for row in rows]

    def get(self, key_id: str, glossary_id: str) -> Glossary | None:
        """The glossary, or None if this key has none under this id."""
        row = self._row(key_id, glossary_id)
        return None if row is None else _glossary(row)

    def entries(self, key_id: str, glossary_id: str) -> list[tuple[str, str]] | None:
        """Source and target terms in the order given, or None if this key has no such glossary."""
        row = self._row(key_id, glossary_id)
        return None if row is None else [(source, target) for source, target in row.entries]

    def update(
        self,
        key_id: str,
        glossary_id: str,
        *,
        name: str | None = None,
        entries: Sequence[tuple[str, str]] | None = None,
    ) -> Glossary | None:
        """Change what is not None; the glossary as it is now, or None if this key has none under this id.

        Raises:
            InputError: as ``create``; but all entries may go.
        """
        if name is not None:
            name = check_name("name", name, LONGEST_NAME)
        self._check_count(entries or ())
        with self._transactions.writing() as session:
            row = session.get(GlossaryRow, glossary_id)
            if row is None or row.key_id != key_id:
                return None
            if name is not None:
                row.name = name
            if entries is not None:
                row.entries, row.n_entries = [[source, target] for source, target in entries], len(entries)
            return _glossary(row)

    def _check_count(self, entries: Sequence[tuple[str, str]]) -> None:
        if len(entries) > self._max_entries:
            raise InputError(
                f"entries: there are {len(entries)}, the limit is {self._max_entries}; make two glossaries"
            )

    def delete(self, key_id: str, glossary_id: str) -> bool:
        """Whether there was such a glossary; it is gone now."""
        with self._transactions.writing() as session:
            deleted = session.execute(
                delete(GlossaryRow)
                .where(GlossaryRow.id == glossary_id, GlossaryRow.key_id == key_id)
                .returning(GlossaryRow.id)
            )
            return deleted.first() is not None

    def _row(self, key_id: str, glossary_id: str) -> GlossaryRow | None:
        with self._transactions.reading() as session:
            row = session.get(GlossaryRow, glossary_id)
        return row if row is not None and row.key_id == key_id else None


def _glossary(row: GlossaryRow) -> Glossary:
    return Glossary(
        id=row.id,
        key_id=row.key_id,
        name=row.name,
        source_language=row.source_language,
        target_language=row.target_language,
        created_at=row.created_at,
        n_entries=row.n_entries,
    )
