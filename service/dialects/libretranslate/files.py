"""``/translate_file``, answered when the file is translated, and ``/download_file`` with what came of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from nmt.errors import InputError
from service.calls.auth import CallerDependency
from service.calls.document_jobs import DocumentsDependency
from service.calls.limits import options
from service.dialects.documents import file_of, find_job, no_such_document, read_upload
from service.dialects.fields import parse
from service.dialects.libretranslate.languages import choose
from service.http.problems import ProblemError
from service.schemas import Language, TranslateRequest
from service.state import ServiceDependency
from service.work.source_language import AUTO

router = APIRouter(prefix="/libretranslate")

_ID_CHARACTERS = 32


class FileFields(BaseModel):
    """Fields besides the file; others are ignored."""

    source: Language
    target: Language


@router.post("/translate_file")
async def translate_file(
    request: Request, service: ServiceDependency, documents: DocumentsDependency, caller: CallerDependency
) -> dict[str, Any]:
    """The address of the translation. Whoever has it and a key of the same holder may read it."""
    sent = await read_upload(request)
    fields = parse(FileFields, sent.fields)
    texts: list[str] = []
    if fields.source == AUTO:
        texts = await documents.texts_of(sent.name, sent.data)
    direction = await choose(service.directions, fields.source, fields.target, texts)
    chosen = options(TranslateRequest(text=""), direction, service.settings, confidence=False)
    job, secret = await documents.submit(request, sent.name, sent.data, chosen)
    await documents.wait(job.id, service.settings.request_timeout_s)
    job = await find_job(service, caller.key_id, job.id, secret)
    if job.state == "error":
        raise InputError(f"file: {job.message}")
    if job.state != "done":
        await documents.forget(job.id)
        raise ProblemError(
            504, "timeout", "The file was not translated in time; send a smaller one, or use /documents."
        )
    path = request.scope["path"].removesuffix("/translate_file")
    base = str(request.base_url).rstrip("/")
    address = f"{base}{path}/download_file/{job.id}{secret}/{quote(job.name, safe='')}"
    return {"translatedFileUrl": address} | ({"message": job.message} if job.message else {})


@router.get("/download_file/{id}/{name}")
async def download_file(
    id: str,  # noqa: A002
    name: str,  # noqa: ARG001 - for whoever saves the file
    service: ServiceDependency,
    caller: CallerDependency,
) -> Response:
    """The translation, until it expires."""
    job = await find_job(service, caller.key_id, id[:_ID_CHARACTERS], id[_ID_CHARACTERS:])
    if job.state != "done":
        raise no_such_document()
    return await file_of(service, job)
