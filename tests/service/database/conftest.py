"""The same tests on both databases. PostgreSQL is started once; where there is none its half is skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from service.database.database import Database
from service.database.models import Base
from service.settings import Settings
from testbed.postgres import binaries, running_postgres


class Clock:
    """Stands still until told otherwise."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A server's URL. With REQUIRE_POSTGRES set, its absence is a failure."""
    found = binaries()
    if found is None:
        reason = "PostgreSQL is not installed: apt-get install postgresql"
        if os.environ.get("REQUIRE_POSTGRES"):
            pytest.fail(reason)
        pytest.skip(reason)
    with running_postgres(found) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of a database that a test has to itself."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'test.sqlite3'}"
    address: str = request.getfixturevalue("postgres")
    return address


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(url: str, tmp_path: Path, clock: Clock) -> Iterator[Database]:
    """With tables, empty."""
    opened = open_database(url, tmp_path, clock)
    opened.upgrade()
    yield opened
    empty(opened)
    opened.close()


def open_database(url: str, folder: Path, clock: Clock | None = None, **settings: Any) -> Database:
    chosen = Settings(database_url=url, data_dir=folder, **settings)
    return Database(chosen, clock) if clock else Database(chosen)


def empty(database: Database) -> None:
    """PostgreSQL's tables are used again by the next test."""
    with database.transactions.writing() as session:
        for table in Base.metadata.sorted_tables:
            session.execute(text(f"DELETE FROM {table.name}"))
