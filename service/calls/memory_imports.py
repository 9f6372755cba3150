"""Imports of translation memories that go on when the request that brought the file has been answered."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated

import structlog
from fastapi import Depends, Request

from nmt.errors import PasserelleError
from service.calls.memory import MemoryFile, import_memory
from service.database.database import DatabaseUnavailableError
from service.database.records import MemoryJob
from service.http.logs import describe
from service.state import Service

log = structlog.get_logger()

FAILED = "The server failed on this file. Its log has more."
STOPPED = "The server stopped during this import; send it again."


class MemoryImports:
    """The imports that this process is at; one at a time, others wait."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, job: MemoryJob, file: MemoryFile) -> None:
        """Begin; the file is closed at the end, and the job knows what became of it."""
        task = asyncio.create_task(self._run(job, file))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Give up what is not done."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, job: MemoryJob, file: MemoryFile) -> None:
        try:
            async with self._turn:
                memory, reading = await import_memory(self._service, job.key_id, file)
            end, skipped = self._service.database.memory_jobs.end, reading.n_skipped
            await self._service.database.run(end, job.id, "completed", memory_id=memory.id, n_skipped=skipped)
        except asyncio.CancelledError:
            await asyncio.shield(self._fail(job, STOPPED))
            raise
        except Exception as error:
            is_ours = isinstance(error, PasserelleError)
            if not is_ours:
                log.error("memory_import_failed", **describe(error))  # noqa: TRY400 - a message may quote text
            await self._fail(job, str(error) if is_ours else FAILED)
        finally:
            file.stream.close()

    async def _fail(self, job: MemoryJob, message: str) -> None:
        with contextlib.suppress(DatabaseUnavailableError):  # the sweep gives it up
            end = self._service.database.memory_jobs.end
            await self._service.database.run(end, job.id, "failed", message=message)


async def _imports(request: Request) -> MemoryImports:  # async: it waits for nothing, and needs no thread
    imports = request.app.state.memory_imports
    assert isinstance(imports, MemoryImports)
    return imports


ImportsDependency = Annotated[MemoryImports, Depends(_imports)]
