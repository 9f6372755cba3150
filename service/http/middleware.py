"""Middleware around every request: its id, limits for its body, log line, metrics, headers.

Plain ASGI, so that a disconnect reaches the route. The last resort for exceptions is here too: none may reach
the server's own handler, which logs their messages.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Callable, Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.database.rates import RateState
from service.http.logs import describe
from service.http.metrics import METHODS, Metrics
from service.http.problems import CLIENT_LEFT, NO_SHAPES, ProblemError, Shape, internal_error, shaped

log = structlog.get_logger()

REQUEST_ID = "X-Request-ID"
_VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class RequestMiddleware:
    """Identify, time, log and count a request, add headers to its answer, and turn exceptions into 500.

    A header that a route has set itself, such as a page's own content security policy, stays.
    ``shapes``: of errors, see ``problems.install``.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, shapes: Mapping[str, Shape] = NO_SHAPES) -> None:
        self._app = app
        self._metrics = metrics
        self._shapes = shapes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        request_id = _request_id(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = request_id
        status = CLIENT_LEFT

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                for name, value in (rate_headers(scope["state"].get("rates", {})) | SECURITY_HEADERS).items():
                    headers.setdefault(name, value)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_headers)
            except Exception as error:
                log.error("request_failed", **describe(error))  # noqa: TRY400 - a message may quote the text
                if status != CLIENT_LEFT:
                    raise AnswerCutShortError from None  # half an answer is out: the connection must be cut
                answer = shaped(internal_error(request_id), scope["path"], self._shapes)
                await answer(scope, receive, send_with_headers)
            finally:
                self._record(scope, status, time.monotonic() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = route_template(scope)
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        caller = scope["state"].get("caller")
        who = {} if caller is None else {"key": caller.key_id}
        log.info("request", route=route, method=method, status=status, ms=round(1000 * seconds, 1), **who)


class AnswerCutShortError(Exception):
    """An answer failed after its head was sent; what failed is in the log."""


class BodyLimitMiddleware:
    """Refuse a body that is too large (413), announced or not, or that takes too long to arrive (408).

    ``own_max_bytes``: paths with a limit of their own, such as those that take files.
    """

    def __init__(
        self, app: ASGIApp, *, max_bytes: int, timeout_s: float, own_max_bytes: Mapping[str, int]
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._own_max_bytes = own_max_bytes
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes = self._own_max_bytes.get(scope["path"], self._max_bytes)
        announced = Headers(scope=scope).get("content-length", "0")
        expects_go_ahead = "expect" in Headers(scope=scope)
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        n_bytes = 0
        complete = False

        async def receive_within_limits() -> Message:
            nonlocal n_bytes, complete
            if complete:  # what follows the body is the disconnect, for which a route may wait long
                return await receive()
            if int(announced) > max_bytes and expects_go_ahead:
                raise _too_large(max_bytes)  # the client waits for our word and has not sent anything
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise self._too_slow() from None
            n_bytes += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if max(n_bytes, int(announced)) > max_bytes:
                await _drain(message, receive, max_bytes)
                complete = True
                raise _too_large(max_bytes)
            return message

        await self._app(scope, receive_within_limits, send)

    def _too_slow(self) -> ProblemError:
        return ProblemError(
            408,
            "body-too-slow",
            f"The body did not arrive within {self._timeout_s:g} seconds; send the request again.",
            {"Connection": "close"},
        )


def _too_large(max_bytes: int) -> ProblemError:
    return ProblemError(
        413,
        "body-too-large",
        f"The body is larger than {max_bytes} bytes; send what it holds in several requests.",
        {"Connection": "close"},
    )


async def _drain(message: Message, receive: Receive, max_bytes: int) -> None:
    """Read on for a moment, so that a client that only writes gets to read the answer."""
    n_bytes = 0
    try:
        async with asyncio.timeout(1):
            while message.get("more_body", False) and n_bytes < 4 * max_bytes:
                message = await receive()
                n_bytes += len(message.get("body", b""))
    except TimeoutError:
        return


def _request_id(headers: Headers) -> str:
    """The client's, if it can stand in a log line; else a new one."""
    given = headers.get(REQUEST_ID, "")
    return given if _VALID_REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def route_template(scope: Scope) -> str:
    """``/translations/{id}/alignment``, never the path itself."""
    path: Callable[[], str] | str | None = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "unmatched"


def rate_headers(rates: Mapping[str, RateState]) -> dict[str, str]:
    """RateLimit and RateLimit-Policy as in draft-ietf-httpapi-ratelimit-headers-10."""
    if not rates:
        return {}
    policies = (f'"{kind}";q={rate.limit};w=60' for kind, rate in rates.items())
    states = (f'"{kind}";r={rate.remaining};t={rate.reset_s}' for kind, rate in rates.items())
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}
