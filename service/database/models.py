"""The tables, typed, for SQLite and PostgreSQL alike. ``migrations/`` brings a database to this state.

Every time is UTC. Every row that belongs to somebody names the key it belongs to; without keys that is
``records.ANONYMOUS``. Nothing refers to ``keys`` by a foreign key: usage outlives the key that it was counted
for.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A time with its zone, UTC. SQLite has no such type and keeps it without the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time without a zone: nobody could say which instant it is."""
        if value is None:
            return None
        assert value.tzinfo is not None, "a time without a zone"
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The same instant, in UTC whatever the zone of the database session."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Constraints have names, so that a migration can change them on either database."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {datetime: UtcDateTime, dict[str, Any]: JSON, list[list[str]]: JSON}  # noqa: RUF012


class KeyRow(Base):
    """A key to the API: what it may do, and the hash by which it is known."""

    __tablename__ = "keys"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    secret_hash: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    requests_per_minute: Mapped[int | None] = mapped_column(BigInteger)
    characters_per_minute: Mapped[int | None] = mapped_column(BigInteger)
    characters_per_month: Mapped[int | None] = mapped_column(BigInteger)


class UsageRow(Base):
    """Usage of one key on one day (UTC)."""

    __tablename__ = "usage"

    key_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    characters: Mapped[int] = mapped_column(BigInteger)
    requests: Mapped[int] = mapped_column(BigInteger)


class RateRow(Base):
    """Hits in one window of one rate limit; ``expires_at`` is Unix time, as the limits library counts."""

    __tablename__ = "rates"

    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    hits: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[float] = mapped_column(index=True)


class GlossaryRow(Base):
    """A list of terms and the translations they must have, in its first direction."""

    __tablename__ = "glossaries"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    key_id: Mapped[str] = mapped_column(String(32), index=True)
    name: Mapped[str] = mapped_column(String(1024))
    source_language: Mapped[str] = mapped_column(String(20))
    target_language: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime]
    n_entries: Mapped[int]
    entries: Mapped[list[list[str]]]


class DictionaryRow(Base):
    """Terms of a glossary in a direction that is not the one of its own row."""

    __tablename__ = "dictionaries"

    glossary_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    source_language: Mapped[str] = mapped_column(String(20), primary_key=True)
    target_language: Mapped[str] = mapped_column(String(20), primary_key=True)
    n_entries: Mapped[int]
    entries: Mapped[list[list[str]]]


class MemoryRow(Base):
    """A translation memory. ``number`` is what its units and their index know it by."""

    __tablename__ = "memories"

    number: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    id: Mapped[str] = mapped_column(String(36), index=True)
    key_id: Mapped[str] = mapped_column(String(32), index=True)
    name: Mapped[str] = mapped_column(String(1024))
    source_language: Mapped[str] = mapped_column(String(20))
    target_language: Mapped[str] = mapped_column(String(20))
    n_units: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]


class UnitRow(Base):
    """A unit of a translation memory, see ``nmt.memory.sqlite``.

    Its grams are in an FTS5 table ``memory_grams`` on SQLite, in a column ``grams`` on PostgreSQL: the
    migration makes them, and ``service.database.units`` alone knows them.
    """

    __tablename__ = "memory_units"
    __table_args__ = (Index(None, "memory", "key_number", "pair_number", unique=True),)

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    memory: Mapped[int] = mapped_column(BigInteger)
    key_number: Mapped[int] = mapped_column(BigInteger)
    pair_number: Mapped[int] = mapped_column(BigInteger)
    key: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    target: Mapped[str] = mapped_column(Text)


class MemoryJobRow(Base):
    """An import or export as DeepL's API has them. ``secret`` opens its upload or download, without a key."""

    __tablename__ = "memory_jobs"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    key_id: Mapped[str] = mapped_column(String(32))
    secret: Mapped[str] = mapped_column(String(64))
    operation: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(String(16))
    message: Mapped[str] = mapped_column(Text)
    memory_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(1024))
    n_skipped: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class AlignmentRow(Base):
    """The alignment of an earlier answer, as the JSON that is given out again. ``number`` is their order."""

    __tablename__ = "alignments"
    __table_args__ = (Index(None, "number", "n_bytes"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
    key_id: Mapped[str] = mapped_column(String(32))
    expires_at: Mapped[datetime] = mapped_column(index=True)
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    payload: Mapped[bytes] = mapped_column(LargeBinary)


class DocumentRow(Base):
    """A document that is being translated, or was; its files are in the data folder under its id."""

    __tablename__ = "documents"

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    key_id: Mapped[str] = mapped_column(String(32))
    secret_hash: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(255))
    options: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(16))
    message: Mapped[str] = mapped_column(Text)
    billed_characters: Mapped[int] = mapped_column(BigInteger)
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]
    changed_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class JobRow(Base):
    """Many texts or files that are translated in the background. Floats are Unix times, 0: at once."""

    __tablename__ = "jobs"
    __table_args__ = (Index(None, "key_id", "number"), Index(None, "state", "lease_until"))

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
    key_id: Mapped[str] = mapped_column(String(32))
    kind: Mapped[str] = mapped_column(String(16))
    options: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(16))
    message: Mapped[str] = mapped_column(Text)
    n_items: Mapped[int] = mapped_column(BigInteger)
    n_done: Mapped[int] = mapped_column(BigInteger)
    n_failed: Mapped[int] = mapped_column(BigInteger)
    n_characters: Mapped[int] = mapped_column(BigInteger)
    n_characters_done: Mapped[int] = mapped_column(BigInteger)
    charged_on: Mapped[date | None]
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    lease_owner: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[float]
    n_takes: Mapped[int]
    worked_at: Mapped[float]
    webhook_url: Mapped[str | None] = mapped_column(Text)
    webhook_secret: Mapped[str | None] = mapped_column(Text)
    webhook_state: Mapped[str] = mapped_column(String(16))
    webhook_attempts: Mapped[int]
    webhook_at: Mapped[float]
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None] = mapped_column(index=True)


class JobPartRow(Base):
    """Some neighbouring lines of a job, or one of its files: what is translated, and written, at once."""

    __tablename__ = "job_parts"
    __table_args__ = (Index(None, "job_id", "is_done", "number"),)

    job_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    is_done: Mapped[bool]
    n_items: Mapped[int]
    n_characters: Mapped[int] = mapped_column(BigInteger)
    name: Mapped[str] = mapped_column(Text)
    errors: Mapped[list[list[str]]]
    source: Mapped[bytes | None] = mapped_column(LargeBinary)
    result: Mapped[bytes | None] = mapped_column(LargeBinary)
