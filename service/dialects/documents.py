"""Files of a dialect's form, and the jobs that translate them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from fastapi import Request, Response
from starlette.datastructures import UploadFile

from nmt.documents import SUFFIXES, refusal
from nmt.errors import InputError
from service.database.records import DocumentJob
from service.dialects.fields import refuse_foreign_form, without_key
from service.http.problems import ProblemError
from service.routes.documents import attachment
from service.state import Service

FORM_BYTES = 20_000
"""Room for the other fields of a form with a file."""
_ID, _SECRET = re.compile(r"[0-9A-F]{32}"), re.compile(r"[0-9A-F]{64}")


@dataclass(frozen=True)
class Upload:
    """A form with a file; the rest of it as fields."""

    name: str
    data: bytes
    fields: dict[str, Any]


async def read_upload(request: Request) -> Upload:
    """The file of a form, named by its field ``filename`` or as it was sent.

    Raises:
        InputError: there is none, or its name ends in no suffix that is known.
        ProblemError: 403, the page of another site sends it.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InputError("file: the body must be a form with a file: send it as multipart/form-data")
    refuse_foreign_form(request)
    form = await request.form()
    try:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise InputError("file: there is none in the form")
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        name = fields.pop("filename", None) or file.filename or ""
        suffix = PurePath(name).suffix[1:].lower()
        if suffix not in SUFFIXES:
            known = f"its name must end in one of the file extensions: {', '.join(SUFFIXES)}"
            raise InputError(f"file: {refusal(suffix) or known}")
        return Upload(name, await file.read(), without_key(fields))
    finally:
        await form.close()


async def find_job(service: Service, key_id: str, job_id: str, secret: str) -> DocumentJob:
    """The caller's job.

    Raises:
        ProblemError: 404.
    """
    job = None
    if _ID.fullmatch(job_id) and _SECRET.fullmatch(secret):
        job = await service.database.run(service.database.documents.get, key_id, job_id, secret)
    if job is None:
        raise no_such_document()
    return job


def no_such_document() -> ProblemError:
    """404; a wrong secret is told no more."""
    return ProblemError(
        404, "no-such-document", "There is no document under this id and key: it has expired, or never was."
    )


async def file_of(service: Service, job: DocumentJob) -> Response:
    """The translation of a job that is done, to be saved.

    Raises:
        ProblemError: 404, it has expired.
    """
    result = await service.database.run(service.database.documents.result, job.id)
    if result is None:
        raise no_such_document()
    return attachment(result, job.name)
