"""Errors as RFC 9457 problem details: the one place that maps exceptions to HTTP.

No answer made here repeats anything of the request: not its text, nor an unknown key's name, nor its path.
FastAPI's own 422 body does, and fails with 500 where that cannot be encoded; hence the handlers below.
"""

from __future__ import annotations

import difflib
import http
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from nmt.errors import ConfigError, InputError, PasserelleError, TextTooLongError, UnsupportedLanguageError
from service.database.database import DatabaseUnavailableError
from service.http.logs import describe
from service.schemas import AttentionIn, CheckRequest, Problem, TermIn, TranslateRequest

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 10
CLIENT_LEFT = 499
"""Logged and counted for a request whose client left first, as nginx does; no such answer is ever sent."""

_DETAILS = {
    400: "The body could not be read as JSON in UTF-8.",
    404: "There is nothing at this address; /docs lists what there is.",
    405: "This address does not answer this method; the Allow header names those it does.",
}


def phrase(status: int) -> str:
    """The status in words as RFC 9110 has them; those of ``http`` change with the version of Python."""
    newer = {413: "Content Too Large", 422: "Unprocessable Content", CLIENT_LEFT: "Client Closed Request"}
    return newer.get(status) or http.HTTPStatus(status).phrase


class ProblemError(HTTPException):
    """An error with a stable kind, answered as it is.

    Args:
        status: HTTP status.
        kind: last part of the problem's ``type``.
        detail: a sentence or two for a person, without anything of the request.
        headers: more response headers.
    """

    def __init__(self, status: int, kind: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail=detail, headers=headers)
        self.kind = kind


class ProblemResponse(JSONResponse):
    """``application/problem+json``, and the problem that it was made of."""

    media_type = MEDIA_TYPE

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(
            problem.model_dump(exclude_none=True),
            status_code=problem.status,
            headers={"Cache-Control": "no-store", **(headers or {})},
        )
        self.problem = problem


Shape = Callable[[Problem], tuple[int, Mapping[str, Any]]]
"""How a dialect writes an error: its status and its JSON body."""
NO_SHAPES: Mapping[str, Shape] = MappingProxyType({})


def shaped(response: ProblemResponse, path: str, shapes: Mapping[str, Shape]) -> Response:
    """The error in the shape of the dialect whose prefix ``path`` begins with, if there is one."""
    shape = next((shape for prefix, shape in shapes.items() if path.startswith(prefix)), None)
    if shape is None:
        return response
    status, body = shape(response.problem)
    own = {"content-type", "content-length", "www-authenticate"}
    headers = {name: value for name, value in response.headers.items() if name not in own}
    return JSONResponse(body, status, headers)


def problem_response(
    status: int,
    kind: str,
    detail: str,
    *,
    request_id: str | None = None,
    headers: Mapping[str, str] | None = None,
    errors: list[dict[str, str]] | None = None,
) -> ProblemResponse:
    """The response for one problem; never cached."""
    problem = Problem(
        type=f"urn:passerelle:problem:{kind}",
        title=phrase(status),
        status=status,
        detail=detail,
        request_id=request_id,
        errors=errors,
    )
    return ProblemResponse(problem, headers)


def install(app: FastAPI, shapes: Mapping[str, Shape] = NO_SHAPES) -> None:
    """Answer every exception that a route raises, and every path that leads nowhere, with a problem.

    Args:
        app: gets the handlers.
        shapes: of dialects, by the prefix of their paths.
    """

    def handler(
        answer: Callable[[Request, Exception], Awaitable[ProblemResponse]],
    ) -> Callable[[Request, Exception], Awaitable[Response]]:
        async def handle(request: Request, error: Exception) -> Response:
            return shaped(await answer(request, error), request.scope["path"], shapes)

        return handle

    app.add_exception_handler(HTTPException, handler(_on_http_exception))
    app.add_exception_handler(RequestValidationError, handler(_on_invalid_request))
    app.add_exception_handler(PasserelleError, handler(_on_passerelle_error))
    app.add_exception_handler(DatabaseUnavailableError, handler(_on_database_unavailable))


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI ``responses`` for these statuses; ``Problem`` is put among the components by the app."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": phrase(status), "content": content} for status in statuses}


def internal_error(request_id: str | None) -> ProblemResponse:
    """500, for what nobody foresaw."""
    return problem_response(
        500,
        "internal-error",
        "The server failed on this request. The log has more under this request id.",
        request_id=request_id,
    )


async def problem_of(error: Exception, request: Request) -> ProblemResponse:
    """The problem that an exception is answered with, for an answer whose head is out already."""
    try:
        if isinstance(error, HTTPException):
            return await _on_http_exception(request, error)
        if isinstance(error, DatabaseUnavailableError):
            return await _on_database_unavailable(request, error)
        if isinstance(error, PasserelleError):
            return await _on_passerelle_error(request, error)
    except PasserelleError:
        pass  # an error of the server, not of the request
    log.error("request_failed", **describe(error))
    return internal_error(_request_id(request))


async def _on_http_exception(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, HTTPException)
    status = error.status_code
    if isinstance(error, ProblemError):
        kind, detail = error.kind, error.detail
    else:  # raised by the framework, whose own words are not trusted to leave the request out
        kind, detail = phrase(status).lower().replace(" ", "-"), _DETAILS.get(status, phrase(status) + ".")
    return problem_response(status, kind, detail, request_id=_request_id(request), headers=error.headers)


async def _on_passerelle_error(request: Request, error: Exception) -> ProblemResponse:
    """Messages of this tree are written for people and hold no text, see ``nmt.errors``."""
    request_id = _request_id(request)
    for error_type, status, kind in (
        (TextTooLongError, 413, "text-too-long"),
        (UnsupportedLanguageError, 422, "unsupported-language"),
        (InputError, 422, "invalid-input"),
        (ConfigError, 422, "invalid-option"),
    ):
        if isinstance(error, error_type):
            return problem_response(status, kind, _sentence(str(error)), request_id=request_id)
    raise error  # an error of the server, not of the request


async def _on_database_unavailable(request: Request, error: Exception) -> ProblemResponse:
    log.error("database_unavailable", **describe(error.__cause__ or error))
    return problem_response(
        503,
        "database-unavailable",
        "The database does not answer; try again in a moment.",
        request_id=_request_id(request),
        headers={"Retry-After": "5"},
    )


async def _on_invalid_request(request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, RequestValidationError)
    shape = CheckRequest if request.url.path == "/check" else TranslateRequest
    found = _explain(error.errors(), list(shape.model_fields))
    if len(found) > MOST_ERRORS:
        detail = f"The request is not valid in {len(found)} places; the first {MOST_ERRORS} are listed."
    else:
        detail = (
            "The request is not valid: " + "; ".join(f"{e['field']}: {e['message']}" for e in found) + "."
        )
    return problem_response(
        422, "invalid-request", detail, request_id=_request_id(request), errors=found[:MOST_ERRORS]
    )


def _explain(errors: Sequence[Any], keys: Sequence[str]) -> list[dict[str, str]]:
    """One entry for each field; ``keys``: of a body. Alternatives ("a string or a list") are joined."""
    messages: dict[str, list[str]] = {}
    for error in errors:
        field = _field(error["loc"])
        if error["type"] == "extra_forbidden":
            field, message = "body", _unknown_key(str(error["loc"][-1]), keys)
        elif error["type"] == "json_invalid":
            field, message = "body", f"Not valid JSON at character {error['loc'][-1]}"
        else:
            message = error["msg"]
        found = messages.setdefault(field, [])
        if message not in found:
            found.append(message)
    # "body.text.3: no string" says it; that body.text is no string either, being a list, need not be said.
    wider = {field.rpartition(".")[0] for field in messages} - {"body"}
    return [
        {"field": field, "message": ", or: ".join(found)}
        for field, found in messages.items()
        if field not in wider
    ]


def _field(location: Iterable[int | str]) -> str:
    """``body.text.3``; parts that the request invented, and the names of a union's branches, are left out."""
    known = {"body", "query", "path", "header", "format", "sentence", "id", "name"}
    known |= {"after", "limit", "webhook"}
    for shape in (TranslateRequest, CheckRequest, TermIn, AttentionIn):
        known |= shape.model_fields.keys()
    return ".".join(str(part) for part in location if isinstance(part, int) or part in known) or "body"


def _unknown_key(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return "An unknown key; " + (f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}")


def _sentence(message: str) -> str:
    """``message`` with a capital, unless it begins with a field's name, and a full stop."""
    begins_with_name = "_" in message.partition(" ")[0]
    return (message if begins_with_name else message[:1].upper() + message[1:]) + "."


def _request_id(request: Request) -> str | None:
    return getattr(request.state, "request_id", None)
