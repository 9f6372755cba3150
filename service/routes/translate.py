"""``POST /translate``."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from nmt.batching.events import PartFinished
from nmt.options import TranslationOptions
from service.calls import translation_call
from service.calls.auth import current_caller
from service.calls.limits import check_texts, options, require_json
from service.calls.memory import memory_wish
from service.http.problems import documented, problem_of
from service.routes.markup import recalled_out, refuse_what_markup_has_not, translate_markup
from service.schemas import (
    AlignmentOut,
    AlternativeOut,
    DetectedSourceOut,
    FlagOut,
    HeadsOut,
    LinkOut,
    SentenceEvent,
    SentenceOut,
    SpanOut,
    TermOut,
    TokenOut,
    TranslateAnswer,
    TranslateRequest,
    TranslationOut,
)
from service.state import Service, ServiceDependency
from service.work.scheduler import Job
from service.work.source_language import SourceCheck, check_source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from nmt.config import ModelFolderConfig
    from nmt.pipeline.result import Alternative
    from nmt.translator import Link, SentenceTranslation, Span, Token, Translation

router = APIRouter(tags=["translation"])

EVENT_STREAM = "text/event-stream"
MOST_WRITTEN_AT_ONCE = 1000
"""Characters whose answer takes less time to write than to hand to another thread, about half a millisecond.
Of longer ones, and of matrices, other requests are not to wait for the writing."""


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

    With `Accept: text/event-stream` sentences come one by one as server-sent events: `sentence` for each, in
    order, then `done` with the whole answer, or `error` with a problem. `X-Request-Timeout` says after how
    many seconds to give up.
    """
    check_texts(body.texts, service.settings)
    direction = await service.directions.choose(body.source, body.target, body.texts)
    chosen = options(body, direction, service.settings)
    memory = await memory_wish(
        service, current_caller(request), direction, body.translation_memory, body.threshold
    )
    if body.markup is not None:
        refuse_what_markup_has_not(body, streamed=wants_events(request))
        answer = await translate_markup(body, chosen, request, service, memory)
        payload = answer.model_dump_json().encode()
        return Response(payload, media_type="application/json", headers={"Cache-Control": "no-store"})
    if wants_events(request):
        return await stream_answer(body, chosen, request, service, memory)
    found = await translation_call.translate(service, request, Job(tuple(body.texts), chosen, memory=memory))
    payload = await _answer(found, body, chosen, request, service)
    return Response(payload, media_type="application/json", headers={"Cache-Control": "no-store"})


async def _answer(
    found: Sequence[Translation],
    body: TranslateRequest,
    chosen: TranslationOptions,
    request: Request,
    service: Service,
) -> bytes:
    """The answer as JSON; its alignments are kept for later."""
    model = service.directions.of(chosen).model
    if body.alignment in ("none", "links") and sum(map(len, body.texts)) <= MOST_WRITTEN_AT_ONCE:
        async with service.own_turn():
            payload, kept = _write(found, body, model)
    else:
        payload, kept = await asyncio.to_thread(_write, found, body, model)
    if kept:
        await service.database.run(service.database.alignments.put, current_caller(request).key_id, kept)
    return payload


async def stream_answer(
    body: TranslateRequest,
    chosen: TranslationOptions,
    request: Request,
    service: Service,
    memory: tuple[str, float] | None = None,
) -> Response:
    """The same by server-sent events. What goes wrong before the first one has a status of its own."""
    events = translation_call.stream(service, request, Job(tuple(body.texts), chosen, memory=memory))
    first = await anext(events)

    async def written() -> AsyncIterator[bytes]:
        event: PartFinished | list[Translation] = first
        try:
            while isinstance(event, PartFinished):
                yield server_sent("sentence", _part(event).model_dump_json().encode())
                event = await anext(events)
            yield server_sent("done", await _answer(event, body, chosen, request, service))
        except Exception as error:
            problem = await problem_of(error, request)
            yield server_sent("error", bytes(problem.body))
        finally:
            await events.aclose()

    return StreamingResponse(
        written(), media_type=EVENT_STREAM, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


def wants_events(request: Request) -> bool:
    """Whether the Accept header asks for server-sent events."""
    accepted = (
        part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")
    )
    return EVENT_STREAM in accepted


def server_sent(name: str, data: bytes) -> bytes:
    """One event; ``data`` is JSON without line breaks."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def _part(part: PartFinished) -> SentenceEvent:
    translation = part.translation
    return SentenceEvent(
        text_index=part.text,
        sentence_index=part.sentence,
        n_sentences=part.n_sentences,
        source=_span(part.source),
        text=translation.text,
        score=round(translation.score, 6),
        flags=[FlagOut(kind=flag.kind, sentence=part.sentence) for flag in translation.flags],
        source_tokens=_tokens(translation.source_tokens),
        target_tokens=_tokens(translation.target_tokens),
        links=_links(translation.links),
        memory=[one.model_copy(update={"sentence": part.sentence}) for one in recalled_out(translation)],
    )


def _write(
    found: Sequence[Translation], body: TranslateRequest, model: ModelFolderConfig
) -> tuple[bytes, dict[str, bytes]]:
    """The answer's JSON, and that of each alignment to keep, by id."""
    checks = [check_source(text, body.source, model.source_language) for text in body.texts]
    translations = [
        _translation(translation, check, body) for translation, check in zip(found, checks, strict=True)
    ]
    kept = {
        out.id: _to_keep(out).model_dump_json(include=set(AlignmentOut.model_fields)).encode()
        for out in translations
        if out.links is not None
    }
    answer = TranslateAnswer(
        translations=translations,
        source=model.source_language,
        target=model.target_language,
        model=model.name,
    )
    return answer.model_dump_json().encode(), kept


def _to_keep(out: TranslationOut) -> TranslationOut:
    """Without heads, which are megabytes and had again by asking again, and without alternatives."""
    less: dict[str, Any] = {"heads": None, "alternatives": []}
    sentences = [sentence.model_copy(update=less) for sentence in out.sentences]
    return out.model_copy(update={"sentences": sentences})


def _translation(translation: Translation, check: SourceCheck, body: TranslateRequest) -> TranslationOut:
    return TranslationOut(
        id=secrets.token_hex(16),
        text=translation.text,
        detected_source=DetectedSourceOut(
            language=check.detection.language, score=round(check.detection.score, 4)
        ),
        flags=[
            *([FlagOut(kind=check.flag, sentence=None)] if check.flag else []),
            *(FlagOut(kind=flag.kind, sentence=flag.sentence) for flag in translation.flags),
        ],
        confidence=_share(translation.confidence),
        word_confidence=None
        if translation.word_confidence is None
        else [round(share, 4) for share in translation.word_confidence],
        terms=[TermOut(source=_span(term.source), target=_span(term.target)) for term in translation.terms],
        memory=recalled_out(translation),
        proj=azure_alignment(translation) if body.alignment_format == "azure" else None,
        score=round(translation.score, 6),
        sentences=[_sentence(sentence) for sentence in translation.sentences],
        source_tokens=_tokens(translation.source_tokens),
        target_tokens=_tokens(translation.target_tokens),
        links=_links(translation.links),
        alternatives=_alternatives(translation.alternatives),
        truncated=translation.truncated,
        repaired=translation.repaired,
        n_source_tokens=translation.n_source_tokens,
        n_target_tokens=translation.n_target_tokens,
    )


def azure_alignment(translation: Translation) -> str | None:
    """The links as Azure Translator 3.0 wrote them, in the order of the source; None without links.

    "0:4-0:5 6:9-7:11": first and last character of a word of the source, then of the target.
    """
    sources, targets, links = translation.source_tokens, translation.target_tokens, translation.links
    if sources is None or targets is None or links is None:
        return None
    pairs = sorted((link.source, link.target) for link in links)
    spans = ((sources[source], targets[target]) for source, target in pairs)
    return " ".join(f"{one.start}:{one.end - 1}-{other.start}:{other.end - 1}" for one, other in spans)


def _sentence(sentence: SentenceTranslation) -> SentenceOut:
    attention = sentence.attention
    return SentenceOut(
        source=_span(sentence.source),
        target=_span(sentence.target),
        score=round(sentence.score, 6),
        truncated=sentence.truncated,
        source_tokens=_span(sentence.source_tokens),
        target_tokens=_span(sentence.target_tokens),
        confidence=_share(sentence.confidence),
        attention=None if attention is None else [[round(share, 5) for share in row] for row in attention],
        heads=None
        if sentence.heads is None
        else HeadsOut.model_validate(sentence.heads, from_attributes=True),
        alternatives=_alternatives(sentence.alternatives),
    )


def _alternatives(alternatives: Sequence[Alternative]) -> list[AlternativeOut]:
    return [AlternativeOut(text=one.text, score=round(one.score, 6)) for one in alternatives]


def _share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


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
