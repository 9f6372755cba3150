"""Rates: a limit holds in any minute, for all replicas together, and the wait that is told is true."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from service.database.database import Database
from service.database.rates import DatabaseStorage
from tests.service.database.conftest import Clock, open_database


def test_a_minute_has_as_many_hits_as_the_limit_says(database: Database) -> None:
    states = [database.rates.hit("requests", "a", 3) for _ in range(5)]

    assert [state.allowed for state in states] == [True, True, True, False, False]
    assert [state.remaining for state in states] == [2, 1, 0, 0, 0]
    assert database.rates.hit("requests", "b", 3).allowed, "each key has its own"
    assert database.rates.hit("characters", "a", 3).allowed, "each kind has its own"


def test_a_cost_is_counted_whole_or_not_at_all(database: Database) -> None:
    assert database.rates.hit("characters", "a", 100, cost=70).remaining == 30
    assert not database.rates.hit("characters", "a", 100, cost=31).allowed
    assert database.rates.hit("characters", "a", 100, cost=30).remaining == 0
    assert not database.rates.hit("characters", "b", 100, cost=101).allowed


@pytest.mark.parametrize("second", [0.0, 0.5, 17.3, 44.0, 59.9])
def test_after_the_wait_that_is_told_there_is_room_and_before_it_there_is_none(
    database: Database, clock: Clock, second: float
) -> None:
    clock.now = clock.now.replace(second=0) + timedelta(seconds=second)
    for _ in range(10):
        database.rates.hit("requests", "a", 10)
    refused = database.rates.hit("requests", "a", 10)

    clock.advance(seconds=refused.reset_s - 1.5)
    assert not database.rates.hit("requests", "a", 10).allowed
    clock.advance(seconds=1.5)
    assert database.rates.hit("requests", "a", 10).allowed


def test_no_window_of_a_minute_lets_twice_the_limit_through(database: Database, clock: Clock) -> None:
    clock.now = clock.now.replace(second=59)
    first = sum(database.rates.hit("requests", "a", 10).allowed for _ in range(20))
    clock.advance(seconds=2)
    second = sum(database.rates.hit("requests", "a", 10).allowed for _ in range(20))

    assert (first, second) == (10, 1), "a sixtieth of the last minute has passed, and so a part of its hits"


def test_replicas_count_together(database: Database, url: str, tmp_path: Path, clock: Clock) -> None:
    replica = open_database(url, tmp_path, clock)

    states = [side.rates.hit("requests", "a", 6).allowed for side in (database, replica) * 5]

    replica.close()
    assert states == [True] * 6 + [False] * 4


def test_hits_at_once_cannot_slip_through_together(database: Database) -> None:
    with ThreadPoolExecutor(8) as threads:
        states = list(threads.map(lambda _: database.rates.hit("requests", "a", 10), range(60)))

    assert sum(state.allowed for state in states) == 10


def test_the_storage_does_what_the_librarys_own_does(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    from limits import RateLimitItemPerMinute
    from limits.storage import memory

    now = 1_700_000_000.0
    monkeypatch.setattr(memory.time, "time", lambda: now)
    clock = database.transactions.now
    assert isinstance(clock, Clock)
    storages = (MemoryStorage(), DatabaseStorage(database.transactions))
    limiters = [SlidingWindowCounterRateLimiter(storage) for storage in storages]
    item = RateLimitItemPerMinute(7)
    outcomes = []
    for step in (0, 1, 20, 15, 0, 0, 30, 2, 25, 40, 61, 3, 0, 130, 5) * 2:
        now += step
        clock.now = clock.now.fromtimestamp(now, clock.now.tzinfo)
        own, ours = [limiter.hit(item, "a", cost=1 + step % 3) for limiter in limiters]
        assert own is ours
        outcomes.append(ours)
    assert len(set(outcomes)) == 2


def test_what_no_longer_counts_is_deleted(database: Database, clock: Clock) -> None:
    database.rates.hit("requests", "a", 10)
    storage = DatabaseStorage(database.transactions)
    assert storage.incr("x", 60, 2) == storage.get("x") == 2
    assert storage.get_expiry("x") == clock().timestamp() + 60
    clock.advance(seconds=121)

    database.rates.sweep()

    assert storage.reset() == 0
    assert storage.check()
    storage.incr("x", 60)
    storage.clear("x")
    assert storage.get("x") == 0
    limited = database.rates.hit("requests", "a", 1)
    assert limited.allowed
