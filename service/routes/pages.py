"""The page at ``/``, the API's description at ``/docs``, and the few files they are made of.

The files are read once, at import: what is not in ``web/``, and is not the drawing of attention that reports
have too, cannot be asked for. No other host is needed.
"""

from __future__ import annotations

import hashlib
import mimetypes
from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response

from service.http.problems import ProblemError

router = APIRouter(include_in_schema=False)

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SHARED = ("heads.js", "heads.css")
"""Files of ``nmt.explore``."""


class _File(NamedTuple):
    content: bytes
    media_type: str
    etag: str


def _read() -> dict[str, _File]:
    found = {}
    shared = (path for path in files("nmt.explore").iterdir() if path.name in SHARED)
    for path in (*files("service").joinpath("web").iterdir(), *shared):
        content = path.read_bytes()
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        if media_type.startswith("text/"):
            media_type += "; charset=utf-8"
        found[path.name] = _File(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


_FILES = _read()


@router.head("/")
@router.get("/")
async def index(request: Request) -> Response:
    """The page that translates as one types."""
    return _answer("index.html", request)


@router.head("/docs")
@router.get("/docs")
async def docs(request: Request) -> Response:
    """The API's description, drawn from ``/openapi.json``."""
    return _answer("docs.html", request)


@router.head("/worker.js")
@router.get("/worker.js")
async def worker(request: Request) -> Response:
    """Script that opens the page without a network; it may only see what lies beside it."""
    return _answer("worker.js", request)


@router.head("/static/{name}")
@router.get("/static/{name}")
async def static(name: str, request: Request) -> Response:
    """Scripts, styles and icons of the pages."""
    return _answer(name, request)


def _answer(name: str, request: Request) -> Response:
    file = _FILES.get(name)
    if file is None:
        raise ProblemError(404, "not-found", "There is no such file; /docs lists what there is.")
    headers = {"ETag": file.etag, "Cache-Control": "no-cache", "Content-Security-Policy": PAGE_POLICY}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
