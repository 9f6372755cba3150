"""``POST /check``: what seems wrong with translations that anybody made. No model is asked."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Depends, Response

from nmt.errors import InputError, TextTooLongError
from nmt.pipeline.check import Problem, check_languages, check_translation
from nmt.pipeline.consistency import inconsistent_terms
from nmt.text.glossary import Glossary
from service.calls.limits import glossary_of, require_json
from service.http.problems import documented
from service.schemas import CheckAnswer, CheckRequest, FindingOut
from service.state import Service, ServiceDependency

router = APIRouter(tags=["translation"])


@router.post(
    "/check",
    summary="Check a translation that anybody made",
    responses=documented(400, 408, 413, 415, 422, 500),
    response_model_exclude_none=True,
    dependencies=[Depends(require_json)],
)
async def check(body: CheckRequest, response: Response, service: ServiceDependency) -> CheckAnswer:
    """Numbers, placeholders, marks, words, negations, terms and length of both sides, as in `nmt check`.

    Of a list of texts also whether short texts that come three times, and terms, are translated alike.
    Characters are not charged for.
    """
    _check_size(body, service)
    languages = body.source_language, body.target_language
    pairs = list(zip(*body.sides, strict=True))
    found = await asyncio.to_thread(_problems, pairs, languages, glossary_of(body.glossary))
    response.headers["Cache-Control"] = "no-store"
    is_list = not isinstance(body.source, str)
    return CheckAnswer(
        findings=[
            FindingOut(kind=one.kind, detail=one.detail, text=index if is_list else None)
            for index, problems in enumerate(found)
            for one in problems
        ]
    )


def _problems(
    pairs: list[tuple[str, str]], languages: tuple[str, str], glossary: Glossary | None
) -> list[list[Problem]]:
    """Those of each pair."""
    check_languages(languages)
    unlike = inconsistent_terms(pairs, glossary)
    return [
        [*check_translation(source, target, languages, glossary), *others]
        for (source, target), others in zip(pairs, unlike, strict=True)
    ]


def _check_size(body: CheckRequest, service: Service) -> None:
    """Raises ``InputError`` unless sides have as many texts, ``TextTooLongError`` for too much of them."""
    settings = service.settings
    sources, translations = body.sides
    if isinstance(body.source, str) != isinstance(body.translation, str):
        raise InputError("source and translation: one is a text, the other a list; send two of a kind")
    if len(sources) != len(translations):
        raise InputError(
            f"source has {len(sources)} texts, translation {len(translations)}: send one for each"
        )
    if len(sources) > settings.max_texts:
        raise TextTooLongError(
            f"{len(sources)} texts in one request; the limit is {settings.max_texts}: send several requests"
        )
    limit, most = settings.max_text_characters, settings.max_request_characters
    for name, side in (("source", sources), ("translation", translations)):
        longest = max(map(len, side), default=0)
        if longest > limit:
            raise TextTooLongError(
                f"{name} has {longest} characters; the limit is {limit}: split both sides at a paragraph"
            )
        n_characters = sum(map(len, side))
        if n_characters > most:
            raise TextTooLongError(
                f"{name} has {n_characters} characters together; the limit is {most}: send several requests"
            )
