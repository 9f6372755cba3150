"""Texts of a dialect's request through the core call: plain, or markup, taken apart and put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import Request

from nmt.extraction import Extracted, share_out, to_translate
from nmt.options import TranslationOptions
from service.calls import translation_call
from service.calls.limits import check_texts
from service.state import Service
from service.work.scheduler import Job

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
    service: Service,
    request: Request,
    texts: Sequence[str],
    options: TranslationOptions,
    extract: Extract | None = None,
    memory: tuple[str, float] | None = None,
) -> list[Translated]:
    """Translate texts for the caller of ``request``, who is charged for what is translated, not for markup.

    Args:
        service: what translates.
        request: who asks.
        texts: not checked yet.
        options: how to translate.
        extract: takes markup apart; None: the texts are plain.
        memory: id of a translation memory of the caller, and threshold.

    Raises:
        InputError: a text is not the markup that it should be.
        TextTooLongError: over a limit.
        ProblemError: see ``service.calls.translation_call``.
    """
    check_texts(list(texts), service.settings)
    if extract is None:
        found = await translation_call.translate(service, request, Job(tuple(texts), options, memory=memory))
        return [
            Translated(
                translation.text, text, len(text), tuple(best.text for best in translation.alternatives)
            )
            for text, translation in zip(texts, found, strict=True)
        ]
    taken_apart = await asyncio.to_thread(_each, extract, texts)
    pieces, keep = to_translate([piece for one in taken_apart for piece in one.extracts])
    options = options.model_copy(update={"alignment": "links"})
    found = []
    if pieces:
        job = Job(tuple(pieces), options, tuple(keep) if any(keep) else None, memory=memory)
        found = await translation_call.translate(service, request, job)
    return await asyncio.to_thread(_put_together, taken_apart, found)


def _each(extract: Extract, texts: Sequence[str]) -> list[Extracted[str]]:
    return [extract(text) for text in texts]


def _put_together(
    taken_apart: Sequence[Extracted[str]], translations: Sequence[Translation]
) -> list[Translated]:
    written: list[Translated] = []
    for one, own in share_out(taken_apart, translations):
        texts, _ = to_translate(one.extracts)
        written.append(Translated(one.restore(own), "\n".join(texts), sum(map(len, texts))))
    return written
