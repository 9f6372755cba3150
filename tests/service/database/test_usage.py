"""Usage and quotas: nothing lost and nothing let through, however many count at once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from service.database.database import Database
from service.database.records import ANONYMOUS, DayUsage, KeyLimits, Reservation
from service.database.usage import QuotaExceededError, month_of
from tests.service.database.conftest import Clock, open_database

COUNT = """
import sys
from pathlib import Path
from service.database.database import Database
from service.settings import Settings
database = Database(Settings(database_url=sys.argv[1], data_dir=Path(sys.argv[2])))
while True:
    sys.stdin.readline() or sys.exit()
    database.usage.reserve("k", 3)
    print("counted", flush=True)
"""


def test_characters_and_requests_add_up_by_key_and_day(database: Database, clock: Clock) -> None:
    for key, characters in (("a", 10), ("a", 5), ("b", 7), (ANONYMOUS, 1)):
        database.usage.reserve(key, characters)
    clock.advance(days=1)
    database.usage.reserve("a", 2)

    today = date(2026, 3, 14)
    assert database.usage.this_month("a") == [DayUsage(today, 15, 2), DayUsage(date(2026, 3, 15), 2, 1)]
    assert database.usage.this_month("b") == [DayUsage(today, 7, 1)]
    assert database.usage.days("a", today, today) == [DayUsage(today, 15, 2)]
    assert database.usage.this_month("c") == []


def test_a_failed_request_gets_its_characters_back_on_the_day_they_were_counted(
    database: Database, clock: Clock
) -> None:
    database.usage.reserve("a", 4)
    reservation = database.usage.reserve("a", 10)
    clock.advance(days=1)

    database.usage.give_back(reservation)

    assert database.usage.this_month("a") == [DayUsage(date(2026, 3, 14), 4, 2)]


def test_a_quota_is_used_to_the_last_character_and_no_further(database: Database, clock: Clock) -> None:
    key, _ = database.keys.create("team", KeyLimits(characters_per_month=100))
    database.usage.reserve(key.id, 60)
    clock.advance(days=10)

    with pytest.raises(QuotaExceededError) as refused:
        database.usage.reserve(key.id, 41)
    database.usage.give_back(database.usage.reserve(key.id, 40))
    database.usage.reserve(key.id, 40)
    with pytest.raises(QuotaExceededError):
        database.usage.reserve(key.id, 1)

    assert (refused.value.used, refused.value.quota) == (60, 100)
    assert refused.value.resets_at == datetime(2026, 4, 1, tzinfo=UTC)
    assert sum(day.requests for day in database.usage.this_month(key.id)) == 3, (
        "what is refused is not counted"
    )


def test_a_quota_begins_anew_with_the_month(database: Database, clock: Clock) -> None:
    key, _ = database.keys.create("team", KeyLimits(characters_per_month=100))
    clock.now = datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC)
    database.usage.reserve(key.id, 100)
    clock.advance(seconds=1)

    database.usage.reserve(key.id, 100)

    assert [day.day for day in database.usage.this_month(key.id)] == [date(2026, 4, 1)]


def test_months_end_where_they_do() -> None:
    assert month_of(date(2026, 2, 28)) == (date(2026, 2, 1), date(2026, 3, 1))
    assert month_of(date(2026, 12, 31)) == (date(2026, 12, 1), date(2027, 1, 1))
    assert month_of(date(2026, 1, 31)) == (date(2026, 1, 1), date(2026, 2, 1))


def test_no_update_is_lost_between_threads(database: Database) -> None:
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda n: database.usage.reserve("k", n), range(160)))
        list(threads.map(database.usage.give_back, made[::2]))

    (day,) = database.usage.this_month("k")
    assert (day.characters, day.requests) == (sum(range(1, 160, 2)), 160)


def test_requests_at_once_cannot_slip_under_a_quota_together(database: Database) -> None:
    key, _ = database.keys.create("team", KeyLimits(characters_per_month=50))

    def ask(_: int) -> bool:
        try:
            database.usage.reserve(key.id, 10)
        except QuotaExceededError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        taken = sum(threads.map(ask, range(40)))

    assert taken == 5
    assert sum(day.characters for day in database.usage.this_month(key.id)) == 50


def test_requests_that_go_together_are_counted_as_if_they_came_one_by_one(database: Database) -> None:
    bounded, _ = database.keys.create("bounded", KeyLimits(characters_per_month=50))
    free, _ = database.keys.create("free", KeyLimits())
    database.usage.reserve(bounded.id, 10)
    asked = [
        (bounded.id, 30),
        (free.id, 100),
        (bounded.id, 20),
        (ANONYMOUS, 5),
        (bounded.id, 10),
        (free.id, 1),
    ]

    made = database.usage.reserve_all(asked)

    refused = made[2]
    assert isinstance(refused, QuotaExceededError)
    assert (refused.used, refused.quota) == (40, 50), "what came before it in the same group counts"
    given = [one for one in made if isinstance(one, Reservation)]
    assert [(one.key_id, one.characters) for one in given] == asked[:2] + asked[3:]
    for key_id, characters, requests in ((bounded.id, 50, 3), (free.id, 101, 2), (ANONYMOUS, 5, 1)):
        (day,) = database.usage.this_month(key_id)
        assert (day.characters, day.requests) == (characters, requests)
    assert database.usage.reserve_all([]) == []


def test_no_update_is_lost_between_processes_nor_with_one_that_is_killed(
    database: Database, url: str, tmp_path: Path
) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", COUNT, url, str(tmp_path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    try:
        for process in processes:
            assert process.stdin
            process.stdin.write("\n" * 40)
            process.stdin.flush()
        for _ in range(40):
            assert database.usage.reserve("k", 3)
            for process in processes:
                assert process.stdout
                assert process.stdout.readline() == "counted\n"
        victim = processes[0]
        assert victim.stdin
        assert victim.stdout
        victim.stdin.write("\n" * 100)
        victim.stdin.flush()
        victim.stdout.readline()
        victim.kill()
        acknowledged = 1 + victim.stdout.read().count("counted")
    finally:
        for process in processes:
            process.kill()
            process.communicate()

    fresh = open_database(url, tmp_path)  # the processes counted by the real clock, this test's by its own
    found = fresh.usage.this_month("k") + database.usage.this_month("k")
    fresh.close()
    requests = sum(day.requests for day in found)
    assert 120 + acknowledged <= requests <= 120 + acknowledged + 1, "the one in flight may have been counted"
    assert sum(day.characters for day in found) == 3 * requests
