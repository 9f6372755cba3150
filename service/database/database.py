"""The database as the service sees it: repositories, and a way to call them that never blocks the event loop.

    glossary = await database.run(database.glossaries.get, caller.key_id, glossary_id)

Repositories are plain, blocking code, the same for the service, for ``nmt keys`` and for tests; ``run`` calls
them in threads of the database's own, so that neither a slow disk nor a busy server holds anything else up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ParamSpec, TypeVar

import platformdirs
from sqlalchemy import select
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from nmt.errors import ConfigError
from service.database.alignments import Alignments
from service.database.documents import Documents
from service.database.glossaries import Glossaries
from service.database.jobs import Jobs
from service.database.keys import Keys
from service.database.memories import Memories
from service.database.memory_jobs import MemoryJobs
from service.database.migrate import prepare, upgrade
from service.database.rates import Rates
from service.database.records import Reservation
from service.database.together import Together
from service.database.transactions import Transactions, connect, parse_url, utc_now
from service.database.usage import UsageCounts
from service.settings import Settings

_P = ParamSpec("_P")
_T = TypeVar("_T")

FILE = "passerelle.sqlite3"
ABANDONED_AFTER_S = 300
"""Seconds within which a worker on a document says so again, see ``Documents.touch``."""


class DatabaseUnavailableError(Exception):
    """The database does not answer, or refuses. Holds nothing of what was asked."""


class Database:
    """Keys, usage, rates, glossaries, memories, alignments, documents and jobs. Close it at the end.

    Args:
        settings: where it is, and its bounds.
        now: the clock.

    Raises:
        ConfigError: the URL or the folder cannot be used.
    """

    def __init__(self, settings: Settings, now: Callable[[], datetime] = utc_now) -> None:
        self.folder = settings.data_dir or Path(platformdirs.user_data_path("passerelle"))
        given = settings.database_url.get_secret_value()
        if not given:
            make_folder(self.folder)
        url = parse_url(given or f"sqlite:///{self.folder / FILE}")
        self.engine = connect(url, settings.database_threads)
        self.transactions = transactions = Transactions(self.engine, now)
        self.keys = Keys(transactions)
        self.usage = UsageCounts(transactions)
        self.rates = Rates(transactions)
        self.glossaries = Glossaries(transactions, settings.glossary_max_count, settings.glossary_max_entries)
        self.memories = Memories(transactions, settings.memory_max_count, settings.memory_max_units)
        self.memory_jobs = MemoryJobs(transactions)
        self.alignments = Alignments(
            transactions,
            settings.alignment_ttl_s,
            settings.alignment_max_entries,
            settings.alignment_max_bytes,
        )
        self.documents = Documents(
            transactions,
            self.folder / "documents",
            settings.document_ttl_s,
            settings.document_max_total_bytes,
        )
        self.jobs = Jobs(
            transactions, settings.job_ttl_s, settings.job_max_count, settings.job_max_total_bytes
        )
        self.reserve: Together[tuple[str, int], Reservation] = Together(
            lambda asked: self.run(self.usage.reserve_all, asked)
        )
        """``usage.reserve`` for the service, of which those that come together cost one transaction."""
        self._threads = ThreadPoolExecutor(settings.database_threads, thread_name_prefix="database")

    def prepare(self) -> None:
        """Make the tables that this version needs. On PostgreSQL only say so: ``nmt db upgrade`` makes them.

        Raises:
            DatabaseError: it cannot be opened, or its tables are of another version.
        """
        prepare(self.transactions)

    def upgrade(self) -> str:
        """Bring the tables to this version, and return its name.

        Raises:
            DatabaseError: it cannot be opened, or its tables are of a newer version.
        """
        return upgrade(self.transactions)

    async def run(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Call a repository's method in a thread of the database.

        Raises:
            DatabaseUnavailableError: the database does not answer; what the method raises itself passes
                through.
        """
        call = partial(function, *args, **kwargs)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        except (OperationalError, InterfaceError, NoConnectionError) as error:
            raise DatabaseUnavailableError(type(error).__name__) from error

    def check(self) -> None:
        """Ask for nothing, to see whether the database answers."""
        with self.transactions.reading() as session:
            session.execute(select(1))

    def sweep(self) -> None:
        """Delete everything that has expired, and give up documents that nobody works on any more."""
        self.rates.sweep()
        self.alignments.sweep()
        self.documents.sweep()
        self.jobs.sweep()
        self.memory_jobs.sweep()
        self.memories.sweep()
        self.documents.abandon(
            ABANDONED_AFTER_S, "The server stopped while it translated this document; send it again."
        )

    def close(self) -> None:
        """Wait for calls that run, and close the connections."""
        self._threads.shutdown()
        self.engine.dispose()


def make_folder(folder: Path) -> None:
    """Make the data folder, for this user only.

    Raises:
        ConfigError: it cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"PASSERELLE_DATA_DIR: the folder {folder} cannot be made ({error.strerror}); name another one"
        ) from None
