"""``/translation-memories``: made of files, searched, added to, exported, deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from nmt.errors import InputError
from nmt.memory.files import MEDIA_TYPES, MemoryFormat, format_of, write_units
from nmt.memory.segments import is_fit, primary
from nmt.memory.unit import TranslationUnit
from service.calls.auth import CallerDependency
from service.calls.limits import require_json
from service.calls.memory import MemoryFile, find_memory, import_memory, spooled
from service.database.records import Memory
from service.http.problems import documented
from service.routes.documents import require_file
from service.schemas import (
    MemoriesAnswer,
    MemoryAnswer,
    MemoryImportAnswer,
    MemoryMatchOut,
    MemorySearchAnswer,
    MemorySearchRequest,
    UnitsRequest,
)
from service.state import Service, ServiceDependency

router = APIRouter(prefix="/translation-memories", tags=["translation memories"])

UNITS_A_CHUNK = 500
_FILE = {"schema": {"type": "string", "format": "binary"}}

Id = Annotated[str, Path(max_length=36, description="Of a translation memory of this key.")]
Language = Annotated[
    str | None,
    Query(min_length=2, max_length=20, description="ISO 639-1 code; left out: the file tells (TMX, XLIFF)."),
]


@router.post(
    "",
    summary="Import a translation memory",
    status_code=201,
    responses=documented(400, 408, 413, 415, 422, 500),
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": _FILE}}},
    dependencies=[Depends(require_file)],
)
async def create(
    request: Request,
    response: Response,
    service: ServiceDependency,
    caller: CallerDependency,
    file: Annotated[
        str, Query(min_length=1, max_length=255, description="The file's name: .tmx, .tsv, .xliff or .xlf.")
    ],
    name: Annotated[
        str | None, Query(max_length=1024, description="Of the memory; left out: the file's name.")
    ] = None,
    source: Language = None,
    target: Language = None,
) -> MemoryImportAnswer:
    """The body is the file. The answer comes when all its units are there; 100,000 take some ten seconds.

    A memory has one direction. Of a file with more languages those two are taken, and other units counted.
    """
    kind = format_of(file)
    if (source is None) != (target is None):
        raise InputError("source and target go together: name both, or neither")
    languages = None if source is None or target is None else (primary(source), primary(target))
    async with spooled(request) as stream:
        memory, reading = await import_memory(
            service, caller.key_id, MemoryFile(stream, kind, name or file, languages)
        )
    response.headers["Cache-Control"] = "no-store"
    return MemoryImportAnswer(
        **_answer(memory).model_dump(),
        skipped_languages=reading.n_other_languages,
        skipped_unfit=reading.n_unfit,
    )


@router.get("", summary="The translation memories of this key", responses=documented(500))
async def all_of_a_caller(
    response: Response, service: ServiceDependency, caller: CallerDependency
) -> MemoriesAnswer:
    """Oldest first."""
    response.headers["Cache-Control"] = "no-store"
    found = await service.database.run(service.database.memories.all, caller.key_id)
    return MemoriesAnswer(memories=[_answer(memory) for memory in found])


@router.get("/{id}", summary="A translation memory", responses=documented(404, 422, 500))
async def one(
    id: Id,  # noqa: A002
    response: Response,
    service: ServiceDependency,
    caller: CallerDependency,
) -> MemoryAnswer:
    """Without its units."""
    response.headers["Cache-Control"] = "no-store"
    return _answer(await find_memory(service, caller, id))


@router.delete(
    "/{id}",
    summary="Delete a translation memory",
    status_code=204,
    response_class=Response,
    responses=documented(404, 422, 500),
)
async def delete(id: Id, service: ServiceDependency, caller: CallerDependency) -> Response:  # noqa: A002
    """No request sees it any more; of a large one the units are removed within the next minutes."""
    memory = await find_memory(service, caller, id)
    await service.database.run(service.database.memories.delete, memory)
    return Response(status_code=204)


@router.post(
    "/{id}/units",
    summary="Add units to a translation memory",
    responses=documented(400, 404, 408, 413, 415, 422, 500),
    dependencies=[Depends(require_json)],
)
async def add(
    id: Id,  # noqa: A002
    body: UnitsRequest,
    service: ServiceDependency,
    caller: CallerDependency,
) -> MemoryAnswer:
    """Units that a person has just translated, say. They are found from the next request on."""
    memory = await find_memory(service, caller, id)
    units = [TranslationUnit(unit.source.strip(), unit.target.strip()) for unit in body.units]
    for number, unit in enumerate(units):
        if not is_fit(unit.source) or not is_fit(unit.target):
            raise InputError(f"units: number {number} has a side that is blank, or that XML cannot hold")
    await service.database.run(service.database.memories.add, memory, units)
    return _answer(await find_memory(service, caller, id))


@router.post(
    "/{id}/search",
    summary="Search a translation memory",
    responses=documented(400, 404, 408, 413, 415, 422, 500),
    dependencies=[Depends(require_json)],
)
async def search(
    id: Id,  # noqa: A002
    body: MemorySearchRequest,
    response: Response,
    service: ServiceDependency,
    caller: CallerDependency,
) -> MemorySearchAnswer:
    """The units most like a text."""
    memory = await find_memory(service, caller, id)
    found = await service.database.run(
        service.database.memories.search, memory, body.text, body.threshold, body.limit
    )
    response.headers["Cache-Control"] = "no-store"
    return MemorySearchAnswer(
        matches=[MemoryMatchOut.model_validate(match, from_attributes=True) for match in found]
    )


@router.get(
    "/{id}/export",
    summary="Export a translation memory",
    response_class=Response,
    responses={
        200: {"description": "The file", "content": {"application/octet-stream": _FILE}},
        **documented(404, 422, 500),
    },
)
async def export(
    id: Id,  # noqa: A002
    service: ServiceDependency,
    caller: CallerDependency,
    format: Annotated[MemoryFormat, Query(description="Of the file.")] = "tmx",  # noqa: A002
) -> Response:
    """All its units, in the order in which they came."""
    return exported(service, await find_memory(service, caller, id), format)


def exported(service: Service, memory: Memory, kind: MemoryFormat) -> Response:
    """A memory as a file to be saved, a chunk of units at a time."""
    pieces = write_units(service.database.memories.units(memory), kind, memory.languages)

    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await service.database.run(_joined, pieces):
            yield chunk

    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(f'memory.{kind}', safe='')}",
        "Cache-Control": "no-store",
    }
    return StreamingResponse(chunks(), media_type=MEDIA_TYPES[kind], headers=headers)


def _joined(pieces: Iterator[bytes]) -> bytes:
    return b"".join(islice(pieces, UNITS_A_CHUNK))


def _answer(memory: Memory) -> MemoryAnswer:
    return MemoryAnswer(
        id=memory.id,
        name=memory.name,
        source=memory.languages[0],
        target=memory.languages[1],
        units=memory.n_units,
        created_at=memory.created_at,
        changed_at=memory.changed_at,
    )
