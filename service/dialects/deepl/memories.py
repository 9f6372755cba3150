"""``/v3/translation_memories``: listed, read a page at a time, imported and exported by way of jobs, deleted.

A file is sent to and fetched from addresses that a job gives out, without a key: a secret in them opens them,
as DeepL's client sends no key there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import Annotated, Any, BinaryIO, Literal, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from nmt.errors import TextTooLongError
from nmt.memory.files import MemoryFormat, format_of
from nmt.memory.unit import TranslationUnit
from service.calls.auth import MEMORY_DOWNLOAD, MEMORY_UPLOAD, CallerDependency
from service.calls.memory import MemoryFile, find_memory
from service.calls.memory_imports import ImportsDependency
from service.database.memory_jobs import TTL_S
from service.database.records import Memory, MemoryJob
from service.dialects.fields import parse, read_fields
from service.http.problems import ProblemError
from service.routes.memories import exported
from service.schemas import Text
from service.state import ServiceDependency

router = APIRouter(prefix="/v3/translation_memories")
public = APIRouter(include_in_schema=False)
"""Addresses that jobs give out."""

MOST_A_PAGE, MOST_SEGMENTS_A_PAGE = 25, 100
READ_A_PAGE, PAGES_A_FILTER = 1000, 50
"""Units that are read for a filter before the answer goes out with a cursor to go on from."""

Secret = Annotated[str, Query(max_length=100)]


class SourceFile(BaseModel):
    """The file that is to come."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file_name: Text = Field(min_length=1, max_length=255)
    content_length: int = Field(ge=1)
    content_type: str = "application/xml"


class ImportParameters(BaseModel):
    """Name of the memory to be."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    display_name: Text | None = Field(None, min_length=1, max_length=1024)


class ImportFields(BaseModel):
    """Fields of an import."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source_file: SourceFile
    parameters: ImportParameters = ImportParameters(display_name=None)


@router.get("")
async def all_of_a_caller(
    service: ServiceDependency,
    caller: CallerDependency,
    page: Annotated[int, Query(ge=0)] = 0,
    page_size: Annotated[int, Query(ge=1, le=MOST_A_PAGE)] = 10,
) -> dict[str, Any]:
    """The caller's, oldest first."""
    found = await service.database.run(service.database.memories.all, caller.key_id)
    shown = found[page * page_size : (page + 1) * page_size]
    return {"translation_memories": [_answer(memory) for memory in shown], "total_count": len(found)}


@router.post("/import", status_code=201)
async def create_import(
    request: Request, service: ServiceDependency, caller: CallerDependency
) -> dict[str, Any]:
    """Where to send the file."""
    fields = parse(ImportFields, await read_fields(request))
    limit = service.settings.memory_max_bytes
    if fields.source_file.content_length > limit:
        raise TextTooLongError(
            f"source_file.content_length: {fields.source_file.content_length} bytes are over this server's "
            f"limit of {limit}; split the file"
        )
    kind = format_of(fields.source_file.file_name)
    name = fields.parameters.display_name or fields.source_file.file_name
    job = await service.database.run(service.database.memory_jobs.create, caller.key_id, "import", name)
    return {
        "job_id": job.id,
        "upload_url": f"{_address(request, MEMORY_UPLOAD, job)}&file={kind}",
        "expires_at": _time(job.expires_at),
    }


@router.get("/jobs/{job_id}")
async def job_status(
    job_id: str, request: Request, service: ServiceDependency, caller: CallerDependency
) -> dict[str, Any]:
    """State of an import or export."""
    job = None
    if len(job_id) <= 36:
        job = await service.database.run(service.database.memory_jobs.get, job_id, caller.key_id)
    if job is None:
        raise _no_such_job()
    return _job_answer(job, request)


@router.get("/{memory_id}")
async def one(memory_id: str, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """A memory without its segments."""
    return _answer(await find_memory(service, caller, memory_id))


@router.delete("/{memory_id}", status_code=204, response_class=Response)
async def delete(memory_id: str, service: ServiceDependency, caller: CallerDependency) -> Response:
    """No request sees it any more."""
    memory = await find_memory(service, caller, memory_id)
    await service.database.run(service.database.memories.delete, memory)
    return Response(status_code=204)


@router.get("/{memory_id}/segments")
async def segments(
    memory_id: str,
    service: ServiceDependency,
    caller: CallerDependency,
    page_size: Annotated[int, Query(ge=1, le=MOST_SEGMENTS_A_PAGE)] = 50,
    page_cursor: Annotated[str | None, Query(max_length=20, pattern=r"^\d{1,18}$")] = None,
    filter_text: Annotated[str | None, Query(min_length=2, max_length=1000)] = None,
    filter_case_sensitive: bool = False,
) -> dict[str, Any]:
    """Its units in the order in which they came; with a filter those that have it on either side."""
    memory = await find_memory(service, caller, memory_id)
    wanted = filter_text if filter_text is None or filter_case_sensitive else filter_text.casefold()

    def is_wanted(unit: TranslationUnit) -> bool:
        texts = (unit.source, unit.target)
        return wanted is None or any(
            wanted in (text if filter_case_sensitive else text.casefold()) for text in texts
        )

    after = int(page_cursor or 0)
    found: list[TranslationUnit] = []
    has_more = True
    for _ in range(PAGES_A_FILTER):
        page = await service.database.run(service.database.memories.page, memory, after, READ_A_PAGE)
        for unit in page:
            if len(found) == page_size:
                break
            after = unit.id
            if is_wanted(unit):
                found.append(unit)
        has_more = len(page) == READ_A_PAGE or (bool(page) and after < page[-1].id)
        if len(found) == page_size or not has_more:
            break
    answer: dict[str, Any] = {
        "segments": [_segment(unit, memory) for unit in found],
        "segment_count": memory.n_units,
    }
    return answer | ({"next_page_cursor": str(after)} if has_more else {})


@router.post("/{memory_id}/export", status_code=202)
async def create_export(
    memory_id: str, service: ServiceDependency, caller: CallerDependency
) -> dict[str, Any]:
    """A job that gives out where to fetch the file."""
    memory = await find_memory(service, caller, memory_id)
    create = service.database.memory_jobs.create
    job = await service.database.run(create, caller.key_id, "export", memory.name, memory.id)
    return {"job_id": job.id, "parameters": {"translation_memory_id": memory.id}}


def _opened(operation: Literal["import", "export"]) -> Callable[..., Awaitable[MemoryJob]]:
    """A check before a route, and before a byte of its body: the secret opens a job of this kind."""

    async def check(service: ServiceDependency, job: Secret = "", secret: Secret = "") -> MemoryJob:
        found = await service.database.run(service.database.memory_jobs.open, job, secret, operation)
        if found is None:
            raise ProblemError(
                403, "closed-address", "No job has given out this address, or it has expired; make another."
            )
        return found

    return check


@public.put(MEMORY_UPLOAD)
async def upload(
    request: Request,
    service: ServiceDependency,
    imports: ImportsDependency,
    job: Annotated[MemoryJob, Depends(_opened("import"))],
    file: MemoryFormat = "tmx",
) -> dict[str, str]:
    """Take the file; its import goes on in the background."""
    stream = cast(BinaryIO, TemporaryFile())  # noqa: SIM115 - the import closes it
    try:
        async for chunk in request.stream():
            stream.write(chunk)
        stream.seek(0)
        if not await service.database.run(service.database.memory_jobs.start, job.id):
            raise ProblemError(409, "import-begun", "This job has got its file already; make another one.")
    except BaseException:
        stream.close()
        raise
    imports.start(job, MemoryFile(stream, file, job.name))
    return {}


@public.get(MEMORY_DOWNLOAD)
async def download(
    service: ServiceDependency, job: Annotated[MemoryJob, Depends(_opened("export"))]
) -> Response:
    """The file of an export."""
    memory = await service.database.run(service.database.memories.get, job.key_id, job.memory_id)
    if memory is None:
        raise _no_such_job()
    return exported(service, memory, "tmx")


def _no_such_job() -> ProblemError:
    return ProblemError(
        404,
        "no-such-job",
        f"There is no such job, or what it was of is gone; one is kept for {TTL_S // 60} minutes.",
    )


def _address(request: Request, path: str, job: MemoryJob) -> str:
    base = str(request.base_url).rstrip("/")
    return f"{base}{path}?job={job.id}&secret={job.secret}"


def _answer(memory: Memory) -> dict[str, Any]:
    return {
        "translation_memory_id": memory.id,
        "name": memory.name,
        "source_language": memory.languages[0],
        "target_languages": [memory.languages[1]],
        "segment_count": memory.n_units,
        "creation_time": _time(memory.created_at),
        "updated_time": _time(memory.changed_at),
    }


def _segment(unit: TranslationUnit, memory: Memory) -> dict[str, Any]:
    target = {
        "target_segment_id": str(unit.id),
        "target_language": memory.languages[1],
        "target_text": unit.target,
    }
    return {"source_segment_id": str(unit.id), "source_text": unit.source, "targets": [target]}


def _job_answer(job: MemoryJob, request: Request) -> dict[str, Any]:
    result: dict[str, Any] = {"status": job.state}
    parameters = {"display_name": job.name}
    if job.operation == "export":
        parameters = {"translation_memory_id": job.memory_id}
        result |= {
            "download_url": _address(request, MEMORY_DOWNLOAD, job),
            "expires_at": _time(job.expires_at),
        }
    elif job.state == "awaiting_input":
        result["status_metadata"] = {"required_action": "Send the file to upload_url."}
    elif job.state == "completed":
        result |= {"translation_memory_id": job.memory_id, "skipped_segment_count": job.n_skipped}
    elif job.state == "failed":
        result["error"] = {"message": job.message}
    return {
        "job_id": job.id,
        "product": "translation_memory",
        "operation": job.operation,
        "parameters": parameters,
        "results": [result],
        "creation_time": _time(job.created_at),
        "updated_time": _time(job.changed_at),
    }


def _time(time: datetime) -> str:
    """As DeepL writes times, and its client reads them."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
