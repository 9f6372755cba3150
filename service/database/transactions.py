"""Connections and transactions on SQLite and PostgreSQL, so that the repositories need not know which it is.

SQLite: write-ahead logging (readers never wait for the writer), and a transaction that will write says so at
its beginning (BEGIN IMMEDIATE). Else two that have both read could neither of them go on to write, and one
would fail. PostgreSQL: read committed; what must be counted exactly takes an advisory lock for the rest of
its transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

from sqlalchemy import URL, Connection, Engine, Insert, QueuePool, Table, create_engine, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.orm import Session

from nmt.errors import ConfigError
from service.database.models import Base

BUSY_TIMEOUT_S = 15
"""How long a transaction waits for another writer, or for a free connection."""

_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = NORMAL",  # with WAL no crash breaks the file, and only the machine's loses anything
    "secure_delete = ON",  # what has expired is overwritten; it held users' words
    "foreign_keys = ON",
    "cache_size = -32000",  # KiB at most; looking a text up in a translation memory reads many pages
)


def parse_url(url: str) -> URL:
    """A database's URL; ``postgresql://`` means psycopg 3.

    Raises:
        ConfigError: it is none, or of another kind of database. The URL, which may hold a password, is not
        repeated.
    """
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        backend = "unknown"
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite":
        return parsed.set(drivername="sqlite+pysqlite")
    raise ConfigError(
        "PASSERELLE_DATABASE_URL is not the URL of a database known here; "
        "it looks like postgresql://USER:PASSWORD@HOST/NAME, or like sqlite:////FOLDER/FILE"
    )


def connect(url: URL, n_connections: int) -> Engine:
    """An engine; nothing is opened yet. Errors leave out a statement's parameters, which may be users' words.

    Raises:
        ConfigError: the driver for PostgreSQL is not installed.
    """
    options: dict[str, Any] = {
        "hide_parameters": True,
        "pool_timeout": BUSY_TIMEOUT_S,
        "poolclass": QueuePool,
    }
    if url.get_backend_name() == "postgresql":
        if find_spec("psycopg") is None:
            raise ConfigError("psycopg is not installed: run pip install 'passerelle[postgres]'")
        return create_engine(
            url,
            pool_size=n_connections,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 5, "application_name": "passerelle"},
            **options,
        )
    in_memory = url.database in (None, "", ":memory:")
    engine = create_engine(
        url,
        # A database in memory is one connection's own: that is the only one, and threads take turns.
        pool_size=1 if in_memory else n_connections,
        max_overflow=0,
        connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False},
        **options,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # the driver begins no transactions by itself: we do, below
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def utc_now() -> datetime:
    """This instant."""
    return datetime.now(UTC)


class Transactions:
    """Sessions that commit at the end of a ``with`` block, or roll back when it raises. Do not nest them.

    Args:
        engine: from ``connect``.
        now: the clock.
    """

    def __init__(self, engine: Engine, now: Callable[[], datetime] = utc_now) -> None:
        self.engine = engine
        self.now = now
        self._writer = engine.execution_options(writes=True)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite, else PostgreSQL."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session that may write; on SQLite one at a time."""
        with Session(self._writer, expire_on_commit=False) as session, session.begin():
            yield session

    def lock(self, session: Session, name: str) -> None:
        """Nobody else passes here with this name until the transaction ends. SQLite's writers are alone."""
        if not self.is_sqlite:
            session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name})

    def add_or_increase(self, model: type[Base], *amounts: str) -> Insert:
        """A statement that inserts a row, or adds these of its columns to the row that has its key already.

        Made once and executed with the row's values: building a statement takes longer than executing it.
        """
        table = model.__table__
        assert isinstance(table, Table)
        insert = sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)
        return insert.on_conflict_do_update(
            index_elements=list(table.primary_key.columns),
            set_={name: table.c[name] + insert.excluded[name] for name in amounts},
        )
