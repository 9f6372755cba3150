"""``/v3/glossaries``: glossaries of several dictionaries, one for each direction.

They are those of v2, and can be changed. A dictionary without entries is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from nmt.errors import InputError
from service.calls.auth import Caller, CallerDependency
from service.database.records import Dictionary, Glossary
from service.dialects.deepl import glossaries as v2
from service.dialects.fields import parse, read_fields
from service.schemas import Text
from service.state import Service, ServiceDependency

router = APIRouter(prefix="/v3/glossaries")

MOST_DICTIONARIES = 100

SourceLanguage = Annotated[str, Query(alias="source_lang", max_length=20)]
TargetLanguage = Annotated[str, Query(alias="target_lang", max_length=20)]


class MultilingualFields(BaseModel):
    """Fields of a glossary."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    dictionaries: list[v2.DictionaryFields] = Field(min_length=1, max_length=MOST_DICTIONARIES)


class ChangeFields(BaseModel):
    """Changes: the name, or entries that are added or get another target term."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text | None = None
    dictionaries: list[v2.DictionaryFields] = Field([], max_length=MOST_DICTIONARIES)


@router.post("", status_code=201)
async def create(request: Request, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """Make a glossary with its dictionaries."""
    fields = parse(MultilingualFields, await read_fields(request))
    first, *others = await _checked(service, fields.dictionaries)
    glossaries = service.database.glossaries
    made = await service.database.run(glossaries.create, caller.key_id, fields.name, *first[0], first[1])
    for languages, found in others:
        made = await _update(service, caller, made.id, languages=languages, entries=found)
    return _answer(made)


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
    checked = await _checked(service, fields.dictionaries)
    changed = await _update(service, caller, glossary_id, name=fields.name)
    for languages, found in checked:
        known = dict(await v2.find_entries(service, caller, glossary_id, languages))
        known.update(found)
        both = v2.check_entries(list(known.items()))
        changed = await _update(service, caller, glossary_id, languages=languages, entries=both)
    return _answer(changed)


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
    """The entries of one dictionary."""
    languages = v2.check_languages(service, source_lang, target_lang)
    found = await v2.find_entries(service, caller, glossary_id, languages)
    direction = {"source_lang": languages[0], "target_lang": languages[1]}
    return {"dictionaries": [{**direction, "entries": v2.to_tsv(found), "entries_format": "tsv"}]}


@router.put("/{glossary_id}/dictionaries")
async def replace(
    glossary_id: str, request: Request, service: ServiceDependency, caller: CallerDependency
) -> dict[str, Any]:
    """Other entries in the place of all there are of this dictionary."""
    fields = parse(v2.DictionaryFields, await read_fields(request))
    languages, found = await v2.check_dictionary(service, fields)
    await _update(service, caller, glossary_id, languages=languages, entries=found)
    return _dictionary(Dictionary(*languages, len(found)))


@router.delete("/{glossary_id}/dictionaries", status_code=204, response_class=Response)
async def delete_dictionary(
    glossary_id: str,
    service: ServiceDependency,
    caller: CallerDependency,
    source_lang: SourceLanguage,
    target_lang: TargetLanguage,
) -> Response:
    """The glossary stays, without these entries."""
    languages = v2.check_languages(service, source_lang, target_lang)
    await _update(service, caller, glossary_id, languages=languages, entries=())
    return Response(status_code=204)


async def _update(
    service: Service,
    caller: Caller,
    glossary_id: str,
    *,
    name: str | None = None,
    languages: v2.Languages | None = None,
    entries: v2.Entries | None = None,
) -> Glossary:
    await v2.find_glossary(service, caller, glossary_id)
    update = service.database.glossaries.update
    found = await service.database.run(
        lambda: update(caller.key_id, glossary_id, name=name, languages=languages, entries=entries)
    )
    if found is None:
        raise v2.no_such_glossary()
    return found


async def _checked(
    service: Service, dictionaries: Sequence[v2.DictionaryFields]
) -> list[tuple[v2.Languages, v2.Entries]]:
    """Languages and entries of each.

    Raises:
        InputError: two are of the same languages, or as ``v2.create_glossary``.
    """
    checked = [await v2.check_dictionary(service, fields) for fields in dictionaries]
    if len({languages for languages, _ in checked}) < len(checked):
        raise InputError("dictionaries: two are of the same languages; put their entries together")
    return checked


def _answer(glossary: Glossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.id,
        "name": glossary.name,
        "creation_time": v2.created_at(glossary),
        "dictionaries": [_dictionary(one) for one in glossary.dictionaries],
    }


def _dictionary(one: Dictionary) -> dict[str, Any]:
    return {
        "source_lang": one.source_language,
        "target_lang": one.target_language,
        "entry_count": one.n_entries,
    }
