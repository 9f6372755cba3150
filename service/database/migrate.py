"""Versions of the tables, by Alembic. The steps ship with the package, in ``migrations/versions``.

SQLite is brought up to date whenever it is opened: its one user is this program. PostgreSQL has several
replicas and an owner, who runs ``nmt db upgrade``.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from nmt.errors import DatabaseError
from service.database.transactions import Transactions


def configuration() -> Config:
    """Alembic's configuration, without a file."""
    config = Config()
    config.set_main_option("script_location", "service.database:migrations")
    return config


def newest() -> str:
    """The version that this program needs."""
    head = ScriptDirectory.from_config(configuration()).get_current_head()
    assert head is not None
    return head


def current(transactions: Transactions) -> str | None:
    """The version of the database's tables; None: it has none yet.

    Raises:
        DatabaseError: the database cannot be opened.
    """
    try:
        with transactions.engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    except (SQLAlchemyError, OSError) as error:
        raise unusable(error) from None


def prepare(transactions: Transactions) -> None:
    """Bring SQLite to this version; on PostgreSQL, check that it is there.

    Raises:
        DatabaseError: the database cannot be opened, or is not at this version.
    """
    found = current(transactions)
    if found == newest():
        return
    if transactions.is_sqlite:
        upgrade(transactions)
    else:
        raise DatabaseError(
            f"the database is at version {found or 'none'}, this program needs {newest()}: run nmt db upgrade"
        )


def upgrade(transactions: Transactions) -> str:
    """Run the steps that are missing, all or none.

    Raises:
        DatabaseError: the database cannot be opened, or is newer than this program.
    """
    config = configuration()
    try:
        with transactions.writing() as session:
            transactions.lock(session, "migrations")
            config.attributes["connection"] = session.connection()
            command.upgrade(config, "head")
    except CommandError:
        raise DatabaseError(
            f"the database is at version {current(transactions)}, which this program does not know; "
            f"it is newer: upgrade the program"
        ) from None
    except (SQLAlchemyError, OSError) as error:
        raise unusable(error) from None
    return newest()


def unusable(error: Exception) -> DatabaseError:
    """An error for whoever starts the server, with the first line of what the driver says."""
    words = str(error.orig if isinstance(error, DBAPIError) and error.orig else error).strip().splitlines()
    reason = words[0] if words else type(error).__name__
    return DatabaseError(
        f"the database cannot be used: {reason}; check PASSERELLE_DATABASE_URL and PASSERELLE_DATA_DIR"
    )
