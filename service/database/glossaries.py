"""Glossaries as DeepL's API knows them, with a dictionary for each direction, owned by a key."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session, defer

from nmt.errors import InputError
from service.database.models import DictionaryRow, GlossaryRow
from service.database.names import check_name
from service.database.records import Dictionary, Glossary
from service.database.transactions import Transactions

LONGEST_NAME = 1024


class Glossaries:
    """The glossaries. A key sees its own only. All methods block; see ``Database.run``.

    Args:
        transactions: where they are.
        max_glossaries: most for one key.
        max_entries: most in one dictionary.
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
        """Store a glossary with one dictionary; whether its entries make sense is its caller's business.

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
            entries=_stored(entries),
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
        return _glossary(row, ())

    def all(self, key_id: str) -> list[Glossary]:
        """All of a key, oldest first, without reading their entries."""
        with self._transactions.reading() as session:
            rows = session.scalars(
                select(GlossaryRow)
                .options(defer(GlossaryRow.entries))
                .where(GlossaryRow.key_id == key_id)
                .order_by(GlossaryRow.created_at, GlossaryRow.id)
            ).all()
            further = _further(session, [row.id for row in rows])
            return [_glossary(row, further.get(row.id, ())) for row in rows]

    def get(self, key_id: str, glossary_id: str) -> Glossary | None:
        """The glossary, or None if this key has none under this id."""
        with self._transactions.reading() as session:
            row = _row(session, key_id, glossary_id)
            return None if row is None else _with_further(session, row)

    def entries(
        self, key_id: str, glossary_id: str, languages: tuple[str, str] | None = None
    ) -> list[tuple[str, str]] | None:
        """Source and target terms in the order given, or None if this key has no such glossary.

        Args:
            key_id: whose.
            glossary_id: which.
            languages: source and target; None: of the first dictionary. Of others than there are: no terms.
        """
        with self._transactions.reading() as session:
            row = _row(session, key_id, glossary_id)
            if row is None:
                return None
            one = _dictionary(session, row, languages)
            return [] if one is None else [(source, target) for source, target in one.entries]

    def update(
        self,
        key_id: str,
        glossary_id: str,
        *,
        name: str | None = None,
        languages: tuple[str, str] | None = None,
        entries: Sequence[tuple[str, str]] | None = None,
    ) -> Glossary | None:
        """Change what is not None; the glossary as it is now, or None if this key has none under this id.

        Args:
            key_id: whose.
            glossary_id: which.
            name: a new one.
            languages: source and target that ``entries`` are of; None: those of the first dictionary.
            entries: the place of all there are of these languages; all may go.

        Raises:
            InputError: as ``create``.
        """
        if name is not None:
            name = check_name("name", name, LONGEST_NAME)
        self._check_count(entries or ())
        with self._transactions.writing() as session:
            row = _row(session, key_id, glossary_id)
            if row is None:
                return None
            if name is not None:
                row.name = name
            if entries is not None:
                _put(session, row, languages, entries)
            return _with_further(session, row)

    def _check_count(self, entries: Sequence[tuple[str, str]]) -> None:
        if len(entries) > self._max_entries:
            raise InputError(
                f"entries: there are {len(entries)}, the limit is {self._max_entries}; make two glossaries"
            )

    def delete(self, key_id: str, glossary_id: str) -> bool:
        """Whether there was such a glossary; it is gone now."""
        with self._transactions.writing() as session:
            row = _row(session, key_id, glossary_id)
            if row is None:
                return False
            session.execute(delete(DictionaryRow).where(DictionaryRow.glossary_id == glossary_id))
            deleted = session.execute(
                delete(GlossaryRow).where(GlossaryRow.id == glossary_id).returning(GlossaryRow.id)
            )
            return deleted.first() is not None


def _row(session: Session, key_id: str, glossary_id: str) -> GlossaryRow | None:
    row = session.get(GlossaryRow, glossary_id)
    return row if row is not None and row.key_id == key_id else None


def _dictionary(
    session: Session, row: GlossaryRow, languages: tuple[str, str] | None
) -> GlossaryRow | DictionaryRow | None:
    if languages in (None, (row.source_language, row.target_language)):
        return row
    return session.get(DictionaryRow, (row.id, *languages))


def _put(
    session: Session,
    row: GlossaryRow,
    languages: tuple[str, str] | None,
    entries: Sequence[tuple[str, str]],
) -> None:
    """Store entries in the place of those of these languages; a further dictionary without any goes."""
    one = _dictionary(session, row, languages)
    if one is None:
        assert languages is not None, "the first dictionary is always there"
        one = DictionaryRow(glossary_id=row.id, source_language=languages[0], target_language=languages[1])
        if not entries:
            return
        session.add(one)
    elif isinstance(one, DictionaryRow) and not entries:
        session.delete(one)
        session.flush()
        return
    one.entries, one.n_entries = _stored(entries), len(entries)
    session.flush()


def _with_further(session: Session, row: GlossaryRow) -> Glossary:
    return _glossary(row, _further(session, [row.id]).get(row.id, ()))


def _further(session: Session, glossary_ids: Sequence[str]) -> dict[str, tuple[Dictionary, ...]]:
    """The further dictionaries of glossaries, without reading their entries."""
    rows = session.scalars(
        select(DictionaryRow)
        .options(defer(DictionaryRow.entries))
        .where(DictionaryRow.glossary_id.in_(glossary_ids))
        .order_by(DictionaryRow.source_language, DictionaryRow.target_language)
    )
    found: dict[str, tuple[Dictionary, ...]] = {}
    for row in rows:
        one = Dictionary(row.source_language, row.target_language, row.n_entries)
        found[row.glossary_id] = (*found.get(row.glossary_id, ()), one)
    return found


def _stored(entries: Sequence[tuple[str, str]]) -> list[list[str]]:
    return [[source, target] for source, target in entries]


def _glossary(row: GlossaryRow, further: tuple[Dictionary, ...]) -> Glossary:
    return Glossary(
        id=row.id,
        key_id=row.key_id,
        name=row.name,
        source_language=row.source_language,
        target_language=row.target_language,
        created_at=row.created_at,
        n_entries=row.n_entries,
        further=further,
    )
