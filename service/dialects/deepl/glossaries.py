"""``/v2/glossaries``: made whole, listed, read and deleted."""

from __future__ import annotations

import asyncio
import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from nmt.errors import InputError
from nmt.text import glossary as terms
from service.calls.auth import Caller, CallerDependency
from service.database.records import Glossary
from service.dialects.deepl.languages import fitting
from service.dialects.fields import parse, read_fields
from service.http.problems import ProblemError
from service.schemas import Language, Text
from service.state import Service, ServiceDependency

router = APIRouter(prefix="/v2")

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Entries = Sequence[tuple[str, str]]
Languages = tuple[str, str]


class DictionaryFields(BaseModel):
    """Terms in one direction."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source_lang: Language
    target_lang: Language
    entries: Text
    entries_format: Literal["tsv", "csv"]


class GlossaryFields(DictionaryFields):
    """Fields of a glossary."""

    name: Text


@router.get("/glossary-language-pairs")
async def language_pairs(service: ServiceDependency) -> dict[str, list[dict[str, str]]]:
    """The directions in which this server translates."""
    return {
        "supported_languages": [
            {"source_lang": direction.source, "target_lang": direction.target}
            for direction in service.directions
        ]
    }


@router.post("/glossaries", status_code=201)
async def create(request: Request, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """Make a glossary; it is ready at once."""
    fields = parse(GlossaryFields, await read_fields(request))
    return _answer(await create_glossary(service, caller, fields.name, fields))


@router.get("/glossaries")
async def all_of_a_caller(
    service: ServiceDependency, caller: CallerDependency
) -> dict[str, list[dict[str, Any]]]:
    """The caller's, oldest first; of one with several dictionaries the first, as v2 knows one only."""
    found = await service.database.run(service.database.glossaries.all, caller.key_id)
    return {"glossaries": [_answer(glossary) for glossary in found]}


@router.get("/glossaries/{glossary_id}")
async def one(glossary_id: str, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """A glossary without its entries."""
    return _answer(await find_glossary(service, caller, glossary_id))


@router.get("/glossaries/{glossary_id}/entries")
async def entries(glossary_id: str, service: ServiceDependency, caller: CallerDependency) -> Response:
    """Its entries as tab-separated values."""
    found = await find_entries(service, caller, glossary_id)
    return Response(to_tsv(found), media_type="text/tab-separated-values")


@router.delete("/glossaries/{glossary_id}", status_code=204, response_class=Response)
async def delete(glossary_id: str, service: ServiceDependency, caller: CallerDependency) -> Response:
    """It is gone for later requests; those that run have their own copy."""
    await delete_glossary(service, caller, glossary_id)
    return Response(status_code=204)


async def create_glossary(service: Service, caller: Caller, name: str, fields: DictionaryFields) -> Glossary:
    """Store a glossary after checking languages and entries.

    Raises:
        InputError: an entry is malformed, by number, or there are too many of something.
        UnsupportedLanguageError: nothing here translates between these languages.
    """
    languages, found = await check_dictionary(service, fields)
    create = service.database.glossaries.create
    return await service.database.run(create, caller.key_id, name, *languages, found)


async def check_dictionary(service: Service, fields: DictionaryFields) -> tuple[Languages, Entries]:
    """Languages and entries of a dictionary, as ``create_glossary`` checks them."""
    languages = check_languages(service, fields.source_lang, fields.target_lang)
    return languages, await asyncio.to_thread(read_entries, fields.entries, fields.entries_format)


def check_languages(service: Service, source_lang: str, target_lang: str) -> Languages:
    """Source and target without regions.

    Raises:
        UnsupportedLanguageError: nothing here translates between them.
    """
    [direction, *_] = fitting(service.directions, source_lang, target_lang)
    return direction.source, direction.target


async def find_glossary(service: Service, caller: Caller, glossary_id: str) -> Glossary:
    """The caller's glossary. Raises ``ProblemError`` 404."""
    found = None
    if _ID.fullmatch(glossary_id):
        found = await service.database.run(service.database.glossaries.get, caller.key_id, glossary_id)
    if found is None:
        raise no_such_glossary()
    return found


async def find_entries(
    service: Service, caller: Caller, glossary_id: str, languages: Languages | None = None
) -> Entries:
    """The entries of the caller's glossary, between these languages; None: of its first dictionary.

    Raises:
        ProblemError: 404, the caller has no such glossary.
    """
    found = None
    if _ID.fullmatch(glossary_id):
        entries = service.database.glossaries.entries
        found = await service.database.run(entries, caller.key_id, glossary_id, languages)
    if found is None:
        raise no_such_glossary()
    return found


async def delete_glossary(service: Service, caller: Caller, glossary_id: str) -> None:
    """Raises ``ProblemError`` 404."""
    glossaries = service.database.glossaries
    if not _ID.fullmatch(glossary_id) or not await service.database.run(
        glossaries.delete, caller.key_id, glossary_id
    ):
        raise no_such_glossary()


def no_such_glossary() -> ProblemError:
    """404."""
    return ProblemError(404, "no-such-glossary", "This key has no glossary under this id.")


def read_entries(written: str, written_as: Literal["tsv", "csv"]) -> Entries:
    """Entries, a line each: source and target term; CSV may name their languages in two more columns.

    Raises:
        InputError: by line, what is wrong with it.
    """
    columns = (2, 4) if written_as == "csv" else (2,)
    written = written.removeprefix("\ufeff")
    try:
        lines = [line.split("\t") for line in written.splitlines()]
        rows = lines if written_as == "tsv" else list(csv.reader(io.StringIO(written)))
    except csv.Error:
        raise InputError("entries: this is not CSV that can be read; a term may be too long") from None
    found: dict[tuple[str, str], None] = {}
    for number, row in enumerate(rows, start=1):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) not in columns:
            raise InputError(
                f"entries: line {number} has {len(row)} columns; a source and a target term are two"
            )
        source, target = row[0].strip(), row[1].strip()
        if any(unicodedata.category(character) == "Cc" for character in source + target):
            raise InputError(f"entries: line {number} has a control character or a line break in a term")
        found[source, target] = None
    return check_entries(list(found))


def check_entries(found: Entries) -> Entries:
    """``found`` as it is. Raises ``InputError`` where the translator could not use an entry, by number."""
    try:
        terms.Glossary.of(terms.Term(source, target) for source, target in found)
    except InputError as error:
        raise InputError(f"entries: {error}") from None
    return found


def to_tsv(found: Entries) -> str:
    """A line for each entry."""
    return "\n".join(f"{source}\t{target}" for source, target in found)


def created_at(glossary: Glossary) -> str:
    """As DeepL writes times, and its client reads them."""
    return glossary.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _answer(glossary: Glossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "ready": glossary.ready,
        "source_lang": glossary.source_language,
        "target_lang": glossary.target_language,
        "creation_time": created_at(glossary),
        "entry_count": glossary.n_entries,
    }
