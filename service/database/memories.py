"""Translation memories, owned by a key, each in one direction. Units come and go a batch at a time.

Who imports a memory fills it while nobody sees it; a memory that is deleted is unseen at once, and its units
are removed a batch at a time (``sweep``), so that no transaction keeps other writers waiting.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from nmt.errors import InputError
from nmt.memory.index import TranslationMemory
from nmt.memory.recall import recall
from nmt.memory.unit import MemoryMatch, TranslationUnit
from service.database.models import MemoryRow
from service.database.names import check_name
from service.database.records import Memory, MemoryState
from service.database.transactions import Transactions
from service.database.units import units_in

LONGEST_NAME = 1024
UNITS_AT_ONCE = 1000
"""Units of one transaction, some 50 ms."""
ABANDONED_AFTER_S = 600
"""An import that has stored nothing for so long is given up."""


class Memories:
    """The translation memories. A key sees its own only. All methods block; see ``Database.run``.

    Args:
        transactions: where they are.
        max_memories: most for one key.
        max_units: most in all memories of one key together.
    """

    def __init__(self, transactions: Transactions, max_memories: int, max_units: int) -> None:
        self._transactions = transactions
        self._max_memories = max_memories
        self._max_units = max_units

    def create(
        self, key_id: str, name: str, languages: tuple[str, str], state: MemoryState = "importing"
    ) -> Memory:
        """An empty memory.

        Raises:
            InputError: no name, or too many memories; the message names the limit.
        """
        now = self._transactions.now()
        row = MemoryRow(
            id=str(uuid.uuid4()),
            key_id=key_id,
            name=check_name("name", name, LONGEST_NAME),
            source_language=languages[0],
            target_language=languages[1],
            n_units=0,
            state=state,
            created_at=now,
            changed_at=now,
        )
        with self._transactions.writing() as session:
            self._transactions.lock(session, f"memories {key_id}")
            n_memories = session.scalar(
                select(func.count())
                .select_from(MemoryRow)
                .where(MemoryRow.key_id == key_id, MemoryRow.state != "deleting")
            )
            if int(n_memories or 0) >= self._max_memories:
                raise InputError(
                    f"there are {n_memories} translation memories already, and the limit is "
                    f"{self._max_memories}; delete one first"
                )
            session.add(row)
            session.flush()
            return _memory(row)

    def add(self, memory: Memory, units: Sequence[TranslationUnit]) -> int:
        """Store units that are not there yet; how many those were.

        Raises:
            InputError: the key would have more units than it may; none of these is stored.
        """
        with self._transactions.writing() as session:
            self._transactions.lock(session, f"memories {memory.key_id}")
            n_added = units_in(session).add(memory.number, units)
            n_units = session.scalar(
                select(func.sum(MemoryRow.n_units)).where(
                    MemoryRow.key_id == memory.key_id, MemoryRow.state != "deleting"
                )
            )
            if int(n_units or 0) + n_added > self._max_units:
                raise InputError(
                    f"this key may have {self._max_units:,} translation units, and they would be more; "
                    "delete a translation memory first, or import a part of the file"
                )
            session.execute(
                update(MemoryRow)
                .where(MemoryRow.number == memory.number)
                .values(n_units=MemoryRow.n_units + n_added, changed_at=self._transactions.now())
            )
        return n_added

    def finish(self, memory: Memory) -> Memory:
        """An import has ended: the memory is seen from now on."""
        self.merge()
        with self._transactions.writing() as session:
            row = session.get_one(MemoryRow, memory.number)
            row.state, row.changed_at = "ready", self._transactions.now()
            return _memory(row)

    def merge(self) -> None:
        """Make look-ups faster after an import, a little in each transaction."""
        is_first, has_more = True, True
        while has_more:
            with self._transactions.writing() as session:
                has_more = units_in(session).merge(is_first=is_first)
            is_first = False

    def all(self, key_id: str) -> list[Memory]:
        """All of a key that can be used, oldest first."""
        with self._transactions.reading() as session:
            rows = session.scalars(
                select(MemoryRow)
                .where(MemoryRow.key_id == key_id, MemoryRow.state == "ready")
                .order_by(MemoryRow.number)
            )
            return [_memory(row) for row in rows]

    def get(self, key_id: str, memory_id: str) -> Memory | None:
        """The memory, or None if this key has none under this id."""
        with self._transactions.reading() as session:
            row = _row(session, key_id, memory_id)
            return None if row is None else _memory(row)

    def delete(self, memory: Memory) -> None:
        """It is unseen from now on; units that are left are for ``sweep``."""
        with self._transactions.writing() as session:
            session.execute(
                update(MemoryRow).where(MemoryRow.number == memory.number).values(state="deleting")
            )
        self._remove_some(memory.number)

    def sweep(self) -> None:
        """Remove the units of memories that are deleted, and imports that nobody goes on with."""
        before = self._transactions.now() - timedelta(seconds=ABANDONED_AFTER_S)
        with self._transactions.reading() as session:
            numbers = session.scalars(
                select(MemoryRow.number).where(
                    or_(
                        MemoryRow.state == "deleting",
                        (MemoryRow.state == "importing") & (MemoryRow.changed_at < before),
                    )
                )
            ).all()
        for number in numbers:
            while self._remove_some(number):
                pass

    def _remove_some(self, number: int) -> bool:
        """Whether there are more units. With the last ones the memory itself goes."""
        with self._transactions.writing() as session:
            if units_in(session).remove(number, UNITS_AT_ONCE) == UNITS_AT_ONCE:
                return True
            session.execute(delete(MemoryRow).where(MemoryRow.number == number))
            return False

    def search(self, memory: Memory, text: str, threshold: float, limit: int) -> list[MemoryMatch]:
        """The units most like a text."""
        with self._transactions.reading() as session:
            return _opened(session, memory).search(text, threshold, limit)

    def recall(
        self, memory: Memory, texts: Sequence[str], threshold: float, *, split_sentences: bool
    ) -> tuple[MemoryMatch, ...]:
        """Matches for texts, see ``nmt.memory.recall``."""
        with self._transactions.reading() as session:
            return recall(_opened(session, memory), texts, threshold, split_sentences=split_sentences)

    def page(self, memory: Memory, after: int, most: int) -> list[TranslationUnit]:
        """The next units after the one with this id, in the order in which they came."""
        with self._transactions.reading() as session:
            return units_in(session).page(memory.number, after, most)

    def units(self, memory: Memory) -> Iterator[TranslationUnit]:
        """All of them, with a transaction for each page of them."""
        after = 0
        while page := self.page(memory, after, UNITS_AT_ONCE):
            yield from page
            after = page[-1].id


def _opened(session: Session, memory: Memory) -> TranslationMemory:
    return TranslationMemory(units_in(session), memory.number, memory.languages)


def _row(session: Session, key_id: str, memory_id: str) -> MemoryRow | None:
    return session.scalar(
        select(MemoryRow).where(
            MemoryRow.id == memory_id, MemoryRow.key_id == key_id, MemoryRow.state == "ready"
        )
    )


def _memory(row: MemoryRow) -> Memory:
    return Memory(
        number=row.number,
        id=row.id,
        key_id=row.key_id,
        name=row.name,
        languages=(row.source_language, row.target_language),
        n_units=row.n_units,
        created_at=row.created_at,
        changed_at=row.changed_at,
    )
