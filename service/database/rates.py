"""Rates, counted in the database by the limits library, so that all replicas of a server count together.

The strategy is the sliding window counter: hits of this window, and of the one before as far as it still
reaches into the last minute. The library has no storage for SQL; this is one, and exact: the count is raised,
compared and taken back if it is too high, all in one transaction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from limits import RateLimitItemPerMinute
from limits.storage import Storage
from limits.storage.base import SlidingWindowCounterSupport, TimestampedSlidingWindow
from limits.strategies import SlidingWindowCounterRateLimiter
from sqlalchemy import bindparam, delete, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from service.database.models import RateRow
from service.database.transactions import Transactions

_HITS = select(RateRow.hits).where(RateRow.name == bindparam("name"))

WINDOW_S = 60
SLACK_S = 0.001
"""A hit is allowed when the count is below a bound, not at it; and clocks are not exact."""


@dataclass(frozen=True)
class RateState:
    """One rate after a hit.

    Attributes:
        allowed: whether the hit was within the limit; else it was not counted.
        limit: hits in a minute.
        remaining: what is left now.
        reset_s: whole seconds until another such hit is allowed; if it is now, until the window ends.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_s: int


class Rates:
    """Hits in the last minute. All methods block; see ``Database.run``."""

    def __init__(self, transactions: Transactions) -> None:
        self._storage = DatabaseStorage(transactions)
        self._limiter = SlidingWindowCounterRateLimiter(self._storage)

    def hit(self, kind: str, key_id: str, limit: int, cost: int = 1) -> RateState:
        """Count ``cost`` hits of this kind, all or none; a cost over the limit is never allowed."""
        item = RateLimitItemPerMinute(limit)
        allowed = self._limiter.hit(item, kind, key_id, cost=cost)
        previous, previous_ttl, current, current_ttl = self._storage.get_sliding_window(
            item.key_for(kind, key_id), WINDOW_S
        )
        used = math.floor(previous * previous_ttl / WINDOW_S + current)
        window_left_s = current_ttl - WINDOW_S
        wait_s = _seconds_until(limit - cost + 1, previous, previous_ttl, current, window_left_s)
        reset_s = math.ceil(window_left_s if wait_s is None else wait_s + SLACK_S)
        return RateState(allowed, limit, max(0, limit - used), reset_s)

    def sweep(self) -> None:
        """Delete the counts of windows that matter no more."""
        self._storage.sweep()


def _seconds_until(
    bound: int, previous: int, previous_ttl: float, current: int, window_left_s: float
) -> float | None:
    """Seconds until the weighted count is at ``bound``, as windows fade; None: it is below."""
    if bound <= 0:
        return window_left_s + WINDOW_S
    if current < bound:
        over = previous * previous_ttl / WINDOW_S + current - bound
        return over * WINDOW_S / previous if over >= 0 else None
    return window_left_s + (1 - bound / current) * WINDOW_S  # this window is the previous one by then


class DatabaseStorage(Storage, SlidingWindowCounterSupport, TimestampedSlidingWindow):
    """Counters in the table ``rates``, for the limits library."""

    STORAGE_SCHEME = None

    def __init__(self, transactions: Transactions) -> None:
        super().__init__()
        self._transactions = transactions
        self._count = transactions.add_or_increase(RateRow, "hits").returning(RateRow.hits)

    @property
    def base_exceptions(self) -> type[Exception]:
        """Errors that a lost connection raises."""
        return SQLAlchemyError

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count ``amount`` hits if they are within the limit."""
        now = self._seconds()
        previous_key, current_key = self.sliding_window_keys(key, expiry, now)
        with self._transactions.writing() as session:
            current = self._add(session, current_key, amount, now + 2 * expiry)
            previous = self._hits(session, previous_key)
            allowed = math.floor(previous * _fading(expiry, now) / expiry + current) <= limit
            if not allowed:
                session.rollback()
        return allowed

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Hits of the previous window and how long they still count; hits of this one, likewise."""
        now = self._seconds()
        previous_key, current_key = self.sliding_window_keys(key, expiry, now)
        with self._transactions.reading() as session:
            previous, current = self._hits(session, previous_key), self._hits(session, current_key)
        fading = _fading(expiry, now)
        return previous, fading if previous else 0.0, current, fading + expiry

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        """Forget both windows."""
        for name in self.sliding_window_keys(key, expiry, self._seconds()):
            self.clear(name)

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count ``amount`` hits and return their number."""
        with self._transactions.writing() as session:
            return self._add(session, key, amount, self._seconds() + expiry)

    def get(self, key: str) -> int:
        """Hits counted."""
        with self._transactions.reading() as session:
            return self._hits(session, key)

    def get_expiry(self, key: str) -> float:
        """Unix time after which the counter may be deleted."""
        with self._transactions.reading() as session:
            return session.scalar(select(RateRow.expires_at).where(RateRow.name == key)) or self._seconds()

    def check(self) -> bool:
        """Whether the table can be read."""
        self.get("")
        return True

    def reset(self) -> int:
        """Forget everything; returns how many counters there were."""
        with self._transactions.writing() as session:
            return len(session.execute(delete(RateRow).returning(RateRow.name)).all())

    def clear(self, key: str) -> None:
        """Forget one counter."""
        with self._transactions.writing() as session:
            session.execute(delete(RateRow).where(RateRow.name == key))

    def sweep(self) -> None:
        """Delete the counters that have expired."""
        with self._transactions.writing() as session:
            session.execute(delete(RateRow).where(RateRow.expires_at <= self._seconds()))

    def _add(self, session: Session, key: str, amount: int, expires_at: float) -> int:
        row = {"name": key, "hits": amount, "expires_at": expires_at}
        return int(session.execute(self._count, row).scalar_one())

    @staticmethod
    def _hits(session: Session, key: str) -> int:
        return int(session.scalar(_HITS, {"name": key}) or 0)

    def _seconds(self) -> float:
        return self._transactions.now().timestamp()


def _fading(expiry: int, now: float) -> float:
    """Seconds for which the previous window still reaches into the last ``expiry`` seconds."""
    return (1 - ((now / expiry) % 1)) * expiry
