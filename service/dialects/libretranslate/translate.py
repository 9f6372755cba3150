"""``/translate`` and ``/detect``."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from nmt.documents.extracted import PlainText
from nmt.errors import InputError
from nmt.markup import extract_html, looks_like_html
from nmt.text.language import CERTAIN, UNKNOWN, Detection, candidates
from service.calls.limits import check_texts, options
from service.dialects.fields import OneOrMore, parse, read_fields
from service.dialects.libretranslate.languages import choose
from service.dialects.texts import Extract, Translated, translate_texts
from service.schemas import Language, Text, TranslateRequest
from service.state import ServiceDependency
from service.work.source_language import AUTO

router = APIRouter(prefix="/libretranslate")

MOST_CANDIDATES = 5
LEAST_SHARE = 0.01
"""Confidence of languages that are not the likeliest."""


class DetectFields(BaseModel):
    """A text."""

    q: Text = Field(min_length=1)


class TranslateFields(BaseModel):
    """Fields of a request; others are ignored, as LibreTranslate does."""

    q: Annotated[list[Text], OneOrMore] = Field(min_length=1)
    source: Language
    target: Language
    text_format: Literal["text", "html"] | None = Field(None, alias="format")
    """None: each text is what it looks like."""
    alternatives: int = Field(0, ge=0)


@router.post("/translate")
async def translate(request: Request, service: ServiceDependency) -> dict[str, Any]:
    """A translation, or a list of them if ``q`` is a list."""
    given = await read_fields(request)
    fields = parse(TranslateFields, given)
    direction = await choose(service.directions, fields.source, fields.target, fields.q)
    is_html = fields.text_format == "html" or (
        fields.text_format is None and any(map(looks_like_html, fields.q))
    )
    most = service.settings.max_beam_size - 1
    if fields.alternatives > most:
        raise InputError(f"alternatives: {fields.alternatives} is over the limit of this server, {most}")
    asked = TranslateRequest(text="", n_best=1 if is_html else fields.alternatives + 1)
    chosen = options(asked, direction, service.settings, confidence=False)
    found = await translate_texts(service, request, fields.q, chosen, _extract(fields) if is_html else None)
    answers: dict[str, list[Any]] = {"translatedText": [one.text for one in found]}
    if fields.source == AUTO:
        sources = [one.source for one in found]
        detected = await asyncio.to_thread(_detect, sources, direction.source)
        answers["detectedLanguage"] = [_answer(one) for one in detected]
    if fields.alternatives:
        answers["alternatives"] = [_others(one) for one in found]
    if isinstance(given["q"], str):
        return {name: values[0] for name, values in answers.items()}
    return answers


def _extract(fields: TranslateFields) -> Extract:
    if fields.text_format == "html":
        return extract_html
    return lambda text: extract_html(text) if looks_like_html(text) else PlainText(text)


@router.post("/detect")
async def detect_language(request: Request, service: ServiceDependency) -> list[dict[str, Any]]:
    """The likeliest languages, best first; none where the text does not tell."""
    fields = parse(DetectFields, await read_fields(request))
    check_texts([fields.q], service.settings)
    found = await asyncio.to_thread(candidates, fields.q)
    likely = [found for rank, found in enumerate(found) if rank == 0 or found.score >= LEAST_SHARE]
    return [_answer(one) for one in likely[:MOST_CANDIDATES]]


def _detect(texts: list[str], expected: str) -> list[Detection]:
    """The language of each; where a text does not tell, the one that the model reads, with its own share."""
    found: list[Detection] = []
    for text in texts:
        shares = {one.language: one for one in candidates(text)}
        best = next(iter(shares.values()), UNKNOWN)
        found.append(best if best.score >= CERTAIN else shares.get(expected, Detection(expected, 0.0)))
    return found


def _answer(detection: Detection) -> dict[str, Any]:
    return {"language": detection.language, "confidence": round(100 * detection.score, 1)}


def _others(one: Translated) -> list[str]:
    """The alternatives that differ from the translation and from each other."""
    return [text for text in dict.fromkeys(one.n_best) if text != one.text]
