"""Jobs in the database: nothing twice, nothing lost, whoever dies; turns, room, and the end of old ones."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC

import pytest
from sqlalchemy import insert, update
from sqlalchemy.exc import IntegrityError

from service.database.database import Database
from service.database.jobs import MOST_TAKES, Jobs, JobsFullError, TooManyJobsError
from service.database.models import JobPartRow, JobRow
from service.database.records import JobPart, JobRecord, Webhook
from tests.service.database.conftest import Clock

LEASE_S = 60.0


def parts(*sources: bytes, n_characters: int = 5) -> list[JobPart]:
    return [JobPart(source, 1, n_characters, number=number) for number, source in enumerate(sources)]


def made(database: Database, key_id: str = "a", *sources: bytes, jobs: Jobs | None = None) -> JobRecord:
    """A job in the queue; a part for each of ``sources``, its characters charged."""
    jobs = jobs or database.jobs
    job = jobs.create(key_id, "lines", {"target": "fr"}, None)
    jobs.add(job.id, parts(*(sources or (b"one", b"two"))))
    reservation = database.usage.reserve(key_id, 5 * len(sources or (1, 2)))
    return jobs.release(job.id, reservation.day)


def used(database: Database, key_id: str = "a") -> int:
    return sum(day.characters for day in database.usage.this_month(key_id))


def written(database: Database, job: JobRecord, most_bytes: int = 1) -> list[bytes | None]:
    """All results, read a page at a time."""
    found: list[bytes | None] = []
    last = -1
    while page := database.jobs.results(job.id, last, most_bytes):
        found += [part.source for part in page]
        last = page[-1].number
    return found


def test_a_job_goes_from_upload_to_result_in_its_order(database: Database) -> None:
    jobs = database.jobs
    received = jobs.create("a", "lines", {}, None)
    assert jobs.get("a", received.id) is None, "not before it is there"
    jobs.discard(received.id)
    job = made(database, "a", b"one", b"two", b"three")
    assert (job.state, job.n_items, job.n_done, job.n_characters) == ("queued", 3, 0, 15)

    assert jobs.claim("me", LEASE_S).id == job.id  # type: ignore[union-attr]
    assert [part.source for part in jobs.next_parts(job.id, 10)] == [b"one", b"two"]
    assert jobs.finish_part(job.id, "me", 1, b"TWO", 5)
    assert jobs.finish_part(job.id, "me", 0, b"ONE", 5)
    assert [part.source for part in jobs.next_parts(job.id, 1)] == [b"three"], "one at least"
    assert jobs.finish_part(job.id, "me", 2, None, 0, [("3", "it cannot be read")])
    assert jobs.next_parts(job.id, 10) == []
    assert jobs.end(job.id, "me", "done")

    done = jobs.get("a", job.id)
    assert done
    assert (done.state, done.n_done, done.n_failed, done.n_characters) == ("done", 3, 1, 10)
    assert used(database) == 10, "what failed was given back"
    assert written(database, job) == written(database, job, 10**6) == [b"ONE", b"TWO"]
    assert jobs.errors(job.id, 10) == [("3", "it cannot be read")]
    assert jobs.claim("me", LEASE_S) is None


def test_a_part_is_written_once_and_by_who_has_the_lease(database: Database, clock: Clock) -> None:
    jobs, job = database.jobs, made(database)
    assert jobs.claim("dead", LEASE_S)
    assert jobs.finish_part(job.id, "dead", 0, b"ONE", 5)
    assert jobs.claim("heir", LEASE_S) is None
    clock.advance(seconds=LEASE_S)
    assert jobs.claim("heir", LEASE_S).id == job.id  # type: ignore[union-attr]

    assert not jobs.finish_part(job.id, "dead", 1, b"late", 5), "the lease is another's"
    assert not jobs.renew(job.id, "dead", LEASE_S)
    assert not jobs.end(job.id, "dead", "done")
    jobs.give_up(job.id, "dead")
    assert jobs.claim("third", LEASE_S) is None, "who has lost the lease cannot give it back"
    assert [part.number for part in jobs.next_parts(job.id, 100)] == [1]
    assert not jobs.finish_part(job.id, "heir", 0, b"again", 5), "it is done"
    assert jobs.finish_part(job.id, "heir", 1, b"TWO", 5)
    assert written(database, job) == [b"ONE", b"TWO"]
    assert jobs.get("a", job.id).n_done == 2  # type: ignore[union-attr]


def test_a_result_whose_count_cannot_be_written_is_not_there_either(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, job = database.jobs, made(database)
    jobs.claim("me", LEASE_S)

    def fail() -> float:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_seconds", fail)  # which the count of a part asks for, last of all
        with pytest.raises(OSError, match="full"):
            jobs.finish_part(job.id, "me", 0, b"ONE", 5)

    assert written(database, job) == []
    assert [part.number for part in jobs.next_parts(job.id, 100)] == [0, 1]
    assert jobs.get("a", job.id).n_done == 0  # type: ignore[union-attr]


def test_only_one_of_many_workers_gets_a_job(database: Database) -> None:
    made(database)
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(lambda n: database.jobs.claim(f"w{n}", LEASE_S), range(16)))

    assert sum(one is not None for one in got) == 1


def test_keys_take_turns_and_a_key_has_its_jobs_done_in_order(database: Database, clock: Clock) -> None:
    names = {made(database, key).id: f"{key}{n}" for n, key in enumerate(["a", "a", "b"])}
    order = []
    for _ in range(4):
        clock.advance(seconds=1)
        job = database.jobs.claim("me", LEASE_S)
        assert job
        order.append(names[job.id])
        database.jobs.give_up(job.id, "me")

    assert order == ["a0", "b2", "a0", "b2"]


def test_a_job_over_which_the_server_dies_again_and_again_is_given_up(
    database: Database, clock: Clock
) -> None:
    jobs, job = database.jobs, made(database)
    for n in range(MOST_TAKES):
        assert jobs.claim(f"dies{n}", LEASE_S), n
        if n == 0:
            jobs.finish_part(job.id, "dies0", 0, b"ONE", 5)
        clock.advance(seconds=LEASE_S)

    assert jobs.claim("careful", LEASE_S) is None
    failed = jobs.get("a", job.id)
    assert failed
    assert failed.state == "error"
    assert failed.message.startswith(f"The server stopped {MOST_TAKES} times")
    assert used(database) == 5
    assert written(database, job) == [b"ONE"]


def test_a_job_is_cancelled_then_deleted_by_its_key_alone(database: Database) -> None:
    jobs, job = database.jobs, made(database)
    jobs.claim("me", LEASE_S)
    jobs.finish_part(job.id, "me", 0, b"ONE", 5)

    assert not jobs.cancel("b", job.id)
    assert jobs.get("b", job.id) is None
    assert jobs.cancel("a", job.id)
    assert not jobs.finish_part(job.id, "me", 1, b"TWO", 5)
    cancelled = jobs.get("a", job.id)
    assert cancelled
    assert (cancelled.state, cancelled.n_done, cancelled.n_characters) == ("cancelled", 1, 5)
    assert used(database) == 5
    assert written(database, job) == [b"ONE"]
    with database.transactions.reading() as session:
        assert session.get_one(JobPartRow, (job.id, 1)).source is None, "what is not needed is not kept"
    assert jobs.cancel("a", job.id)
    assert jobs.get("a", job.id) is None
    assert not jobs.cancel("a", job.id)


def test_room_is_bounded_for_all_and_for_each_key(database: Database) -> None:
    small = Jobs(database.transactions, 60, max_per_key=2, max_bytes=10)
    first = small.create("a", "lines", {}, None)
    small.add(first.id, parts(b"x" * 8))
    with pytest.raises(JobsFullError):
        small.add(first.id, [JobPart(b"x" * 3, 1, 3, number=1)])
    small.create("a", "lines", {}, None)
    with pytest.raises(TooManyJobsError):
        small.create("a", "lines", {}, None)
    other = small.create("b", "lines", {}, None)
    small.add(other.id, parts(b"xx"))
    with pytest.raises(JobsFullError):
        small.create("b", "lines", {}, None)
    small.discard(first.id)
    assert small.create("b", "lines", {}, None)


def test_ended_jobs_expire_and_uploads_that_stopped_are_forgotten(database: Database, clock: Clock) -> None:
    jobs = Jobs(database.transactions, 3600, 100, 10**6)
    old, unfinished = made(database, jobs=jobs), made(database, jobs=jobs)
    received = jobs.create("a", "lines", {}, None)
    jobs.add(received.id, parts(b"x"))
    jobs.claim("me", LEASE_S)
    jobs.end(old.id, "me", "done")
    clock.advance(seconds=3599)
    jobs.sweep()
    assert jobs.get("a", old.id)
    clock.advance(seconds=1)
    assert jobs.get("a", old.id) is None
    jobs.sweep()

    assert jobs.get("a", unfinished.id), "what has not ended does not expire"
    with database.transactions.reading() as session:
        assert {row.id for row in session.query(JobRow)} == {unfinished.id}
        assert {row.job_id for row in session.query(JobPartRow)} == {unfinished.id}


def test_ten_thousand_jobs_are_listed_page_by_page_and_hold_up_no_other_key(database: Database) -> None:
    job = made(database, "a", b"x")
    with database.transactions.writing() as session:
        row = session.get_one(JobRow, job.id)
        values = {column.name: getattr(row, column.name) for column in JobRow.__table__.columns}
        session.execute(
            insert(JobRow),
            [values | {"id": f"{n:032}", "number": job.number + n} for n in range(1, 10_000)],
        )
    other = made(database, "b", b"x")
    seen: list[int] = []
    before = None
    while page := database.jobs.page("a", 100, before):
        seen += [one.number for one in page]
        before = page[-1].number

    assert len(seen) == 10_000
    assert seen == sorted(set(seen), reverse=True)
    claimed = [database.jobs.claim("me", LEASE_S) for _ in range(2)]
    assert {one.key_id for one in claimed if one} == {"a", "b"}
    assert other.id in {one.id for one in claimed if one}
    with pytest.raises(TooManyJobsError):
        database.jobs.create("a", "lines", {}, None)


def test_the_end_of_a_job_is_due_until_it_is_told(database: Database, clock: Clock) -> None:
    jobs = database.jobs
    job = jobs.create("a", "lines", {}, Webhook("https://example.org/", "sixteen characters"))
    jobs.add(job.id, parts(b"x"))
    jobs.release(job.id, clock.now.astimezone(UTC).date())
    assert jobs.next_delivery(LEASE_S) is None
    assert jobs.cancel("a", job.id)

    first = jobs.next_delivery(LEASE_S)
    assert first
    assert (first.webhook.url, first.webhook.secret, first.attempt) == (
        "https://example.org/",
        "sixteen characters",
        1,
    )
    assert jobs.next_delivery(LEASE_S) is None, "somebody is telling it"
    clock.advance(seconds=LEASE_S)
    assert jobs.next_delivery(LEASE_S).attempt == 2, "who told it has died"  # type: ignore[union-attr]
    jobs.delivered(job.id, "waiting", 100)
    clock.advance(seconds=99)
    assert jobs.next_delivery(LEASE_S) is None
    clock.advance(seconds=1)
    assert jobs.next_delivery(LEASE_S)
    jobs.delivered(job.id, "delivered")
    clock.advance(days=1)
    assert jobs.next_delivery(LEASE_S) is None
    with database.transactions.reading() as session:
        assert session.get_one(JobRow, job.id).webhook_secret is None


def test_two_parts_of_one_number_are_refused(database: Database) -> None:
    job = database.jobs.create("a", "lines", {}, None)
    with pytest.raises(IntegrityError):
        database.jobs.add(job.id, [*parts(b"x"), *parts(b"y")])
    with database.transactions.writing() as session:
        session.execute(update(JobRow).values(state="queued"))
    assert database.jobs.get("a", job.id).n_items == 0  # type: ignore[union-attr]
