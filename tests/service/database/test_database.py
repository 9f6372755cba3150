"""Opening a database: versions, folders, errors for people, and calls that never block the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from nmt.errors import ConfigError, DatabaseError
from service.database import migrate
from service.database.database import Database, DatabaseUnavailableError
from service.database.models import Base
from tests.service.database.conftest import Clock, open_database


def drop_everything(database: Database) -> None:
    with database.transactions.writing() as session:
        for table in [*Base.metadata.tables, "alembic_version"]:
            session.execute(text(f"DROP TABLE IF EXISTS {table}"))


def is_of_the_models(_: object, name: str | None, *__: object) -> bool:
    """The index of grams is each database's own, and no model describes it."""
    return name not in ("grams", "ix_memory_units_grams") and not str(name).startswith("memory_grams")


def test_the_steps_lead_to_the_tables_that_the_models_describe(database: Database) -> None:
    with database.engine.connect() as connection:
        options = {"compare_type": True, "include_object": is_of_the_models}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []
        assert context.get_current_revision() == migrate.newest()
    assert database.upgrade() == migrate.newest(), "again, with nothing to do"


def test_replicas_may_upgrade_at_once(url: str, tmp_path: Path) -> None:
    replicas = [open_database(url, tmp_path) for _ in range(4)]
    drop_everything(replicas[0])
    failures: list[Exception] = []

    def upgrade(replica: Database) -> None:
        try:
            replica.upgrade()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=upgrade, args=(replica,)) for replica in replicas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert migrate.current(replicas[0].transactions) == migrate.newest()
    for replica in replicas:
        replica.close()


def test_sqlite_is_upgraded_by_itself_and_postgresql_by_its_owner(url: str, tmp_path: Path) -> None:
    database = open_database(url, tmp_path)
    drop_everything(database)
    if database.transactions.is_sqlite:
        database.prepare()
    else:
        with pytest.raises(
            DatabaseError, match=r"at version none, this program needs \d+: run nmt db upgrade"
        ):
            database.prepare()
        database.upgrade()
        database.prepare()
    database.keys.create("team")
    database.close()


def test_a_database_of_a_newer_program_is_refused(database: Database) -> None:
    with database.transactions.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        with pytest.raises(DatabaseError, match="at version 9999"):
            database.prepare()
        with pytest.raises(DatabaseError, match="at version 9999, which this program does not know"):
            database.upgrade()
    finally:
        with database.transactions.writing() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :v"), {"v": migrate.newest()})


def test_what_cannot_be_opened_says_so_without_the_password(tmp_path: Path) -> None:
    closed = open_database(f"postgresql://u:hushhush@/d?host={tmp_path}", tmp_path)
    with pytest.raises(DatabaseError, match="cannot be used: connection") as refused:
        closed.prepare()
    assert "hushhush" not in str(refused.value) + repr(closed.engine.url)
    for url in ("mysql://u:hushhush@h/d", "hushhush"):
        with pytest.raises(ConfigError, match="PASSERELLE_DATABASE_URL is not") as wrong:
            open_database(url, tmp_path)
        assert "hushhush" not in str(wrong.value)
    (tmp_path / "broken.sqlite3").write_bytes(b"no database at all" * 100)
    with pytest.raises(DatabaseError, match="cannot be used: file is not a database"):
        open_database(f"sqlite:///{tmp_path / 'broken.sqlite3'}", tmp_path).prepare()
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"PASSERELLE_DATA_DIR: the folder .* cannot be made"):
        open_database("", tmp_path / "file" / "folder")


def test_the_embedded_database_is_a_file_in_the_data_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    first = open_database("", folder)
    first.prepare()
    _, shown = first.keys.create("team")
    first.close()

    second = open_database("", folder)
    second.prepare()
    assert second.keys.find(shown)
    with second.engine.connect() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    second.close()
    assert folder.stat().st_mode & 0o077 == 0


def test_a_database_in_memory_is_one_for_all_threads_and_gone_at_the_end(tmp_path: Path) -> None:
    async def use() -> list[int]:
        database = open_database("sqlite://", tmp_path)
        database.prepare()
        await asyncio.gather(*(database.run(database.usage.reserve, "k", n) for n in range(50)))
        days = await database.run(database.usage.this_month, "k")
        database.close()
        return [day.characters for day in days]

    assert asyncio.run(use()) == [sum(range(50))]
    assert list(tmp_path.iterdir()) == []


def test_the_event_loop_runs_on_while_the_database_works(database: Database) -> None:
    async def use() -> int:
        call = asyncio.create_task(database.run(time.sleep, 0.3))
        turns = 0
        while not call.done():
            await asyncio.sleep(0.01)
            turns += 1
        return turns

    assert asyncio.run(use()) > 5


def test_a_database_that_fails_is_an_error_without_what_was_asked(tmp_path: Path, clock: Clock) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'a.sqlite3'}", tmp_path, clock)
    database.prepare()
    drop_everything(database)

    with pytest.raises(DatabaseUnavailableError) as failed:
        asyncio.run(database.run(database.alignments.put, "xylophonequartz", {"a": b"xylophonequartz"}))

    assert "xylophonequartz" not in f"{failed.value} {failed.value.__cause__}"
    database.close()
