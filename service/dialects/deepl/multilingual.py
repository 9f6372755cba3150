"""``/v3/glossaries``: glossaries of several dictionaries; here of one, as there is one direction.

They are those of v2, and can be changed. Without entries a glossary has no dictionary.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service.auth import Caller, CallerDependency
from service.database.records import Glossary
from service.dialects.deepl import glossaries as v2
from service.dialects.deepl.languages import check_source, check_target
from service.dialects.fields import parse, read_fields
from service.schemas import Text
from service.state import Service, ServiceDependency

router = APIRouter(prefix="/v3/glossaries")

SourceLanguage = Annotated[str, Query(alias="source_lang", max_length=20)]
TargetLanguage = Annotated[str, Query(alias="target_lang", max_length=20)]


class MultilingualFields(BaseModel):
    """What makes a glossary."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    dictionaries: list[v2.DictionaryFields] = Field(min_length=1, max_length=1)


class ChangeFields(BaseModel):
    """What may be changed: the name, or entries that are added or get another target term."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text | None = None
    dictionaries: list[v2.DictionaryFields] = Field([], max_length=1)


@router.post("", status_code=201)
async def create(request: Request, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """Make a glossary with one dictionary."""
    fields = parse(MultilingualFields, await read_fields(request))
    return _answer(await v2.create_glossary(service, caller, fields.name, fields.dictionaries[0]))


@router.get("")
async def all_of_a_caller(
    service: ServiceDependency, caller: CallerDependency
) -> dict[str, list[dict[str, Any]]]:
    """The caller's, oldest first."""
    found = await service.database.run(service.database.glossaries.all, caller.key_id)
    return {"glossaries": [_answer(glossary) for glossary in found]}


@router.get("/{glossary_id}")
async def one(glossary_id: str, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """A glossary without its entries."""
    return _answer(await v2.find_glossary(service, caller, glossary_id))


@router.patch("/{glossary_id}")
async def change(
    glossary_id: str, request: Request, service: ServiceDependency, caller: CallerDependency
) -> dict[str, Any]:
    """Another name, or more entries."""
    fields = parse(ChangeFields, await read_fields(request))
    entries = None
    if fields.dictionaries:
        known = dict(await v2.find_entries(service, caller, glossary_id))
        known.update(await v2.check_dictionary(service, fields.dictionaries[0]))
        entries = v2.check_entries(list(known.items()))
    return _answer(await _update(service, caller, glossary_id, name=fields.name, entries=entries))


@router.delete("/{glossary_id}", status_code=204, response_class=Response)
async def delete(glossary_id: str, service: ServiceDependency, caller: CallerDependency) -> Response:
    """As in v2."""
    await v2.delete_glossary(service, caller, glossary_id)
    return Response(status_code=204)


@router.get("/{glossary_id}/entries")
async def entries(
    glossary_id: str,
    service: ServiceDependency,
    caller: CallerDependency,
    source_lang: SourceLanguage,
    target_lang: TargetLanguage,
) -> dict[str, list[dict[str, str]]]:
    """The entries of the dictionary."""
    _check(service, source_lang, target_lang)
    found = await v2.find_entries(service, caller, glossary_id)
    direction = {"source_lang": service.model.source_language, "target_lang": service.model.target_language}
    return {"dictionaries": [{**direction, "entries": v2.to_tsv(found), "entries_format": "tsv"}]}


@router.put("/{glossary_id}/dictionaries")
async def replace(
    glossary_id: str, request: Request, service: ServiceDependency, caller: CallerDependency
) -> dict[str, Any]:
    """Other entries in the place of all there are."""
    fields = parse(v2.DictionaryFields, await read_fields(request))
    found = await v2.check_dictionary(service, fields)
    return _dictionary(await _update(service, caller, glossary_id, entries=found))


@router.delete("/{glossary_id}/dictionaries", status_code=204, response_class=Response)
async def delete_dictionary(
    glossary_id: str,
    service: ServiceDependency,
    caller: CallerDependency,
    source_lang: SourceLanguage,
    target_lang: TargetLanguage,
) -> Response:
    """The glossary stays, without entries."""
    _check(service, source_lang, target_lang)
    await _update(service, caller, glossary_id, entries=())
    return Response(status_code=204)


async def _update(
    service: Service,
    caller: Caller,
    glossary_id: str,
    *,
    name: str | None = None,
    entries: v2.Entries | None = None,
) -> Glossary:
    await v2.find_glossary(service, caller, glossary_id)
    glossaries = service.database.glossaries
    found = await service.database.run(
        lambda: glossaries.update(caller.key_id, glossary_id, name=name, entries=entries)
    )
    if found is None:
        raise v2.no_such_glossary()
    return found


def _check(service: Service, source_lang: str, target_lang: str) -> None:
    check_source(source_lang, service.model)
    check_target(target_lang, service.model)


def _answer(glossary: Glossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "creation_time": v2.created_at(glossary),
        "dictionaries": [_dictionary(glossary)] if glossary.n_entries else [],
    }


def _dictionary(glossary: Glossary) -> dict[str, Any]:
    return {
        "source_lang": glossary.source_language,
        "target_lang": glossary.target_language,
        "entry_count": glossary.n_entries,
    }
