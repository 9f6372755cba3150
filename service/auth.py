"""Who calls: the key of a request, whether it is good, and whether it may make one more request this minute.

One of the checks below stands before every route that is not public (``create_app`` puts it there), in the
dialect of that route: each reads the key from where its clients put it, and ``admit`` does the rest. A route
learns who calls through ``CallerDependency``; where no check has run that fails, so a forgotten one lets
nobody in.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, APIKeyQuery, HTTPAuthorizationCredentials, HTTPBearer

from service.database.database import Database
from service.database.rates import RateState
from service.database.records import ANONYMOUS, Key, KeyState
from service.problems import ProblemError
from service.state import Service, ServiceDependency

SEND_IT = "send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"
_DEEPL = "DeepL-Auth-Key "


@dataclass(frozen=True)
class Caller:
    """Who makes a request. ``key`` is None where no key is asked for; ``key_id`` then is "anonymous"."""

    key_id: str
    key: Key | None = None


def needs_keys(setting: Literal["auto", "required", "off"], host: str) -> bool:
    """Whether requests need a key, when the server listens on ``host``: auto trusts this machine alone."""
    if setting != "auto":
        return setting == "required"
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


async def admit(request: Request, service: Service, presented: str | None, how: str = SEND_IT) -> Caller:
    """Check a key and count the request.

    Raises:
        ProblemError: 401 no key, or an unknown one; 403 expired or revoked; 429 too many in a minute.
    """
    request.state.caller = caller = Caller(ANONYMOUS)  # for the route, and for the request's log line
    if not service.keys_required:
        return caller
    if not presented:
        raise _refusal(service, "missing", 401, f"This server needs a key: {how}.", "Bearer")
    found = await service.database.run(_look_up, service.database, presented)
    if found is None:
        detail = f"This key is not known here: check that it is complete, and {how}."
        raise _refusal(service, "unknown", 401, detail, 'Bearer error="invalid_token"')
    key, state, rate = found
    request.state.caller = caller = Caller(key.id, key)
    if state != "active":
        detail = f"This key is {state}: ask whoever runs this server for another one."
        raise _refusal(service, state, 403, detail)
    if rate is not None:
        note_rate(request, "requests", rate)
        if not rate.allowed:
            service.metrics.key_rejections.labels("rate").inc()
            raise ProblemError(
                429,
                "rate-exceeded",
                f"This key may make {rate.limit} requests a minute; try again in {rate.reset_s} seconds.",
                {"Retry-After": str(rate.reset_s)},
            )
    return caller


def _look_up(database: Database, presented: str) -> tuple[Key, KeyState, RateState | None] | None:
    """The key, its state, and its rate after this request; blocks, so it is one call for the event loop."""
    key = database.keys.find(presented)
    if key is None:
        return None
    state, limit = key.state(database.transactions.now()), key.limits.requests_per_minute
    if state != "active" or limit is None:
        return key, state, None
    return key, state, database.rates.hit("requests", key.id, limit)


def _refusal(
    service: Service, reason: str, status: int, detail: str, authenticate: str | None = None
) -> ProblemError:
    service.metrics.key_rejections.labels(reason).inc()
    headers = {"WWW-Authenticate": authenticate} if authenticate else None
    return ProblemError(status, f"key-{reason}", detail, headers)


def note_rate(request: Request, kind: str, rate: RateState) -> None:
    """Remember a rate for the answer's headers."""
    rates: dict[str, RateState] = getattr(request.state, "rates", {})
    request.state.rates = {**rates, kind: rate}


def rate_headers(rates: Mapping[str, RateState]) -> dict[str, str]:
    """RateLimit and RateLimit-Policy as in draft-ietf-httpapi-ratelimit-headers-10."""
    if not rates:
        return {}
    policies = (f'"{kind}";q={rate.limit};w=60' for kind, rate in rates.items())
    states = (f'"{kind}";r={rate.remaining};t={rate.reset_s}' for kind, rate in rates.items())
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}


async def check_key(
    request: Request,
    service: ServiceDependency,
    bearer: Annotated[
        HTTPAuthorizationCredentials | None,
        Security(HTTPBearer(auto_error=False, scheme_name="Bearer", description="A key of this server.")),
    ],
    header: Annotated[
        str | None,
        Security(
            APIKeyHeader(
                name="X-API-Key", auto_error=False, scheme_name="Key", description="The same, alone."
            )
        ),
    ],
) -> None:
    """The native check: ``Authorization: Bearer KEY`` or ``X-API-Key: KEY``."""
    await admit(request, service, bearer.credentials if bearer else header)


async def check_deepl_key(
    request: Request,
    service: ServiceDependency,
    header: Annotated[
        str | None,
        Security(APIKeyHeader(name="Authorization", auto_error=False, scheme_name="DeepL")),
    ],
) -> None:
    """DeepL's: ``Authorization: DeepL-Auth-Key KEY``."""
    presented = header[len(_DEEPL) :].strip() if header and header.startswith(_DEEPL) else None
    await admit(request, service, presented, "send it as 'Authorization: DeepL-Auth-Key KEY'")


async def check_libretranslate_key(
    request: Request,
    service: ServiceDependency,
    query: Annotated[
        str | None, Security(APIKeyQuery(name="api_key", auto_error=False, scheme_name="LibreTranslate"))
    ],
) -> AsyncIterator[None]:
    """LibreTranslate's: ``api_key`` in the JSON body, the form or the query."""
    try:
        presented = query
        if presented is None and service.keys_required:
            presented = await _field_of_body(request, "api_key")
        await admit(request, service, presented, "send it as api_key")
        yield
    finally:
        await request.close()  # the files of a form that was read for its key


async def _field_of_body(request: Request, name: str) -> str | None:
    """A string in a JSON object or a form; None if there is none. The route can read the body again."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    value: object = None
    if media_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        value = (await request.form()).get(name)
    elif await request.body():
        try:
            body = await request.json()
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
            return None
        value = body.get(name) if isinstance(body, dict) else None
    return value if isinstance(value, str) else None


def current_caller(request: Request) -> Caller:
    """Who calls, as the check before the route found."""
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller


async def _caller(request: Request) -> Caller:  # async: it waits for nothing, and needs no thread
    return current_caller(request)


CallerDependency = Annotated[Caller, Depends(_caller)]
