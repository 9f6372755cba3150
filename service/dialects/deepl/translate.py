"""``POST /v2/translate``."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BeforeValidator, Field

from nmt.markup import extract_html, extract_xml
from nmt.text.language import detect
from service.calls.auth import CallerDependency
from service.calls.limits import check_context
from service.dialects.deepl.options import (
    CommonFields,
    common_memory,
    common_options,
    refuse_what_is_not_here,
)
from service.dialects.fields import Names, OneOrMore, parse, read_fields
from service.dialects.texts import Extract, translate_texts
from service.schemas import Text
from service.state import ServiceDependency

router = APIRouter()

_LINE_BREAK = re.compile(r"(?<=[^\s])[^\S\n]*\n[^\S\n]*(?=[^\s])")
_LISTS = (
    "text",
    "glossary_ids",
    "non_splitting_tags",
    "splitting_tags",
    "ignore_tags",
    "custom_instructions",
)


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class TranslateFields(CommonFields):
    """Fields; ``preserve_formatting`` and ``tag_handling_version`` change nothing."""

    text: Annotated[list[Text], OneOrMore] = Field(min_length=1)
    context: str | None = None
    show_billed_characters: bool = False
    split_sentences: Annotated[Literal["0", "1", "nonewlines"], BeforeValidator(_as_text)] = "1"
    preserve_formatting: bool = False
    model_type: Literal["quality_optimized", "latency_optimized", "prefer_quality_optimized"] | None = None
    tag_handling: Literal["html", "xml"] | None = None
    tag_handling_version: Literal["v1", "v2"] | None = None
    outline_detection: bool = True
    non_splitting_tags: Names = ()
    splitting_tags: Names = ()
    ignore_tags: Names = ()


@router.post("/v2/translate")
async def translate(request: Request, service: ServiceDependency, caller: CallerDependency) -> dict[str, Any]:
    """Translations in the order of the texts."""
    given = await read_fields(request, lists=_LISTS)
    refuse_what_is_not_here(given)
    fields = parse(TranslateFields, given)
    options = await common_options(service, caller, fields, fields.text)
    memory = await common_memory(service, caller, fields, options)
    check_context(fields.context or "", service.settings)
    asked = {"split_sentences": fields.split_sentences != "0", "context": fields.context or ""}
    options = options.model_copy(update=asked)
    texts = fields.text
    if fields.tag_handling is None and fields.split_sentences != "1":
        texts = [_LINE_BREAK.sub(" ", text) for text in texts]
    translated = await translate_texts(service, request, texts, options, _extract(fields), memory)
    if fields.source_lang:
        sources = [options.languages[0]] * len(translated)
    else:
        sources = await asyncio.to_thread(_detect, [one.source for one in translated], options.languages[0])
    answers: list[dict[str, Any]] = []
    for one, source in zip(translated, sources, strict=True):
        answer: dict[str, Any] = {"detected_source_language": source.upper(), "text": one.text}
        if fields.show_billed_characters:
            answer["billed_characters"] = one.n_characters
        if fields.model_type:
            answer["model_type_used"] = fields.model_type.removeprefix("prefer_")
        answers.append(answer)
    return {"translations": answers}


def _extract(fields: TranslateFields) -> Extract | None:
    if fields.tag_handling is None:
        return None
    return partial(
        extract_html if fields.tag_handling == "html" else extract_xml,
        ignore_tags=fields.ignore_tags,
        splitting_tags=fields.splitting_tags,
        non_splitting_tags=fields.non_splitting_tags,
        outline_detection=fields.outline_detection,
    )


def _detect(texts: list[str], expected: str) -> list[str]:
    """The language of each; where a text does not tell, the one that the model reads."""
    return [detect(text).language or expected for text in texts]
