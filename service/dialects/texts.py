"""Texts of a dialect's request through the core call: plain, or markup, taken apart and put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastapi import Request

from nmt.extraction import Extracted
from service.calls import translation_call
from service.calls.limits import check_texts
from service.state import Service
from service.work.scheduler import Options

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

Extract = Callable[[str], Extracted[str]]


@dataclass(frozen=True)
class Translated:
    """A text's translation.

    Attributes:
        text: the translation.
        source: what was translated: the text without its markup.
        n_characters: charged for it.
        n_best: the best translations, this one first; none where n is 1.
    """

    text: str
    source: str
    n_characters: int
    n_best: tuple[str, ...] = ()


async def translate_texts(
    service: Service, request: Request, texts: Sequence[str], options: Options, extract: Extract | None = None
) -> list[Translated]:
    """Translate texts for the caller of ``request``, who is charged for what is translated, not for markup.

    Args:
        service: what translates.
        request: who asks.
        texts: not checked yet.
        options: how to translate.
        extract: takes markup apart; None: the texts are plain.

    Raises:
        InputError: a text is not the markup that it should be.
        TextTooLongError: over a limit.
        ProblemError: see ``service.calls.translation_call``.
    """
    check_texts(list(texts), service.settings)
    if extract is None:
        found = await translation_call.translate(service, request, texts, options)
        return [
            Translated(
                translation.text, text, len(text), tuple(best.text for best in translation.alternatives)
            )
            for text, translation in zip(texts, found, strict=True)
        ]
    taken_apart = await asyncio.to_thread(_each, extract, texts)
    pieces = [piece for one in taken_apart for piece in one.extracts]
    kept = tuple(piece.keep for piece in pieces)
    options = replace(options, alignment="links", keep=kept if any(kept) else None)
    found = []
    if pieces:
        found = await translation_call.translate(service, request, [piece.text for piece in pieces], options)
    return await asyncio.to_thread(_put_together, taken_apart, found)


def _each(extract: Extract, texts: Sequence[str]) -> list[Extracted[str]]:
    return [extract(text) for text in texts]


def _put_together(
    taken_apart: Sequence[Extracted[str]], translations: Sequence[Translation]
) -> list[Translated]:
    written: list[Translated] = []
    used = 0
    for one in taken_apart:
        own = translations[used : used + len(one.extracts)]
        used += len(own)
        texts = [piece.text for piece in one.extracts]
        written.append(Translated(one.restore(own), "\n".join(texts), sum(map(len, texts))))
    return written
