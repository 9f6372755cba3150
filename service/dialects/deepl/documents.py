"""``/v2/document``: upload, status and download, as POST with the document's key in the body."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response

from nmt.errors import InputError
from service.calls.auth import CallerDependency
from service.calls.document_jobs import DocumentJobs, DocumentsDependency
from service.database.records import DocumentJob
from service.dialects.deepl.options import (
    CommonFields,
    common_memory,
    common_options,
    refuse_what_is_not_here,
)
from service.dialects.documents import file_of, find_job, read_upload
from service.dialects.fields import parse, read_fields
from service.http.problems import ProblemError
from service.state import Service, ServiceDependency

router = APIRouter(prefix="/v2/document")

WAIT_S = 2.0
"""A document that is done so soon is told so at the first asking; the client asks again after 5 seconds."""


class DocumentFields(CommonFields):
    """Fields besides the file."""

    output_format: str | None = None


@router.post("")
async def upload(
    request: Request,
    service: ServiceDependency,
    documents: DocumentsDependency,
    caller: CallerDependency,
) -> dict[str, str]:
    """The id of the job, and the key that opens it."""
    sent = await read_upload(request)
    refuse_what_is_not_here(sent.fields)
    fields = parse(DocumentFields, sent.fields)
    suffix = PurePath(sent.name).suffix[1:].lower()
    if fields.output_format and fields.output_format.lower() != suffix:
        raise InputError("output_format: a document keeps its format; leave it out")
    texts: list[str] = []
    if not fields.source_lang:
        texts = await documents.texts_of(sent.name, sent.data)
    options = await common_options(service, caller, fields, texts)
    memory = await common_memory(service, caller, fields, options)
    job, secret = await documents.submit(request, sent.name, sent.data, options, memory)
    return {"document_id": job.id, "document_key": secret}


@router.post("/{document_id}")
async def status(
    document_id: str,
    request: Request,
    service: ServiceDependency,
    documents: DocumentsDependency,
    caller: CallerDependency,
) -> dict[str, Any]:
    """How far it is."""
    job = await _find(document_id, request, service, caller.key_id, documents)
    answer: dict[str, Any] = {"document_id": job.id, "status": job.state}
    if job.state in ("queued", "translating"):
        answer["seconds_remaining"] = 5
    elif job.state == "done":
        answer["billed_characters"] = job.billed_characters
        if job.message:
            answer["message"] = job.message
    else:
        answer["error_message"] = answer["message"] = job.message
    return answer


@router.post("/{document_id}/result")
async def result(
    document_id: str, request: Request, service: ServiceDependency, caller: CallerDependency
) -> Response:
    """The translation, as often as it is asked for until it expires."""
    job = await _find(document_id, request, service, caller.key_id)
    if job.state == "error":
        raise InputError("the document could not be translated; its status says why")
    if job.state != "done":
        raise ProblemError(409, "document-not-done", "There is no translation of this document yet.")
    return await file_of(service, job)


async def _find(
    document_id: str, request: Request, service: Service, key_id: str, wait_for: DocumentJobs | None = None
) -> DocumentJob:
    """The caller's job; with ``wait_for``, a moment later if it is not done yet."""
    secret = (await read_fields(request)).get("document_key")
    if not isinstance(secret, str):
        raise InputError("document_key: is needed; it came with the answer to the upload")
    job = await find_job(service, key_id, document_id, secret)
    if wait_for is not None and job.state in ("queued", "translating"):
        await wait_for.wait(job.id, WAIT_S)
        job = await find_job(service, key_id, document_id, secret)
    return job
