"""``markup`` of ``POST /translate``: HTML or XML is taken apart, translated and put together again."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastapi import Request

from nmt.errors import InputError
from nmt.extraction import Extracted, share_out, to_translate
from nmt.markup import extract_html, extract_xml
from nmt.options import TranslationOptions
from service.calls import translation_call
from service.schemas import (
    DetectedSourceOut,
    FlagOut,
    MemoryUseOut,
    TranslateAnswer,
    TranslateRequest,
    TranslationOut,
)
from service.state import Service
from service.work.scheduler import Job
from service.work.source_language import check_source

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation


def refuse_what_markup_has_not(body: TranslateRequest, *, streamed: bool) -> None:
    """Raises ``InputError`` for what is told by offsets in a text, for markup has other ones."""
    asked = [
        name
        for name, is_asked in (
            ("alignment", body.alignment != "none"),
            ("alignment_format", body.alignment_format != "links"),
            ("n_best", body.n_best > 1),
            ("prefix", body.prefix is not None),
            ("Accept: text/event-stream", streamed),
        )
        if is_asked
    ]
    if asked:
        raise InputError(f"markup gives whole texts: leave out {', '.join(asked)}")


async def translate_markup(
    body: TranslateRequest,
    options: TranslationOptions,
    request: Request,
    service: Service,
    memory: tuple[str, float] | None = None,
) -> TranslateAnswer:
    """Markup in, markup out; flags and confidence are there, offsets are not.

    Raises:
        InputError: XML that is not well-formed.
        ProblemError: see ``service.calls.translation_call``.
    """
    extract = extract_html if body.markup == "html" else extract_xml
    taken_apart = await asyncio.to_thread(lambda: [extract(text) for text in body.texts])
    pieces, keep = to_translate([piece for one in taken_apart for piece in one.extracts])
    found: list[Translation] = []
    if pieces:
        job = Job(
            tuple(pieces), options.model_copy(update={"alignment": "links"}), tuple(keep), memory=memory
        )
        found = await translation_call.translate(service, request, job)
    direction = service.directions.of(options)
    translations = [
        await asyncio.to_thread(_translation, one, own, body.source, direction.source)
        for one, own in share_out(taken_apart, found)
    ]
    return TranslateAnswer(
        translations=translations,
        source=direction.source,
        target=direction.target,
        model=direction.model.name,
    )


def recalled_out(translation: Translation) -> list[MemoryUseOut]:
    """Matches of the translation memory for a text."""
    return [MemoryUseOut.model_validate(one, from_attributes=True) for one in translation.memory]


def _translation(
    extracted: Extracted[str], own: Sequence[Translation], declared: str, expected: str
) -> TranslationOut:
    words = " ".join(piece.text for piece in extracted.extracts)
    check = check_source(words, declared, expected)
    kinds = dict.fromkeys(flag.kind for translation in own for flag in translation.flags)
    n_tokens = sum(translation.n_target_tokens for translation in own)
    sure = [
        (translation.confidence, len(piece.text))
        for piece, translation in zip(extracted.extracts, own, strict=True)
        if translation.confidence is not None
    ]
    n_sure = sum(length for _, length in sure)
    return TranslationOut(
        id=secrets.token_hex(16),
        text=extracted.restore(own),
        detected_source=DetectedSourceOut(
            language=check.detection.language, score=round(check.detection.score, 4)
        ),
        flags=[FlagOut(kind=kind, sentence=None) for kind in ([check.flag] if check.flag else []) + [*kinds]],
        confidence=round(sum(share * length for share, length in sure) / n_sure, 4) if n_sure else None,
        word_confidence=None,
        terms=[],
        memory=[
            one.model_copy(update={"sentence": None})
            for translation in own
            for one in recalled_out(translation)
        ],
        proj=None,
        score=round(sum(one.score * one.n_target_tokens for one in own) / n_tokens, 6) if n_tokens else 0.0,
        sentences=[],
        source_tokens=None,
        target_tokens=None,
        links=None,
        alternatives=[],
        truncated=any(translation.truncated for translation in own),
        repaired=any(translation.repaired for translation in own),
        n_source_tokens=sum(translation.n_source_tokens for translation in own),
        n_target_tokens=n_tokens,
    )
