"""``GET /languages``: what this server translates, and how much at once."""

from __future__ import annotations

from functools import cache

import langcodes
from fastapi import APIRouter

from nmt.config import TransformerConfig
from nmt.documents import SUFFIXES
from nmt.memory.files import SUFFIXES as MEMORY_SUFFIXES
from service.calls.limits import HEADS_MAX_CHARACTERS
from service.http.problems import documented
from service.schemas import (
    AttentionShape,
    DocumentRules,
    LanguageName,
    LanguagePair,
    LanguagesAnswer,
    Limits,
    MemoryRules,
)
from service.state import ServiceDependency
from service.work.directions import Direction

router = APIRouter(tags=["server"])


@cache
def name_of(code: str) -> str:
    """The English name of a language, of a region or script too where the code has one (CLDR)."""
    return str(langcodes.Language.get(code).display_name())


@router.get("/languages", summary="Languages and limits", responses=documented(500))
async def languages(service: ServiceDependency) -> LanguagesAnswer:
    """The pairs of languages that this server translates, and the most that a request may ask for."""
    settings, pairs = service.settings, [_pair(direction) for direction in service.directions]
    return LanguagesAnswer(
        pairs=pairs,
        languages=[LanguageName(code=code, name=name_of(code)) for code in service.directions.languages],
        limits=Limits(
            texts=settings.max_texts,
            text_characters=settings.max_text_characters,
            request_characters=settings.max_request_characters,
            beam_size=settings.max_beam_size,
            heads_characters=HEADS_MAX_CHARACTERS,
        ),
        attention=pairs[0].attention,
        documents=DocumentRules(
            suffixes=[f".{suffix}" for suffix in SUFFIXES], bytes=settings.document_max_bytes
        ),
        translation_memories=MemoryRules(
            suffixes=[f".{suffix}" for suffix in MEMORY_SUFFIXES],
            bytes=settings.memory_max_bytes,
            count=settings.memory_max_count,
        ),
        model=pairs[0].model,
    )


def _pair(direction: Direction) -> LanguagePair:
    network = direction.model.model
    return LanguagePair(
        source=direction.source,
        target=direction.target,
        model=direction.model.name,
        formality=direction.engine.has_formality,
        attention=AttentionShape(layers=network.n_decoder_layers, heads=network.n_heads)
        if isinstance(network, TransformerConfig)
        else None,
    )
