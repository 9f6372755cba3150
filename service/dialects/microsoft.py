"""Microsoft's Azure Translator, v3.0: ``/translate?api-version=3.0``, which is ``/microsoft/translate`` here.

https://learn.microsoft.com/azure/ai-services/translator/text-translation/reference/v3/ describes it. Keys
come as ``Ocp-Apim-Subscription-Key``, ``Authorization: Bearer KEY`` or the parameter ``Subscription-Key``.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request
from langcodes import get as language_of
from pydantic import AliasChoices, BaseModel, Field
from starlette.types import ASGIApp, Receive, Scope, Send

from nmt.errors import InputError
from nmt.markup import extract_html
from nmt.text.language import candidates
from service.calls import translation_call
from service.calls.limits import check_texts, options, require_json
from service.dialects.fields import parse, read_json
from service.dialects.libretranslate.languages import choose, targets_of
from service.dialects.texts import translate_texts
from service.routes.languages import name_of
from service.routes.translate import azure_alignment
from service.schemas import Language, Problem, Text, TranslateRequest
from service.state import ServiceDependency
from service.work.scheduler import Job
from service.work.source_language import AUTO, check_source

PREFIX = "/microsoft"
TRANSLATING = f"{PREFIX}/translate"
PATHS = ("/translate", "/detect", "/languages")
RIGHT_TO_LEFT = ("ar", "dv", "fa", "he", "ps", "ug", "ur", "yi")

router = APIRouter(prefix=PREFIX, include_in_schema=False)  # Microsoft describes it


class ApiVersionMiddleware:
    """``/translate?api-version=3.0`` is ``/microsoft/translate``: their clients know no prefix."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        is_theirs = scope["type"] == "http" and scope["path"] in PATHS
        if is_theirs and "api-version" in Request(scope).query_params:
            path = PREFIX + scope["path"]
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await self._app(scope, receive, send)


class Item(BaseModel):
    """One text."""

    text: Text = Field(validation_alias=AliasChoices("text", "Text"))


class Fields(BaseModel):
    """The body, and the parameters that are read; others are ignored."""

    texts: list[Item] = Field(min_length=1)
    version: Literal["3.0"] = Field("3.0", alias="api-version")
    to: list[Language] = Field([], max_length=10)
    source: Language = Field(AUTO, alias="from")
    text_type: Literal["plain", "html"] = Field("plain", alias="textType")
    alignment: bool = Field(False, alias="includeAlignment")
    sentence_length: Literal["false"] = Field("false", alias="includeSentenceLength")
    profanity: Literal["NoAction"] = Field("NoAction", alias="profanityAction")
    category: Literal["general"] = "general"


@router.post("/translate", dependencies=[Depends(require_json)])
async def translate(request: Request, service: ServiceDependency) -> list[dict[str, Any]]:
    """For each text a translation to each language of ``to``."""
    fields = await _fields(request)
    texts = [item.text for item in fields.texts]
    if not fields.to:
        raise InputError("to: is needed; name a language to translate to")
    if fields.text_type == "html" and fields.alignment:
        raise InputError("includeAlignment: is for textType plain; leave it out")
    answers: list[dict[str, Any]] = [{"translations": []} for _ in texts]
    for to in dict.fromkeys(fields.to):
        direction = await choose(service.directions, fields.source, to, texts)
        chosen = options(TranslateRequest(text=""), direction, service.settings, confidence=False)
        if fields.text_type == "html":
            found = await translate_texts(service, request, texts, chosen, extract_html)
            written: list[dict[str, Any]] = [{"text": one.text, "to": to} for one in found]
        else:
            check_texts(texts, service.settings)
            chosen = chosen.model_copy(update={"alignment": "links" if fields.alignment else "none"})
            plain = await translation_call.translate(service, request, Job(tuple(texts), chosen))
            proj = [{"alignment": {"proj": azure_alignment(one) or ""}} for one in plain]
            aligned = proj if fields.alignment else [{}] * len(plain)
            written = [{"text": one.text, "to": to, **more} for one, more in zip(plain, aligned, strict=True)]
        for answer, text, one in zip(answers, texts, written, strict=True):
            answer["translations"].append(one)
            if fields.source == AUTO:
                told = (await asyncio.to_thread(check_source, text, AUTO, direction.source)).detection
                code, score = told.language or direction.source, round(told.score, 2)
                answer["detectedLanguage"] = {"language": code, "score": score}
    return answers


@router.post("/detect", dependencies=[Depends(require_json)])
async def detect_languages(request: Request, service: ServiceDependency) -> list[dict[str, Any]]:
    """The likeliest languages of each text."""
    texts = [item.text for item in (await _fields(request)).texts]
    check_texts(texts, service.settings)
    found = await asyncio.to_thread(lambda: [candidates(text)[:3] for text in texts])
    told = [[_detected(one.language or "und", one.score, service) for one in ranked] for ranked in found]
    unknown = _detected("und", 0.0, service)
    return [{**(ranked or [unknown])[0], "alternatives": ranked[1:]} for ranked in told]


@router.get("/languages")
async def languages(service: ServiceDependency) -> dict[str, Any]:
    """Languages of the models; nothing is transliterated, and there is no dictionary."""
    translation = {
        code: {
            "name": name_of(code),
            "nativeName": str(language_of(code).autonym()),
            "dir": "rtl" if code in RIGHT_TO_LEFT else "ltr",
        }
        for code in service.directions.languages
    }
    return {"translation": translation, "transliteration": {}, "dictionary": {}}


async def _fields(request: Request) -> Fields:
    query = request.query_params
    asked: dict[str, Any] = {name: query[name] for name in query if name != "to"}
    return parse(Fields, {**asked, "to": query.getlist("to"), "texts": await read_json(request)})


def _detected(language: str, score: float, service: ServiceDependency) -> dict[str, Any]:
    return {
        "language": language,
        "score": round(score, 2),
        "isTranslationSupported": bool(targets_of(service.directions, language)),
        "isTransliterationSupported": False,
    }


def shape(problem: Problem) -> tuple[int, dict[str, Any]]:
    """An error as Microsoft has it, see ``service.http.problems.Shape``."""
    status = {413: 400, 415: 400, 422: 400}.get(problem.status, problem.status)
    return status, {"error": {"code": 1000 * status, "message": problem.detail}}
