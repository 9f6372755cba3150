"""``POST /check``: what seems wrong with a translation that anybody made. No model is asked."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Depends, Response

from nmt.errors import TextTooLongError
from nmt.pipeline.check import check_translation
from service.calls.limits import glossary_of, require_json
from service.http.problems import documented
from service.schemas import CheckAnswer, CheckRequest, FindingOut
from service.state import ServiceDependency

router = APIRouter(tags=["translation"])


@router.post(
    "/check",
    summary="Check a translation that anybody made",
    responses=documented(400, 408, 413, 415, 422, 500),
    dependencies=[Depends(require_json)],
)
async def check(body: CheckRequest, response: Response, service: ServiceDependency) -> CheckAnswer:
    """Numbers, placeholders, marks, words, negations, terms and length of both sides, as in `nmt check`.

    Characters are not charged for.
    """
    limit = service.settings.max_text_characters
    for name, text in (("source", body.source), ("translation", body.translation)):
        if len(text) > limit:
            raise TextTooLongError(
                f"{name} has {len(text)} characters; the limit is {limit}: split both sides at a paragraph"
            )
    languages = body.source_language, body.target_language
    glossary = glossary_of(body.glossary)
    found = await asyncio.to_thread(check_translation, body.source, body.translation, languages, glossary)
    response.headers["Cache-Control"] = "no-store"
    return CheckAnswer(findings=[FindingOut(kind=one.kind, detail=one.detail) for one in found])
