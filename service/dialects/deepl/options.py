"""Common fields of DeepL's requests for texts and for documents: languages, formality, glossaries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nmt.errors import InputError
from nmt.memory.unit import LEAST_THRESHOLD
from nmt.options import TranslationOptions
from nmt.text.glossary import Glossary, Term, is_exact
from service.calls.auth import Caller
from service.calls.limits import options
from service.calls.memory import memory_wish
from service.dialects.deepl.glossaries import find_entries
from service.dialects.deepl.languages import fitting
from service.dialects.fields import Names
from service.schemas import Language, TranslateRequest
from service.state import Service
from service.work.source_language import AUTO

MOST_GLOSSARIES = 5

_FORMALITY: dict[str, Literal["default", "formal", "informal"]] = {
    "default": "default",
    "more": "formal",
    "prefer_more": "formal",
    "less": "informal",
    "prefer_less": "informal",
}
WITHOUT_FORMALITY = ("en",)
"""Languages that do not tell how people are addressed."""
_REFUSED = {
    "custom_instructions": "custom instructions",
    "style_id": "style rules",
}


class CommonFields(BaseModel):
    """Fields of both."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target_lang: Language
    source_lang: Language | None = None
    formality: Literal["default", "more", "less", "prefer_more", "prefer_less"] = "default"
    glossary_id: str | None = None
    glossary_ids: Names = Field((), max_length=MOST_GLOSSARIES)
    enable_beta_languages: bool = False
    translation_memory_id: str | None = None
    translation_memory_threshold: int | None = Field(None, ge=0, le=100)


def refuse_what_is_not_here(fields: dict[str, Any]) -> None:
    """Raises ``InputError`` for what cannot be done and would change the translation."""
    for name, what in _REFUSED.items():
        if fields.get(name) not in (None, "", []):
            raise InputError(f"{name}: this server has no {what}; leave it out")


async def common_memory(
    service: Service, caller: Caller, fields: CommonFields, options: TranslationOptions
) -> tuple[str, float] | None:
    """The translation memory of a job. Below a half the threshold is a half, see ``nmt.memory.unit``.

    Raises:
        InputError: the memory is of another direction, or there is a threshold without one.
        ProblemError: 404, there is no such memory.
    """
    asked = fields.translation_memory_threshold
    threshold = None if asked is None else max(LEAST_THRESHOLD, asked / 100)
    return await memory_wish(
        service,
        caller,
        service.directions.of(options),
        fields.translation_memory_id,
        threshold,
        "translation_memory_threshold",
    )


async def common_options(
    service: Service, caller: Caller, fields: CommonFields, texts: Sequence[str]
) -> TranslationOptions:
    """How to translate.

    Args:
        service: what translates.
        caller: whose glossaries there are.
        fields: what was asked.
        texts: tell the language to translate from where ``source_lang`` does not.

    Raises:
        UnsupportedLanguageError: nothing translates from this language, or to that one.
        InputError: formality where the target has none, or a glossary without a source language, neither of
            which DeepL takes.
        ProblemError: 404, there is no such glossary.
    """
    first, *_ = fitting(service.directions, fields.source_lang, fields.target_lang)
    source = first.source if fields.source_lang else AUTO
    direction = await service.directions.choose(source, first.target, texts)
    formality = _FORMALITY[fields.formality]
    if direction.target in WITHOUT_FORMALITY:
        if fields.formality in ("more", "less"):
            raise InputError(
                f"formality: target_lang {direction.target.upper()} has none; leave it out, or ask for "
                "prefer_more or prefer_less"
            )
        formality = "default"
    chosen = options(
        TranslateRequest(text="", formality=formality), direction, service.settings, confidence=False
    )
    ids = [fields.glossary_id] if fields.glossary_id else list(fields.glossary_ids)
    if not ids:
        return chosen
    if fields.glossary_id and fields.glossary_ids:
        raise InputError("glossary_ids: cannot be used together with glossary_id")
    if not fields.source_lang:
        raise InputError("source_lang: is needed with a glossary")
    languages = direction.source, direction.target
    terms: dict[str, Term] = {}
    for glossary_id in ids:
        found = await find_entries(service, caller, glossary_id, languages)
        if not found:
            raise InputError(
                f"{'glossary_id' if fields.glossary_id else 'glossary_ids'}: the glossary has no dictionary "
                f"from {direction.source.upper()} to {direction.target.upper()}"
            )
        for term, translation in found:
            key = term if is_exact(term) else term.lower()
            terms.setdefault(key, Term(term, translation))  # the first glossary that has a term counts
    return chosen.model_copy(update={"glossary": await asyncio.to_thread(Glossary.of, terms.values())})
