"""What DeepL's requests for texts and for documents have in common: languages, formality, glossaries."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nmt.errors import InputError
from nmt.terms import Glossary, Term, is_exact
from service.auth import Caller
from service.dialects.deepl.glossaries import find_entries
from service.dialects.deepl.languages import check_source, check_target
from service.dialects.fields import Names
from service.limits import options
from service.scheduler import Options
from service.schemas import Language, TranslateRequest
from service.state import Service

MOST_GLOSSARIES = 5

_FORMALITY: dict[str, Literal["default", "formal", "informal"]] = {
    "default": "default",
    "more": "formal",
    "prefer_more": "formal",
    "less": "informal",
    "prefer_less": "informal",
}
_REFUSED = {
    "custom_instructions": "custom instructions",
    "style_id": "style rules",
    "translation_memory_id": "translation memories",
    "translation_memory_threshold": "translation memories",
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


def refuse_what_is_not_here(fields: dict[str, Any]) -> None:
    """Raises ``InputError`` for what cannot be done and would change the translation."""
    for name, what in _REFUSED.items():
        if fields.get(name) not in (None, "", []):
            raise InputError(f"{name}: this server has no {what}; leave it out")


async def common_options(service: Service, caller: Caller, fields: CommonFields) -> Options:
    """How to translate.

    Raises:
        UnsupportedLanguageError: the model does not translate from this language, or to that one.
        InputError: a glossary without a source language, which DeepL does not take either.
        ProblemError: 404, there is no such glossary.
    """
    check_source(fields.source_lang, service.model)
    check_target(fields.target_lang, service.model)
    asked = TranslateRequest(text="", formality=_FORMALITY[fields.formality])
    chosen = options(asked, service.model, service.generation, service.settings)
    ids = [fields.glossary_id] if fields.glossary_id else list(fields.glossary_ids)
    if not ids:
        return chosen
    if fields.glossary_id and fields.glossary_ids:
        raise InputError("glossary_ids: cannot be used together with glossary_id")
    if not fields.source_lang:
        raise InputError("source_lang: is needed with a glossary")
    terms: dict[str, Term] = {}
    for glossary_id in ids:
        for source, target in await find_entries(service, caller, glossary_id):
            key = source if is_exact(source) else source.lower()
            terms.setdefault(key, Term(source, target))  # the first glossary that has a term counts
    return replace(chosen, glossary=await asyncio.to_thread(Glossary.of, terms.values()))
