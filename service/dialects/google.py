"""Google Cloud Translation, v2 ("Basic"), under ``/language/translate/v2``.

Its description: https://cloud.google.com/translate/docs/reference/rest/v2/translate. Keys come as the
parameter ``key``, as ``X-goog-api-key`` or as ``Authorization: Bearer KEY``.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from nmt.errors import InputError
from nmt.markup import extract_html
from nmt.text.language import CERTAIN, UNKNOWN, Detection, candidates
from service.calls.limits import check_texts, options
from service.dialects.fields import OneOrMore, parse, read_fields, refuse_foreign_form
from service.dialects.libretranslate.languages import choose
from service.dialects.texts import translate_texts
from service.routes.languages import name_of
from service.schemas import Language, Problem, Text, TranslateRequest
from service.state import ServiceDependency
from service.work.source_language import AUTO

PREFIX = "/language/translate/v2"
TRANSLATING = PREFIX

router = APIRouter(prefix=PREFIX, include_in_schema=False)  # Google describes it

_STATUS = {413: 400, 415: 400, 422: 400}
_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_UNDETERMINED = "und"


class TranslateFields(BaseModel):
    """Fields of a request; others are ignored."""

    q: Annotated[list[Text], OneOrMore] = Field(min_length=1)
    target: Language
    source: Language | Literal[""] = ""
    """Empty: the language is detected."""
    text_format: Literal["text", "html"] = Field("html", alias="format")
    model: Literal["nmt", "base", ""] = ""


class DetectFields(BaseModel):
    """Texts."""

    q: Annotated[list[Text], OneOrMore] = Field(min_length=1)


@router.post("")
async def translate(request: Request, service: ServiceDependency) -> dict[str, Any]:
    """Translations in the order of the texts."""
    fields = parse(TranslateFields, await _fields(request))
    source = fields.source or AUTO
    direction = await choose(service.directions, source, fields.target, fields.q)
    chosen = options(TranslateRequest(text=""), direction, service.settings, confidence=False)
    extract = extract_html if fields.text_format == "html" else None
    found = await translate_texts(service, request, fields.q, chosen, extract)
    answers: list[dict[str, Any]] = [{"translatedText": one.text} for one in found]
    if source == AUTO:
        detected = await asyncio.to_thread(lambda: [_best(one.source) for one in found])
        for answer, best in zip(answers, detected, strict=True):
            told = best.language if best.score >= CERTAIN else None
            answer["detectedSourceLanguage"] = told or direction.source
    if fields.model:
        answers = [{**answer, "model": fields.model} for answer in answers]
    return {"data": {"translations": answers}}


@router.post("/detect")
async def detect_languages(request: Request, service: ServiceDependency) -> dict[str, Any]:
    """The likeliest language of each text."""
    fields = parse(DetectFields, await _fields(request))
    check_texts(fields.q, service.settings)
    found = await asyncio.to_thread(lambda: [_best(text) for text in fields.q])
    return {"data": {"detections": [[_detection(one)] for one in found]}}


@router.get("/languages")
async def languages(service: ServiceDependency, target: str | None = None) -> dict[str, Any]:
    """Languages of the models; with ``target`` their names, in English, which alone is there."""
    if target not in (None, "", "en"):
        raise InputError("target: names of languages can be had in en only")
    named = {code: {"name": name_of(code)} if target else {} for code in service.directions.languages}
    return {"data": {"languages": [{"language": code, **name} for code, name in named.items()]}}


async def _fields(request: Request) -> dict[str, Any]:
    """The fields of the body, or of the query where the body has none of that name; never the key."""
    refuse_foreign_form(request)  # texts in the query need no asking either
    query = {name: request.query_params.getlist(name) for name in request.query_params if name != "key"}
    asked = {name: values if name == "q" else values[0] for name, values in query.items()}
    return asked | await read_fields(request, lists=("q",))


def _best(text: str) -> Detection:
    return next(iter(candidates(text)), UNKNOWN)


def _detection(found: Detection) -> dict[str, Any]:
    return {
        "language": found.language or _UNDETERMINED,
        "confidence": round(found.score, 4),
        "isReliable": found.score >= CERTAIN,
    }


def shape(problem: Problem) -> tuple[int, dict[str, Any]]:
    """An error as Google has it, see ``service.http.problems.Shape``."""
    status = _STATUS.get(problem.status, problem.status)
    reason = problem.type.rpartition(":")[2]
    error = {
        "code": status,
        "message": problem.detail,
        "errors": [{"message": problem.detail, "domain": "global", "reason": reason}],
        "status": _WORDS.get(status, "INTERNAL"),
    }
    return status, {"error": error}
