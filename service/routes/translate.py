"""``POST /translate``."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, Request, Response

from service.auth import current_caller
from service.charging import charged
from service.limits import check_languages, check_texts, options, require_json
from service.problems import CLIENT_LEFT, ProblemError, documented
from service.scheduler import Options, QueueFullError, StoppingError
from service.schemas import (
    AlignmentOut,
    AlternativeOut,
    DetectedSourceOut,
    FlagOut,
    LinkOut,
    SentenceOut,
    SpanOut,
    TokenOut,
    TranslateAnswer,
    TranslateRequest,
    TranslationOut,
)
from service.source_language import SourceCheck, check_source
from service.state import Service, ServiceDependency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nmt.config import ModelFolderConfig
    from nmt.translator import Link, SentenceTranslation, Span, Token, Translation

router = APIRouter(tags=["translation"])


@router.post(
    "/translate",
    summary="Translate one text or a list",
    response_model=TranslateAnswer,
    responses=documented(400, 408, 413, 415, 422, 429, 500, 503, 504),
    dependencies=[Depends(require_json)],
)
async def translate(body: TranslateRequest, request: Request, service: ServiceDependency) -> Response:
    """Translations in the order of the texts, with the links between words if asked for.

    Offsets count characters (Unicode code points) of the whole text. The alignment of an answer can be had
    again for a while at `/translations/{id}/alignment`, in several formats.
    """
    check_languages(body, service.model)
    check_texts(body.texts, service.settings)
    chosen = options(body, service.model, service.generation, service.settings)
    async with charged(request, service, sum(len(text) for text in body.texts)) as charge:
        found = await _translate_or_leave(body.texts, chosen, request, service)
        charge.is_due = found is not None
    if found is None:
        return Response(status_code=CLIENT_LEFT)
    # Large matrices take a while to write; other requests go on meanwhile.
    payload, kept = await asyncio.to_thread(_write, found, body, service.model)
    await service.database.run(service.database.alignments.put, current_caller(request).key_id, kept)
    return Response(payload, media_type="application/json", headers={"Cache-Control": "no-store"})


async def _translate_or_leave(
    texts: list[str], chosen: Options, request: Request, service: Service
) -> list[Translation] | None:
    """The translations; None when the client leaves first: the request is then taken out of the queue."""
    timeout_s = service.settings.request_timeout_s
    try:
        future = asyncio.wrap_future(service.scheduler.submit(texts, chosen))
    except QueueFullError as error:
        raise ProblemError(
            429,
            "queue-full",
            f"Too much is waiting for the model; try again in {error.retry_after_s} seconds.",
            {"Retry-After": str(error.retry_after_s)},
        ) from None
    except StoppingError:
        raise _stopping() from None
    leaving = asyncio.create_task(_disconnect(request))
    try:
        either: set[asyncio.Future[Any]] = {future, leaving}
        done, _ = await asyncio.wait(either, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if future in done:
            return future.result()
        if leaving in done:
            return None
        raise ProblemError(
            504, "timeout", f"There was no translation within {timeout_s:g} seconds; send less text at once."
        )
    except asyncio.CancelledError:
        if future.cancelled():  # by the scheduler, which stops before it came to this request
            raise _stopping() from None
        raise
    finally:
        future.cancel()
        leaving.cancel()


def _stopping() -> ProblemError:
    return ProblemError(
        503, "stopping", "The server is shutting down; try again in a moment.", {"Retry-After": "5"}
    )


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _write(
    found: Sequence[Translation], body: TranslateRequest, model: ModelFolderConfig
) -> tuple[bytes, dict[str, bytes]]:
    """The answer's JSON, and that of each alignment to keep, by id."""
    checks = [check_source(text, body.source, model.source_language) for text in body.texts]
    translations = [
        _translation(translation, check) for translation, check in zip(found, checks, strict=True)
    ]
    kept = {
        out.id: out.model_dump_json(include=set(AlignmentOut.model_fields)).encode()
        for out in translations
        if out.links is not None
    }
    return TranslateAnswer(translations=translations, model=model.name).model_dump_json().encode(), kept


def _translation(translation: Translation, check: SourceCheck) -> TranslationOut:
    return TranslationOut(
        id=secrets.token_hex(16),
        text=translation.text,
        detected_source=DetectedSourceOut(
            language=check.detection.language, score=round(check.detection.score, 4)
        ),
        flags=[FlagOut(kind=check.flag, sentence=None)] if check.flag else [],
        score=round(translation.score, 6),
        sentences=[_sentence(sentence) for sentence in translation.sentences],
        source_tokens=_tokens(translation.source_tokens),
        target_tokens=_tokens(translation.target_tokens),
        links=_links(translation.links),
        alternatives=[
            AlternativeOut(text=alternative.text, score=round(alternative.score, 6))
            for alternative in translation.alternatives
        ],
        truncated=translation.truncated,
        repaired=translation.repaired,
        n_source_tokens=translation.n_source_tokens,
        n_target_tokens=translation.n_target_tokens,
    )


def _sentence(sentence: SentenceTranslation) -> SentenceOut:
    attention = sentence.attention
    return SentenceOut(
        source=_span(sentence.source),
        target=_span(sentence.target),
        score=round(sentence.score, 6),
        truncated=sentence.truncated,
        source_tokens=_span(sentence.source_tokens),
        target_tokens=_span(sentence.target_tokens),
        attention=None if attention is None else [[round(share, 5) for share in row] for row in attention],
    )


def _span(span: Span) -> SpanOut:
    return SpanOut(start=span.start, end=span.end)


def _tokens(tokens: Sequence[Token] | None) -> list[TokenOut] | None:
    if tokens is None:
        return None
    return [TokenOut(text=token.text, start=token.start, end=token.end) for token in tokens]


def _links(links: Sequence[Link] | None) -> list[LinkOut] | None:
    if links is None:
        return None
    return [LinkOut(source=link.source, target=link.target, score=round(link.score, 5)) for link in links]
