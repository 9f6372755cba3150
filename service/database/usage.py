"""Usage: characters and requests of each key and day (UTC), counted when a request is taken.

Counting first and giving back on failure means that a crash in between counts too much, never too little, and
that requests which arrive together cannot all slip under a quota.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from sqlalchemy import bindparam, func, select, update

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
    """What was used. All methods block; see ``Database.run``."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions
        self._count = transactions.add_or_increase(UsageRow, "characters", "requests")

    def reserve(self, key_id: str, characters: int) -> Reservation:
        """Count a request and its characters, all or nothing.

        Raises:
            QuotaExceededError: the key's quota for the month has not that much left; nothing was counted.
        """
        now = self._transactions.now()
        today = now.astimezone(UTC).date()
        with self._transactions.writing() as session:
            self._transactions.lock(session, f"usage {key_id}")
            quota = None
            if key_id != ANONYMOUS:
                quota = session.scalar(_QUOTA, {"key_id": key_id})
            if quota is not None:
                first, following = month_of(today)
                used = session.scalar(_USED, {"key_id": key_id, "first": first, "following": following})
                if int(used or 0) + characters > quota:
                    resets_at = datetime.combine(following, datetime.min.time(), UTC)
                    raise QuotaExceededError(int(used or 0), quota, resets_at)
            row = {"key_id": key_id, "day": today, "characters": characters, "requests": 1}
            session.execute(self._count, row)
        return Reservation(key_id, today, characters)

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


def month_of(day: date) -> tuple[date, date]:
    """First day of the month, and of the month that follows."""
    first = day.replace(day=1)
    return first, (first + timedelta(days=32)).replace(day=1)
