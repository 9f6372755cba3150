"""``/v2/usage`` and ``/v2/languages``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from service.calls.auth import CallerDependency
from service.dialects.deepl.languages import listed
from service.dialects.fields import parse, read_fields
from service.routes.languages import name_of
from service.state import ServiceDependency

router = APIRouter(prefix="/v2")

NO_LIMIT = 1_000_000_000_000
"""DeepL's character_limit for accounts without one."""


class LanguagesFields(BaseModel):
    """Fields of a request."""

    kind: Literal["source", "target"] = Field("source", alias="type")


@router.get("/usage")
async def usage(service: ServiceDependency, caller: CallerDependency) -> dict[str, int]:
    """Characters of this month (UTC), and how many the key may send."""
    days = await service.database.run(service.database.usage.this_month, caller.key_id)
    quota = None if caller.key is None else caller.key.limits.characters_per_month
    return {
        "character_count": sum(day.characters for day in days),
        "character_limit": NO_LIMIT if quota is None else quota,
    }


@router.get("/languages")
async def languages(
    request: Request,
    service: ServiceDependency,
    kind: Annotated[str | None, Query(alias="type")] = None,
) -> list[dict[str, Any]]:
    """Languages translated from, or, with ``type=target``, to; the client sends the type in the body."""
    given = await read_fields(request) if kind is None else {"type": kind}
    if parse(LanguagesFields, given).kind == "source":
        return [{"language": code.upper(), "name": name_of(code)} for code in service.directions.sources]
    return [
        {
            "language": code,
            "name": name,
            "supports_formality": any(
                direction.engine.has_formality for direction in service.directions.writing(target)
            ),
        }
        for target in service.directions.targets
        for code, name in listed(target).items()
    ]
