"""``/documents``: send a file, ask how far it is, fetch its translation."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from nmt.documents import SUFFIXES, refusal
from service.calls.auth import CallerDependency, current_caller
from service.calls.document_jobs import DocumentJobs, DocumentsDependency
from service.calls.limits import options
from service.calls.memory import memory_wish
from service.database.records import DocumentJob
from service.http.problems import ProblemError, documented
from service.schemas import DocumentAnswer, TranslateRequest
from service.state import Service, ServiceDependency
from service.work.source_language import AUTO

router = APIRouter(prefix="/documents", tags=["documents"])

_ID_CHARACTERS = 32  # the rest of what we call an id is the secret of the job
_FILE = {"schema": {"type": "string", "format": "binary"}}

Id = Annotated[
    str, Path(max_length=200, description="From the answer to the upload; whoever has it may read.")
]


def require_file(request: Request) -> None:
    """Refuse a body that does not say it is a file (415). It also keeps other sites' forms out."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/octet-stream":
        raise ProblemError(
            415,
            "not-a-file",
            "The body must be the file itself: send the header 'Content-Type: application/octet-stream'.",
        )


@router.post(
    "",
    summary="Translate a document",
    status_code=202,
    responses=documented(400, 408, 413, 415, 422, 500),
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": _FILE}}},
    dependencies=[Depends(require_file)],
)
async def upload(
    request: Request,
    response: Response,
    service: ServiceDependency,
    documents: DocumentsDependency,
    name: Annotated[
        str, Query(min_length=1, max_length=255, description="The file's name; its suffix is its format.")
    ],
    source: Annotated[
        str, Query(min_length=2, max_length=20, description="As of `/translate`: a code, or auto.")
    ] = AUTO,
    target: Annotated[
        str | None, Query(min_length=2, max_length=20, description="As of `/translate`.")
    ] = None,
    translation_memory: Annotated[
        str | None, Query(min_length=1, max_length=36, description="As of `/translate`.")
    ] = None,
    threshold: Annotated[
        float | None, Query(ge=0.5, le=1, allow_inf_nan=False, description="As of `/translate`.")
    ] = None,
    column: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=1000,
            description="Of csv and tsv: names or numbers of the columns to translate, with commas.",
        ),
    ] = None,
) -> DocumentAnswer:
    """The body is the file. The answer comes at once; ask for `/documents/{id}` until `status` is `done`.

    Formats: txt, md, html, epub, docx, pptx, xlsx, odt, ods, odp, srt, vtt, ass, po, xliff, json, yaml,
    strings.xml, properties, arb, resx, ts, csv, ipynb and eml; all but their text is kept.
    """
    suffix = PurePath(name).suffix[1:].lower()
    if suffix not in SUFFIXES:
        known = f"name must end in one of: {', '.join(SUFFIXES)}, after a dot"
        raise ProblemError(415, "unsupported-document", f"{refusal(suffix) or known}.")
    data = await request.body()
    found = service.directions.fitting(source, target)
    texts = await documents.texts_of(name, data, column) if len(found) > 1 else []
    direction = await service.directions.choose(source, target, texts)
    chosen = options(TranslateRequest(text=""), direction, service.settings, confidence=False)
    memory = await memory_wish(service, current_caller(request), direction, translation_memory, threshold)
    job, secret = await documents.submit(request, name, data, chosen, memory, column)
    response.headers["Cache-Control"] = "no-store"
    return _answer(job, job.id + secret, documents)


@router.get("/{id}", summary="How far a document is", responses=documented(404, 422, 500))
async def status(
    id: Id,  # noqa: A002
    response: Response,
    service: ServiceDependency,
    documents: DocumentsDependency,
    caller: CallerDependency,
) -> DocumentAnswer:
    """`queued`, `translating`, `done` or `error`; `detail` says what went wrong, or why nothing was done."""
    response.headers["Cache-Control"] = "no-store"
    return _answer(await _job(id, service, caller.key_id), id, documents)


@router.get(
    "/{id}/content",
    summary="The translation of a document",
    response_class=Response,
    responses={
        200: {"description": "The file", "content": {"application/octet-stream": _FILE}},
        **documented(404, 409, 422, 500),
    },
)
async def content(id: Id, service: ServiceDependency, caller: CallerDependency) -> Response:  # noqa: A002
    """As often as you like, until it expires."""
    job = await _job(id, service, caller.key_id)
    if job.state != "done":
        raise ProblemError(409, "document-not-done", "There is no translation of this document yet.")
    result = await service.database.run(service.database.documents.result, job.id)
    if result is None:
        raise _no_such_document()
    return attachment(result, job.name)


@router.delete(
    "/{id}",
    summary="Delete a document",
    status_code=204,
    response_class=Response,
    responses=documented(404, 422, 500),
)
async def delete(
    id: Id,  # noqa: A002
    request: Request,
    service: ServiceDependency,
    documents: DocumentsDependency,
) -> Response:
    """The upload and its translation, at once; else they are deleted when they expire."""
    job = await _job(id, service, current_caller(request).key_id)
    await documents.forget(job.id)
    return Response(status_code=204)


async def _job(id: str, service: Service, key_id: str) -> DocumentJob:  # noqa: A002
    job_id, secret = id[:_ID_CHARACTERS], id[_ID_CHARACTERS:]
    job = await service.database.run(service.database.documents.get, key_id, job_id, secret)
    if job is None:
        raise _no_such_document()
    return job


def attachment(data: bytes, name: str) -> Response:
    """A file to be saved."""
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "Cache-Control": "no-store",
    }
    # never shown by a browser, whatever the file says
    return Response(data, media_type="application/octet-stream", headers=headers)


def _no_such_document() -> ProblemError:
    return ProblemError(
        404, "no-such-document", "There is no document under this id: it has expired, or was never there."
    )


def _answer(job: DocumentJob, id: str, documents: DocumentJobs) -> DocumentAnswer:  # noqa: A002
    return DocumentAnswer(
        id=id,
        name=job.name,
        status=job.state,
        progress=documents.progress(job),
        detail=job.message or None,
        characters=job.billed_characters,
        expires_at=job.expires_at,
    )
