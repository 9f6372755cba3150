"""Imports and exports of translation memories that are asked for first and done later, as in DeepL's API."""

from __future__ import annotations

import hmac
import secrets
import uuid
from datetime import timedelta
from typing import Literal, cast

from sqlalchemy import delete, update

from service.database.memories import ABANDONED_AFTER_S
from service.database.models import MemoryJobRow
from service.database.records import MemoryJob, MemoryJobState
from service.database.transactions import Transactions

TTL_S = 3600
"""A job can be asked for this long."""


class MemoryJobs:
    """The jobs. All methods block; see ``Database.run``."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def create(
        self, key_id: str, operation: Literal["import", "export"], name: str, memory_id: str = ""
    ) -> MemoryJob:
        """An import that waits for its file, or an export that is ready."""
        now = self._transactions.now()
        row = MemoryJobRow(
            id=str(uuid.uuid4()),
            key_id=key_id,
            secret=secrets.token_hex(32),
            operation=operation,
            state="awaiting_input" if operation == "import" else "completed",
            message="",
            memory_id=memory_id,
            name=name,
            n_skipped=0,
            created_at=now,
            changed_at=now,
            expires_at=now + timedelta(seconds=TTL_S),
        )
        with self._transactions.writing() as session:
            session.add(row)
        return _job(row)

    def get(self, job_id: str, key_id: str | None = None) -> MemoryJob | None:
        """The job, of this key if one is given; None: there is none, or it has expired."""
        with self._transactions.reading() as session:
            row = session.get(MemoryJobRow, job_id)
            if row is None or row.expires_at <= self._transactions.now():
                return None
            return _job(row) if key_id in (None, row.key_id) else None

    def open(self, job_id: str, secret: str, operation: str) -> MemoryJob | None:
        """The job of this kind that this secret opens."""
        job = self.get(job_id)
        if job is None or job.operation != operation:
            return None
        return job if hmac.compare_digest(job.secret.encode(), secret.encode("utf-8", "replace")) else None

    def start(self, job_id: str) -> bool:
        """Whether an import that waited for its file begins now; each does once."""
        with self._transactions.writing() as session:
            begun = session.execute(
                update(MemoryJobRow)
                .where(MemoryJobRow.id == job_id, MemoryJobRow.state == "awaiting_input")
                .values(state="processing", changed_at=self._transactions.now())
                .returning(MemoryJobRow.id)
            )
            return begun.first() is not None

    def end(
        self,
        job_id: str,
        state: MemoryJobState,
        *,
        message: str = "",
        memory_id: str = "",
        n_skipped: int = 0,
    ) -> None:
        """Result of an import."""
        with self._transactions.writing() as session:
            session.execute(
                update(MemoryJobRow)
                .where(MemoryJobRow.id == job_id)
                .values(
                    state=state,
                    message=message,
                    memory_id=memory_id,
                    n_skipped=n_skipped,
                    changed_at=self._transactions.now(),
                )
            )

    def sweep(self) -> None:
        """Forget what has expired; what a stopped server was importing has failed."""
        now = self._transactions.now()
        with self._transactions.writing() as session:
            session.execute(delete(MemoryJobRow).where(MemoryJobRow.expires_at <= now))
            session.execute(
                update(MemoryJobRow)
                .where(
                    MemoryJobRow.state == "processing",
                    MemoryJobRow.changed_at < now - timedelta(seconds=ABANDONED_AFTER_S),
                )
                .values(state="failed", message="The server stopped during this import; send it again.")
            )


def _job(row: MemoryJobRow) -> MemoryJob:
    return MemoryJob(
        id=row.id,
        key_id=row.key_id,
        secret=row.secret,
        operation=cast(Literal["import", "export"], row.operation),
        state=cast(MemoryJobState, row.state),
        message=row.message,
        memory_id=row.memory_id,
        name=row.name,
        n_skipped=row.n_skipped,
        created_at=row.created_at,
        changed_at=row.changed_at,
        expires_at=row.expires_at,
    )
