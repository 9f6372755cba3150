"""Alignments of earlier answers, for a while: bounded in age, number and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import delete, func, select

from service.database.models import AlignmentRow
from service.database.transactions import Transactions


class Alignments:
    """Bytes by id, each readable by its key only. The oldest give way to new ones. All methods block.

    Args:
        transactions: where they are.
        ttl_s: seconds that one is kept.
        max_entries: kept at most; 0 keeps none.
        max_bytes: bytes of all payloads together.
    """

    def __init__(self, transactions: Transactions, ttl_s: float, max_entries: int, max_bytes: int) -> None:
        self._transactions = transactions
        self._ttl = timedelta(seconds=ttl_s)
        self._max_entries = max_entries
        self._max_bytes = max_bytes

    def put(self, key_id: str, payloads: Mapping[str, bytes]) -> None:
        """Keep payloads by id; one that alone is over the bound in bytes is not kept."""
        fitting = {id_: payload for id_, payload in payloads.items() if len(payload) <= self._max_bytes}
        if not fitting or self._max_entries == 0:
            return
        now = self._transactions.now()
        with self._transactions.writing() as session:
            self._transactions.lock(session, "alignments")
            last = int(session.scalar(select(func.max(AlignmentRow.number))) or 0)
            session.add_all(
                AlignmentRow(
                    id=id_,
                    number=number,
                    key_id=key_id,
                    expires_at=now + self._ttl,
                    n_bytes=len(payload),
                    payload=payload,
                )
                for number, (id_, payload) in enumerate(fitting.items(), start=last + 1)
            )
            session.flush()
            newest_first = AlignmentRow.number.desc()
            ranked = select(
                AlignmentRow.number,
                func.row_number().over(order_by=newest_first).label("rank"),
                func.sum(AlignmentRow.n_bytes).over(order_by=newest_first).label("bytes"),
            ).subquery()
            over = select(ranked.c.number).where(
                (ranked.c.rank > self._max_entries) | (ranked.c.bytes > self._max_bytes)
            )
            session.execute(delete(AlignmentRow).where(AlignmentRow.number.in_(over)))
            session.execute(delete(AlignmentRow).where(AlignmentRow.expires_at <= now))

    def get(self, key_id: str, id_: str) -> bytes | None:
        """The payload, or None if this key never had it, or it gave way or expired."""
        with self._transactions.reading() as session:
            row = session.get(AlignmentRow, id_)
        if row is None or row.key_id != key_id or row.expires_at <= self._transactions.now():
            return None
        return row.payload

    def totals(self) -> tuple[int, int]:
        """How many are kept, and their bytes."""
        with self._transactions.reading() as session:
            n_entries, n_bytes = session.execute(
                select(func.count(), func.coalesce(func.sum(AlignmentRow.n_bytes), 0)).where(
                    AlignmentRow.expires_at > self._transactions.now()
                )
            ).one()
            return int(n_entries), int(n_bytes)

    def sweep(self) -> None:
        """Delete what has expired."""
        with self._transactions.writing() as session:
            self._transactions.lock(session, "alignments")
            session.execute(delete(AlignmentRow).where(AlignmentRow.expires_at <= self._transactions.now()))
