"""Translation memories in calls: found for their key, filled from files, asked for texts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

from fastapi import Request

from nmt.errors import InputError
from nmt.memory.files import MemoryFormat, read_units
from nmt.memory.segments import Reading
from nmt.memory.unit import DEFAULT_THRESHOLD, TranslationUnit, check_threshold
from service.calls.auth import Caller
from service.database.memories import UNITS_AT_ONCE
from service.database.records import Memory
from service.http.problems import ProblemError
from service.state import Service
from service.work.directions import Direction
from service.work.scheduler import Job

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_IN_MEMORY_BYTES = 1_000_000


async def find_memory(service: Service, caller: Caller, memory_id: str) -> Memory:
    """The caller's memory. Raises ``ProblemError`` 404."""
    found = None
    if _ID.fullmatch(memory_id):
        found = await service.database.run(service.database.memories.get, caller.key_id, memory_id)
    if found is None:
        raise ProblemError(404, "no-such-memory", "This key has no translation memory under this id.")
    return found


async def memory_wish(
    service: Service,
    caller: Caller,
    direction: Direction,
    memory_id: str | None,
    threshold: float | None,
    field: str = "threshold",
) -> tuple[str, float] | None:
    """Field of a job for the memory that its texts are looked up in.

    Args:
        service: what translates.
        caller: whose memory it is.
        direction: in which is translated.
        memory_id: None: no memory is asked for.
        threshold: the least score of a fuzzy match; None: the default.
        field: what the request calls the threshold.

    Raises:
        InputError: the memory is of another direction, or the threshold is out of range or without a memory.
        ProblemError: 404, there is no such memory.
    """
    if memory_id is None:
        if threshold is not None:
            raise InputError(f"{field} is of a translation memory: name one, or leave it out")
        return None
    memory = await find_memory(service, caller, memory_id)
    if memory.languages != (direction.source, direction.target):
        raise InputError(
            f"the translation memory is from {memory.languages[0]} to {memory.languages[1]}, and this "
            f"request translates from {direction.source} to {direction.target}: name another, or none"
        )
    return memory_id, check_threshold(field, DEFAULT_THRESHOLD if threshold is None else threshold)


async def with_matches(service: Service, key_id: str, job: Job) -> Job:
    """A job with what its memory has for its texts; as it is where it names none, or one that is gone."""
    if job.memory is None:
        return job
    memory_id, threshold = job.memory
    memories = service.database.memories
    memory = await service.database.run(memories.get, key_id, memory_id)
    if memory is None:
        return job
    matches = await service.database.run(
        memories.recall, memory, job.texts, threshold, split_sentences=job.options.split_sentences
    )
    return replace(job, options=job.options.model_copy(update={"memory": matches}))


@asynccontextmanager
async def spooled(request: Request) -> AsyncIterator[BinaryIO]:
    """The body of a request, on disk where it is large."""
    with SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as file:
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        yield cast(BinaryIO, file)


@dataclass(frozen=True)
class MemoryFile:
    """A file to import, and what is known of it."""

    stream: BinaryIO
    kind: MemoryFormat
    name: str
    """Name of the memory to be."""
    languages: tuple[str, str] | None = None
    """None: the file tells."""


async def import_memory(service: Service, key_id: str, file: MemoryFile) -> tuple[Memory, Reading]:
    """Make a memory of a file, a batch of units at a time; it is seen when all are there.

    Raises:
        InputError: the file is not what it says, has no unit in these languages, or has more than the key may
            have. Nothing of it stays.
    """
    database, memories = service.database, service.database.memories
    reading = Reading(file.languages)
    units = read_units(file.stream, file.kind, reading)
    first = await database.run(_batch, units)
    assert reading.languages is not None, "the first unit has told them"
    memory = await database.run(memories.create, key_id, file.name, reading.languages)
    try:
        batch = first
        while batch:
            await database.run(memories.add, memory, batch)
            batch = await database.run(_batch, units)
        return await database.run(memories.finish, memory), reading
    except BaseException:
        await database.run(memories.delete, memory)
        raise


def _batch(units: Iterator[TranslationUnit]) -> list[TranslationUnit]:
    return list(islice(units, UNITS_AT_ONCE))
