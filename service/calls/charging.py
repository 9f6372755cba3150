"""Charges for a translation: characters, counted when it is taken, given back if it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime

import structlog
from fastapi import Request

from nmt.errors import TextTooLongError
from service.calls.auth import current_caller, note_rate
from service.database.database import DatabaseUnavailableError
from service.database.records import Reservation
from service.database.usage import QuotaExceededError
from service.http.problems import ProblemError
from service.state import Service

log = structlog.get_logger()


@dataclass
class Charge:
    """Set ``is_due`` to False and the caller gets the characters back at the end, as after an exception."""

    n_characters: int
    day: date
    is_due: bool = True


@asynccontextmanager
async def charged(request: Request, service: Service, n_characters: int) -> AsyncIterator[Charge]:
    """Charge the request's caller for the block; an exception that leaves it gives the characters back.

    Raises:
        ProblemError: 429, the key's characters for this minute or this month are used up.
        TextTooLongError: the request alone has more characters than the key may send in a minute.
    """
    caller, database = current_caller(request), service.database
    limit = None if caller.key is None else caller.key.limits.characters_per_minute
    if limit is not None:
        await _check_rate(request, service, n_characters, limit)
    try:
        reservation = await database.reserve((caller.key_id, n_characters))
    except QuotaExceededError as error:
        service.metrics.key_rejections.labels("quota").inc()
        raise _quota_exceeded(error, database.transactions.now(), n_characters) from None
    charge = Charge(n_characters, reservation.day)
    try:
        yield charge
    except BaseException:
        charge.is_due = False
        raise
    finally:
        if not charge.is_due:
            await asyncio.shield(_give_back(service, reservation))


async def _check_rate(request: Request, service: Service, n_characters: int, limit: int) -> None:
    if n_characters > limit:
        raise TextTooLongError(
            f"the request has {n_characters} characters; this key may send {limit} a minute: send less"
        )
    database = service.database
    key_id = current_caller(request).key_id
    rate = await database.run(database.rates.hit, "characters", key_id, limit, cost=n_characters)
    note_rate(request, "characters", rate)
    if not rate.allowed:
        service.metrics.key_rejections.labels("rate").inc()
        raise ProblemError(
            429,
            "character-rate-exceeded",
            f"This key may send {limit} characters a minute; {rate.remaining} are left, and the request has "
            f"{n_characters}. Try again in {rate.reset_s} seconds.",
            {"Retry-After": str(rate.reset_s)},
        )


def _quota_exceeded(error: QuotaExceededError, now: datetime, n_characters: int) -> ProblemError:
    wait_s = max(1, round((error.resets_at - now).total_seconds()))
    return ProblemError(
        429,
        "quota-exceeded",
        f"This key may send {error.quota} characters a month; {error.used} are used, and the request has "
        f"{n_characters}. The next month begins at {error.resets_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC.",
        {"Retry-After": str(wait_s)},
    )


async def _give_back(service: Service, reservation: Reservation) -> None:
    """The caller has an answer or an error already, so a database that fails now is only logged."""
    try:
        await service.database.run(service.database.usage.give_back, reservation)
    except DatabaseUnavailableError:
        log.warning("usage_not_given_back", key=reservation.key_id, characters=reservation.characters)
