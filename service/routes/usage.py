"""``GET /usage``: what the caller has used this month, and what is left."""

from __future__ import annotations

from fastapi import APIRouter

from service.calls.auth import CallerDependency
from service.database.records import KeyLimits
from service.database.usage import month_of
from service.http.problems import documented
from service.schemas import DayUsageOut, KeyLimitsOut, KeyOut, UsageAnswer
from service.state import ServiceDependency

router = APIRouter(tags=["server"])


@router.get("/usage", summary="Usage and limits of your key", responses=documented(500, 503))
async def usage(service: ServiceDependency, caller: CallerDependency) -> UsageAnswer:
    """Characters and requests of this month (UTC), by day, and the limits of the key.

    Characters are counted when a request is taken, and taken off again if it fails. Without keys, this is
    what everybody used together.
    """
    database = service.database
    today = database.transactions.now().date()
    first, following = month_of(today)
    days = await database.run(database.usage.this_month, caller.key_id)
    limits = KeyLimits() if caller.key is None else caller.key.limits
    return UsageAnswer(
        key=None
        if caller.key is None
        else KeyOut(id=caller.key.id, name=caller.key.name, expires_at=caller.key.expires_at),
        month_start=first,
        month_end=following,
        characters=sum(day.characters for day in days),
        requests=sum(day.requests for day in days),
        limits=KeyLimitsOut(
            requests_per_minute=limits.requests_per_minute,
            characters_per_minute=limits.characters_per_minute,
            characters_per_month=limits.characters_per_month,
        ),
        days=[DayUsageOut(day=day.day, characters=day.characters, requests=day.requests) for day in days],
    )
