"""Callers: the key of a request, whether it is good, and whether it may make one more request this minute.

There are two locks. ``KeyMiddleware`` asks for a key at every address that is not public, before a byte of
the body is read. And one of the checks below stands before every route that is not public (``create_app``
puts it there); it asks where the middleware could not, which is where the key is in the body. Each dialect
reads the key from where its clients put it, and ``admit`` does the rest. A route learns who calls through
``CallerDependency``; where nobody has asked that fails, so a forgotten check lets nobody in.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, APIKeyQuery, HTTPAuthorizationCredentials, HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service.database.database import Database
from service.database.rates import RateState
from service.database.records import ANONYMOUS, Key, KeyState
from service.http.problems import ProblemError, Shape, problem_of, shaped
from service.state import Service, ServiceDependency

_DEEPL = "DeepL-Auth-Key "
_AUTH_KEY = "auth_key"
"""Where older clients of DeepL put the key."""

MEMORY_UPLOAD = "/v3/translation_memories/upload"
MEMORY_DOWNLOAD = "/v3/translation_memories/download"
"""Where a secret in the address is asked for, and no key."""
PUBLIC = frozenset(
    {"/", "/docs", "/openapi.json", "/health/live", "/health/ready", MEMORY_UPLOAD, MEMORY_DOWNLOAD}
)
PUBLIC_FILES = "/static/"
"""Addresses that need no key: but for those above they tell nothing of anybody and cost next to nothing."""


@dataclass(frozen=True)
class Caller:
    """Caller of a request. ``key`` is None where no key is asked for; ``key_id`` then is "anonymous"."""

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


@dataclass(frozen=True)
class KeyHeader:
    """Where the clients of a dialect put their key: a header, or several; ``how`` tells a person."""

    read: Callable[[Headers], str | None]
    how: str
    field: str | None = None
    """Where it may be instead: this field of the query or of the body, for the route's check to find."""
    query: str | None = None
    """Where it may be instead: this parameter of the query."""

    def presented(self, request: Request) -> str | None:
        """The key, from a header or the query."""
        found = self.read(request.headers)
        return request.query_params.get(self.query) if found is None and self.query else found

    def is_elsewhere(self, request: Request) -> bool:
        """Whether the route's check is to look for it."""
        if self.field is None or self.read(request.headers) is not None:
            return False
        return self.field in request.query_params or request.method not in ("GET", "HEAD", "OPTIONS")


def _native_key(headers: Headers) -> str | None:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        return credentials.strip()
    return headers.get("x-api-key")


def _deepl_key(headers: Headers) -> str | None:
    header = headers.get("authorization", "")
    return header[len(_DEEPL) :].strip() if header.startswith(_DEEPL) else None


NATIVE = KeyHeader(_native_key, "send it as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'")
GOOGLE = KeyHeader(
    lambda headers: headers.get("x-goog-api-key") or _native_key(headers),
    "send it as the parameter key, or as 'X-goog-api-key: KEY'",
    query="key",
)
MICROSOFT = KeyHeader(
    lambda headers: headers.get("ocp-apim-subscription-key") or _native_key(headers),
    "send it as 'Ocp-Apim-Subscription-Key: KEY'",
    query="Subscription-Key",
)
DEEPL = KeyHeader(_deepl_key, "send it as 'Authorization: DeepL-Auth-Key KEY'", field=_AUTH_KEY)


class KeyMiddleware:
    """Asks for a key, where keys are needed, at every address but the public ones, known or not.

    Args:
        app: is called when the key is good.
        places: by the prefix of a path, where the key is; None: in the body, for the route's check to find.
        shapes: of errors, see ``problems.install``.
    """

    def __init__(
        self, app: ASGIApp, *, places: Mapping[str, KeyHeader | None], shapes: Mapping[str, Shape]
    ) -> None:
        self._app = app
        self._places = places
        self._shapes = shapes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] == "http":
            request, path = Request(scope), scope["path"]
            service: Service = scope["app"].state.service
            found = (place for prefix, place in self._places.items() if path.startswith(prefix))
            place = next(found, NATIVE)
            asks = place is not None and not place.is_elsewhere(request) and not is_public(path, service)
            if service.keys_required and place is not None and asks:
                try:
                    await admit(request, service, place.presented(request), place.how)
                except Exception as error:
                    answer = shaped(await problem_of(error, request), path, self._shapes)
                    await answer(scope, receive, send)
                    return
        await self._app(scope, receive, send)


def is_public(path: str, service: Service) -> bool:
    """Whether this address needs no key."""
    is_open_metrics = path == "/metrics" and not service.settings.metrics_need_key
    return path in PUBLIC or path.startswith(PUBLIC_FILES) or is_open_metrics


async def admit(request: Request, service: Service, presented: str | None, how: str) -> None:
    """Check a key and count the request, unless that has been done for this request.

    Raises:
        ProblemError: 401 no key, or an unknown one; 403 expired or revoked; 429 too many in a minute.
    """
    if not getattr(request.state, "is_admitted", False):
        await _admit(request, service, presented, how)
        request.state.is_admitted = True


async def _admit(request: Request, service: Service, presented: str | None, how: str) -> None:
    request.state.caller = Caller(ANONYMOUS)  # for the route, and for the request's log line
    if not service.keys_required:
        return
    if not presented:
        raise _refusal(service, "missing", 401, f"This server needs a key: {how}.", "Bearer")
    found = await service.database.run(_look_up, service.database, presented)
    if found is None:
        detail = f"This key is not known here: check that it is complete, and {how}."
        raise _refusal(service, "unknown", 401, detail, 'Bearer error="invalid_token"')
    key, state, rate = found
    request.state.caller = Caller(key.id, key)
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


async def check_key(
    request: Request,
    service: ServiceDependency,
    _bearer: Annotated[
        HTTPAuthorizationCredentials | None,
        Security(HTTPBearer(auto_error=False, scheme_name="Bearer", description="A key of this server.")),
    ],
    _header: Annotated[
        str | None,
        Security(
            APIKeyHeader(
                name="X-API-Key", auto_error=False, scheme_name="Key", description="The same, alone."
            )
        ),
    ],
) -> None:
    """The native check, ``Authorization: Bearer KEY`` or ``X-API-Key: KEY``; the arguments describe it."""
    await admit(request, service, NATIVE.read(request.headers), NATIVE.how)


def check_of(place: KeyHeader) -> Callable[..., Awaitable[None]]:
    """The check of a dialect whose key is never in the body."""

    async def check(request: Request, service: ServiceDependency) -> None:
        await admit(request, service, place.presented(request), place.how)

    return check


async def check_deepl_key(
    request: Request,
    service: ServiceDependency,
    _header: Annotated[
        str | None,
        Security(APIKeyHeader(name="Authorization", auto_error=False, scheme_name="DeepL")),
    ],
) -> AsyncIterator[None]:
    """DeepL's: ``Authorization: DeepL-Auth-Key KEY``, or ``auth_key`` in the query, a form or JSON."""
    try:
        presented = DEEPL.read(request.headers)
        if presented is None and service.keys_required:
            presented = request.query_params.get(_AUTH_KEY) or await _field_of_body(request, _AUTH_KEY)
        await admit(request, service, presented, DEEPL.how)
        yield
    finally:
        await request.close()  # the files of a form that was read for its key


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
    """Caller, as the check before the route found."""
    caller = request.state.caller
    assert isinstance(caller, Caller)
    return caller


async def _caller(request: Request) -> Caller:  # async: it waits for nothing, and needs no thread
    return current_caller(request)


CallerDependency = Annotated[Caller, Depends(_caller)]
