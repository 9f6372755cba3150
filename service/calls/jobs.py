"""Jobs: texts and files by the thousand, taken, worked on part by part in the background, and cancelled.

All there is of a job is in the database (``service.database.jobs``): any replica answers for it, and a server
that is started again goes on where the one before was killed. Its texts go to the model in small requests in
the background (``Job.background``), so that those of people pass before them.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, BinaryIO

import structlog
from fastapi import Depends, Request

from nmt.documents import read_document
from nmt.errors import InputError, PasserelleError
from nmt.options import TranslationOptions
from service.calls.auth import current_caller
from service.calls.charging import charged
from service.calls.document_jobs import PIECE_DEADLINE_S, translate_document, when_there_is_room
from service.calls.job_input import StoredLine, document_limits, lines_of, read_lines, read_zip
from service.calls.webhooks import WebhookSender
from service.database.database import DatabaseUnavailableError
from service.database.jobs import JobsFullError, TooManyJobsError
from service.database.records import JobKind, JobPart, JobRecord, JobState, Webhook
from service.http.logs import describe
from service.http.problems import ProblemError
from service.schemas import FlagOut, JobResultLine
from service.state import Service
from service.work.scheduler import Job, StoppingError
from service.work.source_language import check_source

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

log = structlog.get_logger()

STORE_BYTES, STORE_PARTS = 1_000_000, 200
"""Bytes and parts of an upload in one transaction: others write between."""
TURN_CHARACTERS = 32_000
"""Parts of one job; then it is another key's turn."""
PARTS_AT_ONCE = 2
"""Parts of one job at the model: while one is written the other is searched."""
POLL_S = 2.0
"""How often jobs are looked for that another replica took, or left."""
RETRY_S = 5.0
FULL = "There is no room for another job now; try again when older ones have expired."
TOO_MANY = "This key has {n} jobs, the limit of this server; delete some, or wait until they expire."
FAILED = "The server failed on this; its log has more."


class _LeaseLostError(Exception):
    """The job was cancelled, or somebody else works on it."""


class JobRunner:
    """Takes jobs, and works on those of all replicas whose turn it is.

    Args:
        service: what translates and keeps them.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._owner = secrets.token_hex(8)
        self._waiting = asyncio.Event()
        self._workers: list[asyncio.Task[None]] = []
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._webhooks = WebhookSender(service)

    def start(self) -> None:
        """Begin to work."""
        n_workers = self._service.settings.job_max_running
        self._workers = [asyncio.create_task(self._work()) for _ in range(n_workers)]
        self._webhooks.start()

    async def stop(self) -> None:
        """Leave what is not done to others, or to the next start."""
        for task in self._workers:
            task.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        await self._webhooks.stop()

    async def submit(
        self,
        request: Request,
        kind: JobKind,
        file: BinaryIO,
        options: TranslationOptions,
        declared: str,
        webhook: Webhook | None,
    ) -> JobRecord:
        """Take a job whole, or not at all: stored, its characters charged, and in the queue.

        Args:
            request: who asks, see ``charged``.
            kind: of the file.
            file: JSON lines, or a zip.
            options: how to translate; both languages are named.
            declared: the language of the texts as the request has it, or "auto".
            webhook: where to tell the end.

        Raises:
            InputError: there is nothing to translate in it.
            TextTooLongError: it is over a limit.
            ProblemError: 429, the caller's characters are used up, or it has too many jobs; 503, no room.
        """
        settings, database = self._service.settings, self._service.database
        jobs, key_id = database.jobs, current_caller(request).key_id
        stored = {"declared": declared, "options": options.model_dump(mode="json")}
        parts = read_zip(file, settings, *options.languages) if kind == "zip" else read_lines(file, settings)
        try:
            job = await database.run(jobs.create, key_id, kind, stored, webhook)
            try:
                n_characters = await self._store(job.id, parts)
                async with charged(request, self._service, n_characters) as charge:
                    job = await database.run(jobs.release, job.id, charge.day)
            except BaseException:
                await asyncio.shield(database.run(jobs.discard, job.id))
                raise
        except TooManyJobsError:
            detail = TOO_MANY.format(n=settings.job_max_count)
            raise ProblemError(429, "too-many-jobs", detail, {"Retry-After": "60"}) from None
        except JobsFullError:
            raise ProblemError(503, "jobs-full", FULL, {"Retry-After": "60"}) from None
        self._waiting.set()
        return job

    async def cancel(self, key_id: str, job_id: str) -> bool:
        """End a job, or delete one that has ended; False: this key has no such job."""
        database = self._service.database
        if not await database.run(database.jobs.cancel, key_id, job_id):
            return False
        if (turn := self._turns.get(job_id)) is not None:
            turn.cancel()
        self._webhooks.wake()
        return True

    async def _store(self, job_id: str, parts: Iterator[JobPart]) -> int:
        """Store an upload part by part; the characters of all."""
        database = self._service.database
        n_characters, errors, has_good = 0, list[tuple[str, str]](), False
        while batch := await asyncio.to_thread(_next_batch, parts):
            await database.run(database.jobs.add, job_id, batch)
            n_characters += sum(part.n_characters for part in batch)
            has_good = has_good or any(len(part.errors) < part.n_items for part in batch)
            errors += [error for part in batch for error in part.errors][: 3 - len(errors)]
        if not has_good:
            told = "; ".join(f"{where}: {message}" for where, message in errors)
            raise InputError(f"the job has nothing to translate{': ' if told else ''}{told}")
        return n_characters

    async def _work(self) -> None:
        """One job's turn after another, for ever."""
        database = self._service.database
        while True:
            self._waiting.clear()
            try:
                job = await database.run(database.jobs.claim, self._owner, self._service.settings.job_lease_s)
                if job is not None:
                    await self._turn(job)
                    continue
            except DatabaseUnavailableError as error:
                log.warning("jobs_not_reached", **describe(error.__cause__ or error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._waiting.wait(), POLL_S)

    async def _turn(self, job: JobRecord) -> None:
        """Translate some of a job while the lease is held, then give it back."""
        turn = self._turns[job.id] = asyncio.create_task(self._translate_some(job))
        holding = asyncio.create_task(self._hold(job.id, turn))
        jobs, run = self._service.database.jobs, self._service.database.run
        try:
            await asyncio.wait([turn])
        finally:  # this worker may be cancelled
            holding.cancel()
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            self._turns.pop(job.id, None)
            error = None if turn.cancelled() else turn.exception()
            with contextlib.suppress(DatabaseUnavailableError):  # then the lease runs out
                if error is None or isinstance(error, _LeaseLostError | StoppingError):
                    await asyncio.shield(run(jobs.give_up, job.id, self._owner))
                elif not isinstance(error, DatabaseUnavailableError):
                    log.error("job_failed", job=job.id, **describe(error))
                    await asyncio.shield(self._end(job, "error", _message(error)))
        if isinstance(error, DatabaseUnavailableError):
            await asyncio.sleep(RETRY_S)

    async def _hold(self, job_id: str, turn: asyncio.Task[None]) -> None:
        """Renew the lease; where it is lost the turn is over."""
        database, lease_s = self._service.database, self._service.settings.job_lease_s
        while True:
            await asyncio.sleep(lease_s / 3)
            with contextlib.suppress(DatabaseUnavailableError):
                if not await database.run(database.jobs.renew, job_id, self._owner, lease_s):
                    turn.cancel()
                    return

    async def _translate_some(self, job: JobRecord) -> None:
        """The next parts, two at a time; where there are none the job is done."""
        database = self._service.database
        options = TranslationOptions.model_validate(job.options["options"])
        self._service.directions.of(options)  # the server may have been started again without its model
        parts = await database.run(database.jobs.next_parts, job.id, TURN_CHARACTERS)
        if not parts:
            await self._end(job, "done")
            return
        left = iter(parts)

        async def one_after_another() -> None:
            for part in left:
                await self._do_part(job, options, part)

        tasks = [asyncio.create_task(one_after_another()) for _ in range(PARTS_AT_ONCE)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _do_part(self, job: JobRecord, options: TranslationOptions, part: JobPart) -> None:
        """Translate a part and write its result with what it counts, in one transaction.

        Raises:
            _LeaseLostError: nothing was written.
        """
        asked = Job((), options, key_id=job.key_id, deadline_s=PIECE_DEADLINE_S, background=True)
        errors: list[tuple[str, str]] = []
        result: bytes | None = None
        n_characters = part.n_characters
        if job.kind == "zip":
            try:
                result = await self._document(part, asked)
            except StoppingError:
                raise
            except Exception as error:
                log.warning("job_file_failed", job=job.id, **describe(error))
                errors, n_characters = [(part.name, _message(error))], 0
        else:
            lines = await asyncio.to_thread(lines_of, part)
            good = [line for line in lines if line.error is None]
            found = dict(
                zip(
                    (line.number for line in good),
                    await self._texts(asked, [line.text for line in good]),
                    strict=True,
                )
            )
            bad = [line for line in good if isinstance(found[line.number], Exception)]
            errors = [(str(line.number), _message(found[line.number])) for line in bad]
            n_characters -= sum(len(line.text) for line in bad)
            write = partial(_written, lines, found, job.options["declared"], options.languages[0])
            result = await asyncio.to_thread(write)
        database = self._service.database
        if not await database.run(
            database.jobs.finish_part, job.id, self._owner, part.number, result, n_characters, errors
        ):
            raise _LeaseLostError

    async def _document(self, part: JobPart, asked: Job) -> bytes:
        source, target = asked.options.languages
        document = await asyncio.to_thread(
            read_document,
            part.name,
            part.source or b"",
            source=source,
            target=target,
            limits=document_limits(self._service.settings),
        )
        options = asked.options.model_copy(update={"alignment": "links"})
        return await translate_document(self._service, document, replace(asked, options=options))

    async def _texts(self, asked: Job, texts: Sequence[str]) -> list[Translation | Exception]:
        """A translation for each, or why there is none; one that fails does not fail the others."""
        if not texts:
            return []
        try:
            return list(await when_there_is_room(replace(asked, texts=tuple(texts)), self._service))
        except StoppingError:
            raise
        except Exception as error:
            if len(texts) == 1:
                return [error]
        return [found for text in texts for found in await self._texts(asked, [text])]

    async def _end(self, job: JobRecord, state: JobState, message: str = "") -> None:
        database = self._service.database
        if await database.run(database.jobs.end, job.id, self._owner, state, message):
            self._service.metrics.jobs.labels(state).inc()
            self._webhooks.wake()


def _next_batch(parts: Iterator[JobPart]) -> list[JobPart]:
    """Parts left, as many as one transaction stores; none: there are none."""
    batch: list[JobPart] = []
    n_bytes = 0
    for part in parts:
        batch.append(part)
        n_bytes += len(part.source or b"")
        if n_bytes >= STORE_BYTES or len(batch) >= STORE_PARTS:
            break
    return batch


def _written(
    lines: Sequence[StoredLine], found: dict[int, Translation | Exception], declared: str, expected: str
) -> bytes:
    """JSON lines: one for each that was sent, in order."""
    written: list[bytes] = []
    for line in lines:
        translation = found.get(line.number)
        if translation is None or isinstance(translation, Exception):
            error = line.error if translation is None else _message(translation)
            out = JobResultLine(line=line.number, id=line.id, error=error)
        else:
            flag = check_source(line.text, declared, expected).flag
            flags = [FlagOut(kind=flag, sentence=None)] if flag else []
            flags += [FlagOut(kind=one.kind, sentence=one.sentence) for one in translation.flags]
            confidence = None if translation.confidence is None else round(translation.confidence, 4)
            out = JobResultLine(
                line=line.number, id=line.id, text=translation.text, flags=flags, confidence=confidence
            )
        written.append(out.model_dump_json(exclude_defaults=True).encode() + b"\n")
    return b"".join(written)


def _message(error: object) -> str:
    """For whoever sent it. Errors of our own tree hold no text, see ``nmt.errors``."""
    return str(error) if isinstance(error, PasserelleError) else FAILED


async def _jobs(request: Request) -> JobRunner:  # async: it waits for nothing, and needs no thread
    jobs = request.app.state.jobs
    assert isinstance(jobs, JobRunner)
    return jobs


JobsDependency = Annotated[JobRunner, Depends(_jobs)]
