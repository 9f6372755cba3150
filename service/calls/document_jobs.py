"""Documents translated in the background: taken apart, sent to the model piece by piece, put together again.

What is known of a job is in the database (``service.database.documents``), so that any replica can answer for
it; how far it has come is known here only. A piece is small, so that texts of others pass between two pieces.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import structlog
from fastapi import Depends, Request

from nmt.documents import DocumentLimits, ExtractedDocument, read_document, target_name
from nmt.documents.translate import context_of
from nmt.errors import PasserelleError
from nmt.extraction import chunks, to_translate
from nmt.options import TranslationOptions
from service.calls.auth import current_caller
from service.calls.charging import charged
from service.calls.memory import with_matches
from service.database.database import DatabaseUnavailableError
from service.database.documents import DocumentsFullError
from service.http.logs import describe
from service.http.problems import ProblemError
from service.state import Service
from service.work.scheduler import Job, QueueFullError

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation
    from service.database.records import DocumentJob

log = structlog.get_logger()

PIECE_CHARACTERS = 4000
PIECE_DEADLINE_S = 3600.0  # nobody waits at the other end
TOUCH_EVERY_S = 20  # a job that is not touched for a while belongs to a server that has stopped
FULL = "There is no room for another document now; try again when older ones have expired."
FAILED = "The server failed on this document. The log has more under the id of the request that sent it."


@dataclass
class _Running:
    """A job in this process."""

    task: asyncio.Task[None]
    n_characters: int
    n_done: int = 0


class DocumentJobs:
    """The documents being translated by this process.

    Args:
        service: what translates and keeps them.
        max_running: how many are translated at once; others wait.
        limits: how large one may be.
    """

    def __init__(self, service: Service, max_running: int, limits: DocumentLimits) -> None:
        self._service = service
        self._limits = limits
        self._room = asyncio.Semaphore(max_running)
        self._running: dict[str, _Running] = {}

    async def submit(
        self,
        request: Request,
        name: str,
        data: bytes,
        options: TranslationOptions,
        memory: tuple[str, float] | None = None,
        columns: str | None = None,
    ) -> tuple[DocumentJob, str]:
        """Take a document, charge its characters, and begin; also gives the secret that opens it again.

        Args:
            request: who asks, see ``charged``.
            name: file name; its suffix is the format.
            data: the file.
            options: how to translate; that links are needed is seen to here.
            memory: id of a translation memory of the caller, and threshold.
            columns: of a csv, see ``read_document``.

        Raises:
            InputError: the format is unknown, or the file is not what it says.
            TextTooLongError: it is over a limit.
            ProblemError: 429, the caller's characters are used up; 503, there is no room for it.
        """
        document = await asyncio.to_thread(
            read_document,
            name,
            data,
            source=options.languages[0],
            target=options.languages[1],
            columns=columns,
            limits=self._limits,
        )
        n_characters = sum(len(extract.text) for extract in document.extracts)
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(charged(request, self._service, n_characters))
            database, key_id = self._service.database, current_caller(request).key_id
            try:
                job, secret = await database.run(database.documents.create, key_id, name, data, {})
            except DocumentsFullError:
                raise ProblemError(503, "documents-full", FULL, {"Retry-After": "60"}) from None
            options = options.model_copy(update={"alignment": "links"})
            # From here on the charge is the job's: given back if the job fails.
            run = self._run(job, document, options, stack.pop_all(), memory)
            self._running[job.id] = _Running(asyncio.create_task(run), max(1, n_characters))
        return job, secret

    async def texts_of(self, name: str, data: bytes, columns: str | None = None) -> list[str]:
        """Text of a document to translate, to tell its language; raises as ``submit``."""
        document = await asyncio.to_thread(read_document, name, data, columns=columns, limits=self._limits)
        return [extract.text for extract in document.extracts]

    def progress(self, job: DocumentJob) -> float | None:
        """Share of a job that is done, 0 to 1; None where another replica translates it."""
        if job.state == "done":
            return 1.0
        running = self._running.get(job.id)
        return None if running is None else running.n_done / running.n_characters

    async def wait(self, job_id: str, most_s: float) -> None:
        """Until a job of this process is done or has failed, or ``most_s`` seconds."""
        running = self._running.get(job_id)
        if running is not None:
            await asyncio.wait([running.task], timeout=most_s)

    async def forget(self, job_id: str) -> None:
        """Stop a job and delete all there is of it."""
        running = self._running.get(job_id)
        if running is not None:
            running.task.cancel()
            await asyncio.wait([running.task])
        database = self._service.database
        await database.run(database.documents.delete, job_id)

    async def stop(self) -> None:
        """Give up what is not done."""
        tasks = [running.task for running in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(
        self,
        job: DocumentJob,
        document: ExtractedDocument,
        options: TranslationOptions,
        charge: contextlib.AsyncExitStack,
        memory: tuple[str, float] | None,
    ) -> None:
        """Translate a document to its end; whatever happens, the database knows what became of it."""
        database, documents = self._service.database, self._service.database.documents
        touching = asyncio.create_task(_keep_touching(self._service, job.id))
        try:
            async with charge, self._room:
                if await database.run(documents.start, job.id) is None:
                    return
                result = await self._translate(job, document, options, memory)
                read, written = options.languages
                name = target_name(job.name, written, read)
                n_characters = sum(len(extract.text) for extract in document.extracts)
                notice = "; ".join(document.notices)
                await database.run(documents.finish, job.id, name, result, n_characters, notice)
        except asyncio.CancelledError:
            await asyncio.shield(
                database.run(documents.fail, job.id, "The server stopped while it translated this document.")
            )
            raise
        except Exception as error:
            message = _message(error)
            if message == FAILED:
                log.error("document_failed", **describe(error))  # noqa: TRY400 - a message may quote the text
            with contextlib.suppress(DatabaseUnavailableError):  # the job is given up when it is not touched
                await database.run(documents.fail, job.id, message)
        finally:
            touching.cancel()
            self._running.pop(job.id, None)

    async def _translate(
        self,
        job: DocumentJob,
        document: ExtractedDocument,
        options: TranslationOptions,
        memory: tuple[str, float] | None,
    ) -> bytes:
        def advance(n_characters: int) -> None:
            if (running := self._running.get(job.id)) is not None:
                running.n_done += n_characters

        asked = Job((), options, key_id=job.key_id, deadline_s=PIECE_DEADLINE_S, memory=memory)
        return await translate_document(self._service, document, asked, advance)


async def translate_document(
    service: Service,
    document: ExtractedDocument,
    asked: Job,
    advance: Callable[[int], None] = lambda _: None,
) -> bytes:
    """Translate a document piece by piece, and put it together.

    Args:
        service: what translates.
        document: taken apart.
        asked: how, and for whom; its texts are filled in here.
        advance: told the number of characters of each piece that is done.
    """
    translations: list[Translation] = []
    context = context_of(document, asked.options)
    asked = replace(asked, options=asked.options.model_copy(update={"context": context}))
    for piece in chunks(document.extracts, PIECE_CHARACTERS):
        texts, keep = to_translate(piece)
        kept = tuple(keep) if any(keep) else None
        work = await with_matches(service, asked.key_id, replace(asked, texts=tuple(texts), keep=kept))
        translations += await when_there_is_room(work, service)
        advance(sum(map(len, texts)))
    return await asyncio.to_thread(document.restore, translations)


async def when_there_is_room(job: Job, service: Service) -> list[Translation]:
    """Translate; a full queue is waited for, as nobody waits for the answer here."""
    while True:
        try:
            scheduler = service.directions.of(job.options).scheduler
            return await asyncio.wrap_future(scheduler.submit(job))
        except QueueFullError as error:
            await asyncio.sleep(error.retry_after_s)


async def _keep_touching(service: Service, job_id: str) -> None:
    while True:
        await asyncio.sleep(TOUCH_EVERY_S)
        with contextlib.suppress(DatabaseUnavailableError):  # next time
            await service.database.run(service.database.documents.touch, job_id)


def _message(error: Exception) -> str:
    """For whoever sent the document. Errors of our own tree hold no text, see ``nmt.errors``."""
    if isinstance(error, DocumentsFullError):
        return FULL
    return str(error) if isinstance(error, PasserelleError) else FAILED


async def _documents(request: Request) -> DocumentJobs:  # async: it waits for nothing, and needs no thread
    documents = request.app.state.documents
    assert isinstance(documents, DocumentJobs)
    return documents


DocumentsDependency = Annotated[DocumentJobs, Depends(_documents)]
