"""Usage: characters and requests of each key and day (UTC), counted when a request is taken.

Counting first and giving back on failure means that a crash in between counts too much, never too little, and
that requests which arrive together cannot all slip under a quota.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.orm import Session

from service.database.models import KeyRow, UsageRow
from service.database.records import ANONYMOUS, DayUsage, Reservation
from service.database.transactions import Transactions

_QUOTA = select(KeyRow.characters_per_month).where(KeyRow.id == bindparam("key_id"))
_USED = select(func.sum(UsageRow.characters)).where(
    UsageRow.key_id == bindparam("key_id"),
    UsageRow.day >= bindparam("first"),
    UsageRow.day < bindparam("following"),
)


class QuotaExceededError(Exception):
    """A key's characters for this month are used up, or would be. Holds numbers only.

    Attributes:
        used: characters counted this month.
        quota: the key's characters for a month.
        resets_at: when the next month begins.
    """

    def __init__(self, used: int, quota: int, resets_at: datetime) -> None:
        super().__init__(f"{used} of {quota} characters of this month are used")
        self.used = used
        self.quota = quota
        self.resets_at = resets_at


class UsageCounts:
    """Counts of usage. All methods block; see ``Database.run``."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._count = transactions.add_or_increase(UsageRow, "characters", "requests")

    def reserve(self, key_id: str, characters: int) -> Reservation:
        """Count a request and its characters, all or nothing.

        Raises:
            QuotaExceededError: the key's quota for the month has not that much left; nothing was counted.
        """
        [made] = self.reserve_all([(key_id, characters)])
        if isinstance(made, Exception):
            raise made
        return made

    def reserve_all(self, asked: Sequence[tuple[str, int]]) -> list[Reservation | QuotaExceededError]:
        """``reserve`` for several requests in one transaction, in their order.

        Args:
            asked: key and characters of each.

        Returns:
            For each a reservation, or why there is none.
        """
        today = self._transactions.now().astimezone(UTC).date()
        made: list[Reservation | QuotaExceededError | None] = [None] * len(asked)
        with self._transactions.writing() as session:
            for key_id in sorted({key_id for key_id, _ in asked}):  # locks are always taken in one order
                self._transactions.lock(session, f"usage {key_id}")
                quota, used = self._month(session, key_id, today)
                taken: list[int] = []
                for n, (key, characters) in enumerate(asked):
                    if key != key_id:
                        continue
                    already = used + sum(taken)
                    if quota is not None and already + characters > quota:
                        made[n] = QuotaExceededError(already, quota, _begins(month_of(today)[1]))
                    else:
                        made[n] = Reservation(key_id, today, characters)
                        taken.append(characters)
                if taken:
                    row = {"key_id": key_id, "day": today, "characters": sum(taken), "requests": len(taken)}
                    session.execute(self._count, row)
        return [outcome for outcome in made if outcome is not None]

    def _month(self, session: Session, key_id: str, today: date) -> tuple[int | None, int]:
        """A key's quota, and what is used of it this month; nothing is looked up where there is none."""
        quota = None if key_id == ANONYMOUS else session.scalar(_QUOTA, {"key_id": key_id})
        if quota is None:
            return None, 0
        first, following = month_of(today)
        used = session.scalar(_USED, {"key_id": key_id, "first": first, "following": following})
        return quota, int(used or 0)

    def give_back(self, reservation: Reservation) -> None:
        """Take a failed request's characters off again; that it was made stays counted."""
        with self._transactions.writing() as session:
            session.execute(
                update(UsageRow)
                .where(UsageRow.key_id == reservation.key_id, UsageRow.day == reservation.day)
                .values(characters=UsageRow.characters - reservation.characters)
            )

    def days(self, key_id: str, first: date, last: date) -> list[DayUsage]:
        """Each day with usage from ``first`` to ``last``, both included, in order."""
        with self._transactions.reading() as session:
            rows = session.scalars(
                select(UsageRow)
                .where(UsageRow.key_id == key_id, UsageRow.day >= first, UsageRow.day <= last)
                .order_by(UsageRow.day)
            )
            return [DayUsage(row.day, row.characters, row.requests) for row in rows]

    def this_month(self, key_id: str) -> list[DayUsage]:
        """Each day of this month (UTC) with usage."""
        first, following = month_of(self._transactions.now().astimezone(UTC).date())
        return self.days(key_id, first, following - timedelta(days=1))


def _begins(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), UTC)


def month_of(day: date) -> tuple[date, date]:
    """First day of the month, and of the month that follows."""
    first = day.replace(day=1)
    return first, (first + timedelta(days=32)).replace(day=1)
