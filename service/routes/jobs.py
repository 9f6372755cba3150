"""``/jobs``: texts and files by the thousand, translated in the background."""

from __future__ import annotations

import asyncio
import io
import tempfile
import zipfile
from collections.abc import AsyncIterator
from typing import Annotated, Any, BinaryIO, Literal, cast

from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from nmt.errors import InputError
from nmt.options import TranslationOptions
from nmt.text.glossary import Glossary, Term
from service.calls.auth import CallerDependency
from service.calls.job_input import sample
from service.calls.jobs import JobsDependency
from service.calls.limits import options
from service.calls.webhooks import resolve, webhook_of
from service.database.records import JobKind, JobRecord, Webhook
from service.http.problems import ProblemError, documented
from service.schemas import (
    JobAnswer,
    JobErrorOut,
    JobOut,
    JobResultLine,
    JobsAnswer,
    TranslateRequest,
)
from service.state import Service, ServiceDependency
from service.work.source_language import AUTO

router = APIRouter(prefix="/jobs", tags=["jobs"])

KINDS: dict[str, JobKind] = {
    "application/x-ndjson": "lines",
    "application/jsonl": "lines",
    "application/zip": "zip",
}
LINES, ZIP = "application/x-ndjson", "application/zip"
MOST_ERRORS = 100
IN_MEMORY_BYTES = 1_000_000
"""Bytes of an upload or a result; a larger one waits in a file, or is read piece by piece."""
_FILE = {"schema": {"type": "string", "format": "binary"}}
_EXAMPLE = '{"id": "a1", "text": "Good morning."}\n"Where is the train station?"\n'
_RESULT = JobResultLine(line=1, id="a1", text="Bonjour.", flags=[], confidence=0.83)

Id = Annotated[str, Path(max_length=64, description="From the answer to the upload, or of `GET /jobs`.")]


@router.post(
    "",
    summary="Translate many texts or files",
    status_code=202,
    responses=documented(400, 408, 413, 415, 422, 500),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                **{kind: {"schema": {"type": "string"}, "example": _EXAMPLE} for kind in list(KINDS)[:2]},
                ZIP: _FILE,
            },
        }
    },
)
async def create(
    request: Request,
    response: Response,
    service: ServiceDependency,
    jobs: JobsDependency,
    caller: CallerDependency,
    source: Annotated[
        str, Query(min_length=2, max_length=20, description="As of `/translate`: a code, or auto.")
    ] = AUTO,
    target: Annotated[
        str | None, Query(min_length=2, max_length=20, description="As of `/translate`.")
    ] = None,
    formality: Annotated[
        Literal["default", "formal", "informal"], Query(description="As of `/translate`.")
    ] = "default",
    quality: Annotated[
        Literal["fast", "balanced", "best"], Query(description="As of `/translate`.")
    ] = "balanced",
    french_typography: Annotated[bool, Query(description="As of `/translate`.")] = False,
    glossary_id: Annotated[
        str | None, Query(max_length=64, description="A glossary of this key, made at `/v2/glossaries`.")
    ] = None,
    webhook: Annotated[
        str | None, Query(max_length=2000, description="An http or https URL that is told of the end.")
    ] = None,
    webhook_secret: Annotated[
        str, Header(max_length=200, description="Signs the webhook; PASSERELLE_WEBHOOK_SECRET else.")
    ] = "",
) -> JobAnswer:
    """The body is JSON lines, each a string or an object with `text` and perhaps `id`; or a zip of documents.

    The answer comes at once, with 202. All lines go one way, told by the first of them where `source` and
    `target` leave it open. A line or file that cannot be translated is an error of its own. Characters are
    counted now, and those that are not translated in the end are taken off again.
    """
    kind = _kind(request)
    asked = await _webhook(service, webhook, webhook_secret)
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as spooled:
        async for chunk in request.stream():
            spooled.write(chunk)
        spooled.seek(0)
        file = cast("BinaryIO", spooled)
        found = service.directions.fitting(source, target)
        texts = []
        if len(found) > 1:
            texts = await asyncio.to_thread(sample, file, service.settings, is_zip=kind == "zip")
        direction = await service.directions.choose(source, target, texts)
        wishes = TranslateRequest(
            text="", formality=formality, french_typography=french_typography, quality=quality
        )
        chosen = options(wishes, direction, service.settings, confidence=kind != "zip")
        if glossary_id is not None:
            terms = await _glossary(service, caller.key_id, glossary_id, chosen)
            chosen = chosen.model_copy(update={"glossary": terms})
        job = await jobs.submit(request, kind, file, chosen, source, asked)
    response.headers["Cache-Control"] = "no-store"
    return await _answer(job, service)


@router.get("", summary="Your jobs", responses=documented(422, 500))
async def list_jobs(
    response: Response,
    service: ServiceDependency,
    caller: CallerDependency,
    limit: Annotated[int, Query(ge=1, le=100, description="Most jobs in the answer.")] = 50,
    after: Annotated[
        str | None, Query(max_length=20, pattern="^[0-9]+$", description="`next` of the page before.")
    ] = None,
) -> JobsAnswer:
    """Newest first, `limit` at a time. Without keys, those of everybody."""
    before = None if after is None else min(int(after), 2**62)
    found = await service.database.run(service.database.jobs.page, caller.key_id, limit + 1, before)
    response.headers["Cache-Control"] = "no-store"
    page = found[:limit]
    return JobsAnswer(
        jobs=[JobOut(**_shown(job)) for job in page],
        next=str(page[-1].number) if len(found) > limit else None,
    )


@router.get("/{id}", summary="How far a job is", responses=documented(404, 422, 500))
async def status(
    id: Id,  # noqa: A002
    response: Response,
    service: ServiceDependency,
    caller: CallerDependency,
) -> JobAnswer:
    """`queued`, `running`, `done`, `cancelled` or `error`; `errors` names lines and files."""
    response.headers["Cache-Control"] = "no-store"
    return await _answer(await _job(id, service, caller.key_id), service)


@router.get(
    "/{id}/result",
    summary="The translations of a job",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "JSON lines, one for each that was sent, in order; or a zip of the same files",
            "content": {
                LINES: {
                    "schema": {"$ref": "#/components/schemas/JobResultLine"},
                    "example": _RESULT.model_dump_json(exclude_defaults=True) + "\n",
                },
                ZIP: _FILE,
            },
        },
        **documented(404, 409, 422, 500),
    },
)
async def result(id: Id, service: ServiceDependency, caller: CallerDependency) -> Response:  # noqa: A002
    """A cancelled job gives what was translated. In a zip `errors.jsonl` tells of files that are missing."""
    job = await _job(id, service, caller.key_id)
    if not job.has_ended:
        raise ProblemError(409, "job-not-done", "The job has not ended; ask for its status.")
    is_zip = job.kind == "zip"
    written = _zipped(job, service) if is_zip else _lines(job, service)
    name = f"{job.id}.{'zip' if is_zip else 'jsonl'}"
    return StreamingResponse(
        written,
        media_type=ZIP if is_zip else LINES,
        headers={"Cache-Control": "no-store", "Content-Disposition": f"attachment; filename={name}"},
    )


@router.delete(
    "/{id}",
    summary="Cancel or delete a job",
    status_code=204,
    response_class=Response,
    responses=documented(404, 422, 500),
)
async def delete(
    id: Id,  # noqa: A002
    jobs: JobsDependency,
    caller: CallerDependency,
) -> Response:
    """One that runs is cancelled: what was translated can be fetched. One that has ended is deleted."""
    if not await jobs.cancel(caller.key_id, id):
        raise _no_such_job()
    return Response(status_code=204)


def _kind(request: Request) -> JobKind:
    """Form of the body as it says (else 415). It also keeps other sites' forms out."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in KINDS:
        raise ProblemError(
            415,
            "unsupported-job",
            f"Send JSON lines with the header 'Content-Type: {LINES}', or a zip of documents as '{ZIP}'.",
        )
    return KINDS[media_type]


async def _webhook(service: Service, url: str | None, secret: str) -> Webhook | None:
    """Raises ``InputError`` for one that cannot be signed, or leads where it must not."""
    if url is None:
        return None
    settings = service.settings
    webhook = webhook_of(url, secret or settings.webhook_secret.get_secret_value())
    await resolve(url, settings.webhook_networks)
    return webhook


async def _glossary(service: Service, key_id: str, glossary_id: str, chosen: TranslationOptions) -> Glossary:
    entries = await service.database.run(
        service.database.glossaries.entries, key_id, glossary_id, chosen.languages
    )
    if not entries:
        raise InputError("glossary_id: this key has no such glossary in this direction")
    return Glossary.of(Term(source, target) for source, target in entries)


async def _job(id: str, service: Service, key_id: str) -> JobRecord:  # noqa: A002
    job = await service.database.run(service.database.jobs.get, key_id, id)
    if job is None:
        raise _no_such_job()
    return job


def _no_such_job() -> ProblemError:
    return ProblemError(
        404, "no-such-job", "There is no job under this id: it has expired, or was never there."
    )


async def _answer(job: JobRecord, service: Service) -> JobAnswer:
    errors = []
    if job.n_failed:
        errors = await service.database.run(service.database.jobs.errors, job.id, MOST_ERRORS)
    return JobAnswer(**_shown(job), errors=[_error(job, *error) for error in errors])


def _error(job: JobRecord, where: str, message: str) -> JobErrorOut:
    if job.kind == "zip":
        return JobErrorOut(file=where, error=message)
    return JobErrorOut(line=int(where), error=message)


def _shown(job: JobRecord) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.state,
        "progress": round(job.n_done / job.n_items, 4) if job.n_items else 0.0,
        "items": job.n_items,
        "done": job.n_done,
        "failed": job.n_failed,
        "characters": job.n_characters,
        "source": job.options["options"]["source"],
        "target": job.options["options"]["target"],
        "detail": job.message or None,
        "webhook": job.webhook_state,
        "created_at": job.created_at,
        "ended_at": job.ended_at,
        "expires_at": job.expires_at,
    }


async def _lines(job: JobRecord, service: Service) -> AsyncIterator[bytes]:
    """The results as they are stored, some at a time."""
    last = -1
    while parts := await service.database.run(service.database.jobs.results, job.id, last, IN_MEMORY_BYTES):
        yield b"".join(part.source or b"" for part in parts)
        last = parts[-1].number


async def _zipped(job: JobRecord, service: Service) -> AsyncIterator[bytes]:
    """A zip, a file at a time, under the names that they came with."""
    sink = _Sink()
    archive = zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED)
    last = -1
    while parts := await service.database.run(service.database.jobs.results, job.id, last, IN_MEMORY_BYTES):
        for part in parts:
            await asyncio.to_thread(archive.writestr, part.name, part.source or b"")
            yield sink.taken()
        last = parts[-1].number
    if job.n_failed:
        errors = await service.database.run(service.database.jobs.errors, job.id, job.n_items)
        told = [_error(job, *error).model_dump_json(exclude_none=True) + "\n" for error in errors]
        archive.writestr("errors.jsonl", "".join(told))
    archive.close()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """Takes what a zip writes, which cannot be sought in; hands it on."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - whatever has a buffer
        self._written += data
        return len(data)

    def taken(self) -> bytes:
        """All since this was asked last."""
        written = bytes(self._written)
        self._written.clear()
        return written
