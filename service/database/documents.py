"""Documents: what is known of a job in the database, its files in the data folder.

    FOLDER/<id>.source     as uploaded, until the job is done or has failed
    FOLDER/<id>.result     once the job is done

Files are named by us, never by who uploads. Several replicas must share the folder.
"""

from __future__ import annotations

import hmac
import os
import secrets
import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from service.database.keys import hash_secret
from service.database.models import DocumentRow
from service.database.names import check_name
from service.database.records import DocumentJob, DocumentState
from service.database.transactions import Transactions

LONGEST_NAME = 255


class DocumentsFullError(Exception):
    """There is no room for another document now. Holds no more than that."""


class Documents:
    """Document jobs and their files. All methods block; see ``Database.run``.

    Args:
        transactions: where the jobs are.
        folder: where the files are; made when it is first needed.
        ttl_s: seconds after upload at which a job and its files are deleted.
        max_bytes: bytes of all files together.
    """

    def __init__(self, transactions: Transactions, folder: Path, ttl_s: float, max_bytes: int) -> None:
        self._transactions = transactions
        self._folder = folder
        self._ttl = timedelta(seconds=ttl_s)
        self._max_bytes = max_bytes

    def create(
        self, key_id: str, name: str, source: bytes, options: Mapping[str, Any]
    ) -> tuple[DocumentJob, str]:
        """Store an upload as a queued job; also gives the only copy of the secret that opens it again.

        Raises:
            DocumentsFullError: the files of all jobs leave no room for it now.
            InputError: the file name cannot be one.
        """
        name = check_name("filename", name, LONGEST_NAME)
        now = self._transactions.now()
        secret = secrets.token_hex(32).upper()
        row = DocumentRow(
            id=secrets.token_hex(16).upper(),
            key_id=key_id,
            secret_hash=hash_secret(secret),
            name=name,
            options=dict(options),
            state="queued",
            message="",
            billed_characters=0,
            n_bytes=len(source),
            created_at=now,
            changed_at=now,
            expires_at=now + self._ttl,
        )
        with self._transactions.writing() as session:
            self._make_room(session, len(source))
            session.add(row)
            self._write(self._source(row.id), source)
        return _job(row), secret

    def get(self, key_id: str, job_id: str, secret: str) -> DocumentJob | None:
        """The job, or None if this key has none under this id, the secret is not its, or it has expired."""
        with self._transactions.reading() as session:
            row = session.get(DocumentRow, job_id)
        if row is None or row.key_id != key_id or row.expires_at <= self._transactions.now():
            return None
        return _job(row) if hmac.compare_digest(hash_secret(secret), row.secret_hash) else None

    def start(self, job_id: str) -> bytes | None:
        """Take a queued job for translation and read its upload; None if somebody else has, or it is gone."""
        if not self._change(job_id, "queued", state="translating"):
            return None
        try:
            return self._source(job_id).read_bytes()
        except FileNotFoundError:
            return None

    def finish(
        self, job_id: str, name: str, result: bytes, billed_characters: int, message: str = ""
    ) -> bool:
        """Store the translation under the name that the download is to have; False if the job is gone.

        ``message`` is for a person and holds nothing of the document.

        Raises:
            DocumentsFullError: there is no room for it; the job is as it was, ``fail`` it.
        """
        with self._transactions.writing() as session:
            row = session.get(DocumentRow, job_id)
            if row is None or row.state != "translating":
                return False
            self._make_room(session, len(result) - row.n_bytes)
            row.state, row.name, row.n_bytes = "done", name[-LONGEST_NAME:], len(result)
            row.billed_characters, row.changed_at = billed_characters, self._transactions.now()
            row.message = message
            self._write(self._result(job_id), result)
        self._source(job_id).unlink(missing_ok=True)
        return True

    def fail(self, job_id: str, message: str) -> None:
        """The job could not be done; ``message`` is for a person and holds nothing of the document."""
        self._change(job_id, "queued", "translating", state="error", message=message, n_bytes=0)
        self._source(job_id).unlink(missing_ok=True)

    def touch(self, job_id: str) -> bool:
        """Say that the job is being worked on, see ``abandon``; False if it is gone or was given up."""
        return self._change(job_id, "queued", "translating")

    def result(self, job_id: str) -> bytes | None:
        """The translation, or None if it is not there yet or any more."""
        try:
            return self._result(job_id).read_bytes()
        except FileNotFoundError:
            return None

    def delete(self, job_id: str) -> None:
        """Delete the job and its files."""
        with self._transactions.writing() as session:
            session.execute(delete(DocumentRow).where(DocumentRow.id == job_id))
        self._unlink(job_id)

    def abandon(self, untouched_s: float, message: str) -> int:
        """Fail jobs that nobody has worked on for so long: their server has stopped. Returns how many."""
        before = self._transactions.now() - timedelta(seconds=untouched_s)
        with self._transactions.reading() as session:
            left = list(
                session.scalars(
                    select(DocumentRow.id).where(
                        DocumentRow.state.in_(("queued", "translating")), DocumentRow.changed_at <= before
                    )
                )
            )
        for job_id in left:
            self.fail(job_id, message)
        return len(left)

    def sweep(self) -> None:
        """Delete what has expired, and files that belong to no job."""
        with self._transactions.writing() as session:
            expired = session.execute(
                delete(DocumentRow)
                .where(DocumentRow.expires_at <= self._transactions.now())
                .returning(DocumentRow.id)
            ).scalars()
            for job_id in list(expired):
                self._unlink(job_id)
        if not self._folder.is_dir():
            return
        old = time.time() - self._ttl.total_seconds()
        for path in self._folder.iterdir():
            if path.stat().st_mtime < old:
                path.unlink(missing_ok=True)

    def _change(self, job_id: str, *states: DocumentState, **values: object) -> bool:
        """Change a job if it is in one of ``states``; False if it is not."""
        with self._transactions.writing() as session:
            changed = session.execute(
                update(DocumentRow)
                .where(DocumentRow.id == job_id, DocumentRow.state.in_(states))
                .values(changed_at=self._transactions.now(), **values)
                .returning(DocumentRow.id)
            )
            return changed.first() is not None

    def _make_room(self, session: Session, n_bytes: int) -> None:
        self._transactions.lock(session, "documents")
        used = int(session.scalar(select(func.coalesce(func.sum(DocumentRow.n_bytes), 0))) or 0)
        if used + n_bytes > self._max_bytes:
            raise DocumentsFullError

    def _source(self, job_id: str) -> Path:
        return self._folder / f"{job_id}.source"

    def _result(self, job_id: str) -> Path:
        return self._folder / f"{job_id}.result"

    def _unlink(self, job_id: str) -> None:
        self._source(job_id).unlink(missing_ok=True)
        self._result(job_id).unlink(missing_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        """Whole or not at all, and readable by this user only."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = path.with_name(path.name + ".part")
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123
            file.write(content)
        aside.replace(path)


def _job(row: DocumentRow) -> DocumentJob:
    return DocumentJob(
        id=row.id,
        key_id=row.key_id,
        name=row.name,
        options=row.options,
        state=cast("DocumentState", row.state),
        message=row.message,
        billed_characters=row.billed_characters,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )
