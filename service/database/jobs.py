"""Jobs: what is known of them, their texts and their results, all in the database.

A part (some neighbouring lines, or a file) is the unit. Its result is written in the transaction that counts
it as done, so whatever is killed whenever, no line has two results and none is lost. One process works on a
job at a time: it holds a lease, which it renews, and writes nothing once it has lost it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.orm import Session

from service.database.models import JobPartRow, JobRow, UsageRow
from service.database.records import (
    Delivery,
    JobKind,
    JobPart,
    JobRecord,
    JobState,
    Webhook,
    WebhookState,
)
from service.database.transactions import Transactions

RECEIVING_S = 900.0
"""After which an upload that was not stored to its end is forgotten."""
MOST_TAKES = 5
"""How often a job is taken up again that ended nothing since: its texts may be what stops the server."""
STOPPED = "The server stopped {n} times while it translated the same part of this job; it is given up."


class JobsFullError(Exception):
    """There is no room for another job now. Holds no more than that."""


class TooManyJobsError(Exception):
    """The key has as many jobs as it may have. Holds no more than that."""


class Jobs:
    """Jobs and their parts. All methods block; see ``Database.run``.

    Args:
        transactions: where they are.
        ttl_s: seconds after its end at which a job is deleted.
        max_per_key: most jobs of one key, ended ones counted.
        max_bytes: of all texts and results together.
    """

    def __init__(self, transactions: Transactions, ttl_s: float, max_per_key: int, max_bytes: int) -> None:
        self._transactions = transactions
        self._ttl = timedelta(seconds=ttl_s)
        self._max_per_key = max_per_key
        self._max_bytes = max_bytes

    def create(
        self, key_id: str, kind: JobKind, options: Mapping[str, Any], webhook: Webhook | None
    ) -> JobRecord:
        """A job that is being received; ``add`` its parts, then ``release`` or ``discard`` it.

        Raises:
            TooManyJobsError: the key has too many.
            JobsFullError: there is no room for any text.
        """
        with self._transactions.writing() as session:
            self._transactions.lock(session, "jobs")
            own = select(func.count()).select_from(JobRow).where(JobRow.key_id == key_id)
            if int(session.scalar(own) or 0) >= self._max_per_key:
                raise TooManyJobsError
            self._check_room(session, 1)
            row = JobRow(
                id=secrets.token_hex(16),
                number=int(session.scalar(select(func.coalesce(func.max(JobRow.number), 0))) or 0) + 1,
                key_id=key_id,
                kind=kind,
                options=dict(options),
                state="receiving",
                message="",
                n_items=0,
                n_done=0,
                n_failed=0,
                n_characters=0,
                n_characters_done=0,
                charged_on=None,
                n_bytes=0,
                lease_owner=None,
                lease_until=self._seconds() + RECEIVING_S,
                n_takes=0,
                worked_at=0.0,
                webhook_url=None if webhook is None else webhook.url,
                webhook_secret=None if webhook is None else webhook.secret,
                webhook_state="none",
                webhook_attempts=0,
                webhook_at=0.0,
                created_at=self._transactions.now(),
                ended_at=None,
                expires_at=None,
            )
            session.add(row)
        return _record(row)

    def add(self, job_id: str, parts: Sequence[JobPart]) -> None:
        """Store more of a job that is being received; parts are numbered by whoever made them.

        Raises:
            JobsFullError: there is no room for them; ``discard`` the job.
        """
        rows = [
            {
                "job_id": job_id,
                "number": part.number,
                "is_done": part.source is None,
                "n_items": part.n_items,
                "n_characters": part.n_characters,
                "name": part.name,
                "errors": [list(error) for error in part.errors],
                "source": part.source,
                "result": None,
            }
            for part in parts
        ]
        n_bytes = sum(len(part.source or b"") for part in parts)
        with self._transactions.writing() as session:
            self._transactions.lock(session, "jobs")
            self._check_room(session, n_bytes)
            session.execute(insert(JobPartRow), rows)
            session.execute(
                update(JobRow)
                .where(JobRow.id == job_id, JobRow.state == "receiving")
                .values(
                    n_items=JobRow.n_items + sum(part.n_items for part in parts),
                    n_done=JobRow.n_done + sum(part.n_items for part in parts if part.source is None),
                    n_failed=JobRow.n_failed + sum(len(part.errors) for part in parts),
                    n_characters=JobRow.n_characters + sum(part.n_characters for part in parts),
                    n_bytes=JobRow.n_bytes + n_bytes,
                )
            )

    def release(self, job_id: str, charged_on: date) -> JobRecord:
        """The upload is complete and its characters are counted for this day: the job may be worked on."""
        with self._transactions.writing() as session:
            row = session.get_one(JobRow, job_id)
            row.state, row.lease_until, row.charged_on = "queued", 0.0, charged_on
        return _record(row)

    def discard(self, job_id: str) -> None:
        """Delete a job and all that is of it."""
        with self._transactions.writing() as session:
            _delete(session, job_id)

    def get(self, key_id: str, job_id: str) -> JobRecord | None:
        """The job, or None if this key has none under this id, or it has expired."""
        with self._transactions.reading() as session:
            row = session.get(JobRow, job_id)
        if row is None or row.key_id != key_id or row.state == "receiving":
            return None
        if row.expires_at is not None and row.expires_at <= self._transactions.now():
            return None
        return _record(row)

    def page(self, key_id: str, most: int, before: int | None = None) -> list[JobRecord]:
        """Jobs of a key, newest first; ``before``: those with a smaller number."""
        with self._transactions.reading() as session:
            rows = session.scalars(
                select(JobRow)
                .where(
                    JobRow.key_id == key_id,
                    JobRow.state != "receiving",
                    *([] if before is None else [JobRow.number < before]),
                )
                .order_by(JobRow.number.desc())
                .limit(most)
            )
            return [_record(row) for row in rows]

    def errors(self, job_id: str, most: int) -> list[tuple[str, str]]:
        """The first errors of a job in its order: number of the line, or name of the file, and message."""
        found: list[tuple[str, str]] = []
        with self._transactions.reading() as session:
            rows = session.execute(
                select(JobPartRow.number, JobPartRow.errors)
                .where(JobPartRow.job_id == job_id)
                .order_by(JobPartRow.number)
            )
            for _, errors in rows:
                found += [(where, message) for where, message in errors]
                if len(found) >= most:
                    break
        return found[:most]

    def claim(self, owner: str, lease_s: float) -> JobRecord | None:
        """Take the lease of a job that nobody works on: of the key whose turn was longest ago, its oldest.

        One that was taken ``MOST_TAKES`` times and came no further is ended instead.
        """
        with self._transactions.reading() as session:
            if session.scalar(select(JobRow.id).where(self._claimable()).limit(1)) is None:
                return None
        with self._transactions.writing() as session:
            self._transactions.lock(session, "jobs claimed")
            turns = select(JobRow.key_id, func.max(JobRow.worked_at).label("at")).group_by(JobRow.key_id)
            served = turns.subquery()
            row = session.scalars(
                select(JobRow)
                .join(served, served.c.key_id == JobRow.key_id)
                .where(self._claimable())
                .order_by(served.c.at, JobRow.number)
                .limit(1)
                .with_for_update(of=JobRow)  # it may be cancelled meanwhile
            ).first()
            if row is None:
                return None
            row.n_takes += row.lease_owner is not None  # a lease that ran out was never given back
            if row.n_takes >= MOST_TAKES:
                self._end(session, row, "error", STOPPED.format(n=row.n_takes))
                return None
            now = self._seconds()
            row.state, row.lease_owner, row.lease_until, row.worked_at = "running", owner, now + lease_s, now
        return _record(row)

    def renew(self, job_id: str, owner: str, lease_s: float) -> bool:
        """Keep the lease for longer; False: it is lost, or the job is."""
        return self._change(job_id, owner, lease_until=self._seconds() + lease_s)

    def give_up(self, job_id: str, owner: str) -> None:
        """Give the lease back: others may go on."""
        self._change(job_id, owner, lease_owner=None, lease_until=0.0)

    def next_parts(self, job_id: str, most_characters: int) -> list[JobPart]:
        """The first parts that are not done, one at least unless there is none."""
        open_parts = (JobPartRow.job_id == job_id, ~JobPartRow.is_done)
        with self._transactions.reading() as session:
            sizes = session.execute(
                select(JobPartRow.number, JobPartRow.n_characters)
                .where(*open_parts)
                .order_by(JobPartRow.number)
                .limit(1000)
            ).all()
            numbers: list[int] = []
            left = most_characters
            for number, n_characters in sizes:
                if numbers and n_characters > left:
                    break
                numbers.append(number)
                left -= n_characters
            rows = session.scalars(
                select(JobPartRow)
                .where(*open_parts, JobPartRow.number.in_(numbers))
                .order_by(JobPartRow.number)
            )
            return [_part(row) for row in rows]

    def finish_part(
        self,
        job_id: str,
        owner: str,
        number: int,
        result: bytes | None,
        n_characters: int,
        errors: Sequence[tuple[str, str]] = (),
    ) -> bool:
        """Write what became of a part and count it, at once or not at all.

        Args:
            job_id: of the job.
            owner: of the lease.
            number: of the part.
            result: to be handed out; None: there is none, see ``errors``.
            n_characters: that were translated; the key gets those of the others back.
            errors: found while it was translated.

        Returns:
            False: the lease is lost, or the part was done already, and nothing was written.
        """
        with self._transactions.writing() as session:
            job = self._locked(session, job_id)
            part = session.get(JobPartRow, (job_id, number))
            if job is None or job.lease_owner != owner or part is None or part.is_done:
                return False
            n_bytes = len(result or b"") - len(part.source or b"")
            part.is_done, part.source, part.result = True, None, result
            part.errors = [*part.errors, *(list(error) for error in errors)]
            job.n_done += part.n_items
            job.n_failed += len(errors)
            job.n_characters_done += n_characters
            job.n_bytes += n_bytes
            job.n_takes, job.worked_at = 0, self._seconds()
        return True

    def end(self, job_id: str, owner: str, state: JobState, message: str = "") -> bool:
        """End a job whose lease one has: "done" when no part is open, or "error" with a reason."""
        with self._transactions.writing() as session:
            row = self._locked(session, job_id)
            if row is None or row.lease_owner != owner:
                return False
            self._end(session, row, state, message)
        return True

    def cancel(self, key_id: str, job_id: str) -> bool:
        """End a job as cancelled; delete one that has ended already. False: this key has no such job."""
        with self._transactions.writing() as session:
            row = self._locked(session, job_id)
            if row is None or row.key_id != key_id or row.state == "receiving":
                return False
            if row.ended_at is None:
                self._end(session, row, "cancelled", "")
            else:
                _delete(session, job_id)
        return True

    def results(self, job_id: str, after: int, most_bytes: int) -> list[JobPart]:
        """Parts that have a result, which is their ``source`` here, in order; if there is one, one at least.

        Args:
            job_id: of the job.
            after: number of the last part that one has; -1 at first.
            most_bytes: of all together, unless the first alone has more.
        """
        done = (JobPartRow.job_id == job_id, JobPartRow.number > after, JobPartRow.result.is_not(None))
        with self._transactions.reading() as session:
            sizes = session.execute(
                select(JobPartRow.number, func.length(JobPartRow.result))
                .where(*done)
                .order_by(JobPartRow.number)
                .limit(100)
            ).all()
            last, left = after, most_bytes
            for number, n_bytes in sizes:
                if last != after and n_bytes > left:
                    break
                last, left = number, left - n_bytes
            rows = session.scalars(
                select(JobPartRow).where(*done, JobPartRow.number <= last).order_by(JobPartRow.number)
            )
            return [replace(_part(row), source=row.result) for row in rows]

    def next_delivery(self, lease_s: float) -> Delivery | None:
        """A message that is due; for ``lease_s`` nobody else gets it."""
        due = (JobRow.webhook_state == "waiting", JobRow.webhook_at <= self._seconds())
        with self._transactions.reading() as session:
            if session.scalar(select(JobRow.id).where(*due).limit(1)) is None:
                return None
        with self._transactions.writing() as session:
            self._transactions.lock(session, "jobs delivered")
            first = select(JobRow).where(*due).order_by(JobRow.webhook_at).limit(1)
            row = session.scalars(first.with_for_update()).first()
            if row is None:
                return None
            row.webhook_at = self._seconds() + lease_s
            row.webhook_attempts += 1
            webhook = Webhook(row.webhook_url or "", row.webhook_secret or "")
        return Delivery(_record(row), webhook, row.webhook_attempts)

    def delivered(self, job_id: str, state: WebhookState, again_in_s: float = 0.0) -> None:
        """Fate of a message: delivered, failed for good, or waiting to be sent again."""
        with self._transactions.writing() as session:
            changed: dict[str, object] = {"webhook_state": state, "webhook_at": self._seconds() + again_in_s}
            if state != "waiting":
                changed["webhook_secret"] = None
            session.execute(update(JobRow).where(JobRow.id == job_id).values(**changed))

    def sweep(self) -> None:
        """Delete what has expired and uploads that never ended, each in a transaction of its own."""
        with self._transactions.reading() as session:
            stale = (JobRow.state == "receiving") & (JobRow.lease_until <= self._seconds())
            gone = session.scalars(
                select(JobRow.id).where((JobRow.expires_at <= self._transactions.now()) | stale)
            ).all()
        for job_id in gone:
            self.discard(job_id)

    def _claimable(self) -> ColumnElement[bool]:
        return JobRow.state.in_(("queued", "running")) & (JobRow.lease_until <= self._seconds())

    def _locked(self, session: Session, job_id: str) -> JobRow | None:
        """The job, which nobody else changes until the transaction ends."""
        return session.get(JobRow, job_id, with_for_update=True)

    def _change(self, job_id: str, owner: str, **values: object) -> bool:
        with self._transactions.writing() as session:
            changed = session.execute(
                update(JobRow)
                .where(JobRow.id == job_id, JobRow.state == "running", JobRow.lease_owner == owner)
                .values(**values)
                .returning(JobRow.id)
            )
            return changed.first() is not None

    def _end(self, session: Session, row: JobRow, state: JobState, message: str) -> None:
        """Nothing more is translated: what was not is forgotten, and its characters are given back."""
        now = self._transactions.now()
        still_open = (JobPartRow.job_id == row.id, ~JobPartRow.is_done)
        n_bytes = session.scalar(select(func.sum(func.length(JobPartRow.source))).where(*still_open))
        session.execute(update(JobPartRow).where(*still_open).values(source=None, is_done=True))
        if row.charged_on is not None:
            session.execute(
                update(UsageRow)
                .where(UsageRow.key_id == row.key_id, UsageRow.day == row.charged_on)
                .values(characters=UsageRow.characters - (row.n_characters - row.n_characters_done))
            )
        row.n_characters, row.n_bytes = row.n_characters_done, row.n_bytes - int(n_bytes or 0)
        row.state, row.message, row.lease_owner = state, message, None
        row.ended_at, row.expires_at = now, now + self._ttl
        if row.webhook_url is not None:
            row.webhook_state = "waiting"

    def _check_room(self, session: Session, n_bytes: int) -> None:
        used = int(session.scalar(select(func.coalesce(func.sum(JobRow.n_bytes), 0))) or 0)
        if used + n_bytes > self._max_bytes:
            raise JobsFullError

    def _seconds(self) -> float:
        return self._transactions.now().astimezone(UTC).timestamp()


def _delete(session: Session, job_id: str) -> None:
    session.execute(delete(JobPartRow).where(JobPartRow.job_id == job_id))
    session.execute(delete(JobRow).where(JobRow.id == job_id))


def _record(row: JobRow) -> JobRecord:
    return JobRecord(
        id=row.id,
        number=row.number,
        key_id=row.key_id,
        kind=cast("JobKind", row.kind),
        options=row.options,
        state=cast("JobState", row.state),
        message=row.message,
        n_items=row.n_items,
        n_done=row.n_done,
        n_failed=row.n_failed,
        n_characters=row.n_characters,
        webhook_state=cast("WebhookState", row.webhook_state),
        created_at=row.created_at,
        ended_at=row.ended_at,
        expires_at=row.expires_at,
    )


def _part(row: JobPartRow) -> JobPart:
    return JobPart(
        source=row.source,
        n_items=row.n_items,
        n_characters=row.n_characters,
        name=row.name,
        errors=tuple((where, message) for where, message in row.errors),
        number=row.number,
    )
