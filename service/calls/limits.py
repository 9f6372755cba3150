"""Limits of one request, and its options as the library's; messages name the limit, never the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastapi import Request
from pydantic import ValidationError

from nmt.config import AlignmentConfig, GenerationConfig, ModelFolderConfig, TransformerConfig
from nmt.errors import InputError, TextTooLongError
from nmt.options import BEST_BEAM, TranslationOptions
from nmt.text.glossary import Glossary, Term
from service.http.problems import ProblemError
from service.schemas import AttentionIn, TermIn, TranslateRequest
from service.settings import Settings
from service.work.directions import Direction

if TYPE_CHECKING:
    from nmt.translator import AlignmentKind

HEADS_MAX_CHARACTERS = 1000
"""Characters of the text whose heads may be asked for: an answer holds at most a few megabytes of them."""


async def require_json(request: Request) -> None:  # async: it waits for nothing, and needs no thread
    """Refuse a body that does not say it is JSON (415). It also keeps other sites' forms out."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        raise ProblemError(
            415, "not-json", "The body must be JSON: send the header 'Content-Type: application/json'."
        )


def check_texts(texts: list[str], settings: Settings) -> None:
    """Raises ``InputError`` when there is no text, ``TextTooLongError`` for too many or too long ones."""
    if not texts:
        raise InputError("text is an empty list; send at least one text")
    if len(texts) > settings.max_texts:
        raise TextTooLongError(
            f"{len(texts)} texts in one request; the limit is {settings.max_texts}: send several requests"
        )
    for index, text in enumerate(texts):
        if len(text) > settings.max_text_characters:
            raise TextTooLongError(
                f"text {index} has {len(text)} characters; the limit is {settings.max_text_characters}: "
                f"split it at a paragraph"
            )
    n_characters = sum(len(text) for text in texts)
    if n_characters > settings.max_request_characters:
        raise TextTooLongError(
            f"the texts have {n_characters} characters together; the limit is "
            f"{settings.max_request_characters}: send several requests"
        )


def check_context(context: str, settings: Settings) -> None:
    """Raises ``TextTooLongError`` for what is longer than a text may be."""
    if len(context) > settings.max_text_characters:
        raise TextTooLongError(
            f"context has {len(context)} characters; the limit is {settings.max_text_characters}: send what "
            f"stands next to the text"
        )


def options(
    request: TranslateRequest, direction: Direction, settings: Settings, *, confidence: bool = True
) -> TranslationOptions:
    """The request's options over the defaults of the direction's model, whose languages are the request's.

    Without a beam size, n_best widens the beam. ``confidence`` costs time: False where no answer tells it.

    Raises:
        InputError: a beam larger than this server allows, fewer hypotheses than alternatives, a glossary
            with a term twice, a layer or head that the model does not have, heads of several texts.
        TextTooLongError: heads are asked for of a text that is too long for them.
    """
    if request.alignment == "heads":
        _check_heads(request.texts)
    generation = direction.generation
    beam_size = request.beam_size or max(min(generation.beam_size, settings.max_beam_size), request.n_best)
    if beam_size > settings.max_beam_size:
        name = "beam_size" if request.beam_size else "n_best"
        raise InputError(f"{name} {beam_size} is over the limit of this server, {settings.max_beam_size}")
    _check_quality(request, settings)
    check_context(request.context, settings)
    asked: dict[str, Any] = {"beam_size": beam_size, "n_best": request.n_best}
    if request.length_penalty is not None:
        asked |= {"length_penalty": request.length_penalty, "length_normalization": "gnmt"}
    try:
        chosen = GenerationConfig.model_validate(generation.model_dump() | asked)
    except ValidationError as error:
        messages = (problem["msg"].removeprefix("Value error, ") for problem in error.errors())
        raise InputError("; ".join(messages)) from None
    return TranslationOptions(
        source=direction.source,
        target=direction.target,
        alignment=_alignment(request),
        confidence=confidence,
        generation=chosen,
        glossary=glossary_of(request.glossary),
        formality=request.formality,
        context=request.context,
        quality=request.quality,
        french_typography=request.french_typography,
        split_sentences=request.split_sentences,
        min_confidence=request.min_confidence,
        attention=_attention(request.attention, direction.model),
        prefixes=_prefixes(request, settings),
    )


def check_prefix(prefixes: Sequence[str], settings: Settings) -> None:
    """Raises ``TextTooLongError`` when the beginnings of a translation are longer than a text may be."""
    n_characters = sum(map(len, prefixes))
    if n_characters > settings.max_text_characters:
        raise TextTooLongError(
            f"prefix has {n_characters} characters; the limit is {settings.max_text_characters}: shorten it"
        )


def _prefixes(request: TranslateRequest, settings: Settings) -> tuple[str, ...]:
    """Raises ``InputError`` when they are of several texts."""
    check_prefix(request.prefixes, settings)
    if request.prefixes and len(request.texts) > 1:
        raise InputError(f"prefix is of one text, and these are {len(request.texts)}: send each by itself")
    return request.prefixes if any(map(str.strip, request.prefixes)) else ()


def _check_quality(request: TranslateRequest, settings: Settings) -> None:
    """Raises ``InputError`` where quality and another field both say how widely to search."""
    if request.quality == "balanced":
        return
    if request.beam_size is not None:
        raise InputError(
            f"quality {request.quality} says how widely to search, as beam_size does: leave one out"
        )
    if request.quality == "fast" and request.n_best > 1:
        raise InputError(f"quality fast finds one translation: leave n_best {request.n_best} out")
    if request.quality == "best" and settings.max_beam_size < BEST_BEAM:
        raise InputError(
            f"quality best searches with a beam of {BEST_BEAM}; the limit of this server is "
            f"{settings.max_beam_size}: choose balanced"
        )


def _check_heads(texts: list[str]) -> None:
    """Raises ``InputError`` for several texts, ``TextTooLongError`` for a long one."""
    if len(texts) > 1:
        raise InputError(f"alignment heads is for one text, these are {len(texts)}: send one")
    if len(texts[0]) > HEADS_MAX_CHARACTERS:
        raise TextTooLongError(
            f"the text has {len(texts[0])} characters; with alignment heads the limit is "
            f"{HEADS_MAX_CHARACTERS}: send a sentence of it"
        )


def _alignment(request: TranslateRequest) -> AlignmentKind:
    """Azure's format needs links, whether they were asked for or not."""
    needs_links = request.alignment == "none" and request.alignment_format == "azure"
    return "links" if needs_links else request.alignment


def glossary_of(asked: list[TermIn] | None) -> Glossary | None:
    """The terms of a request; None: it has none.

    Raises:
        InputError: a term is blank or there twice; the message has its number.
    """
    if not asked:
        return None
    try:
        return Glossary.of(Term(term.source, term.target, term.inflect) for term in asked)
    except InputError as error:
        raise InputError(f"glossary: {error}") from None


def _attention(asked: AttentionIn | None, model: ModelFolderConfig) -> AlignmentConfig | None:
    """Raises ``InputError`` for a layer or head that the model does not have."""
    if asked is None:
        return None
    if not isinstance(model.model, TransformerConfig):
        raise InputError("attention: this model has no layers and heads to name; leave it out")
    n_layers, n_heads = model.model.n_decoder_layers, model.model.n_heads
    if asked.layer >= n_layers or any(head >= n_heads for head in asked.heads or []):
        raise InputError(
            f"attention: this model has decoder layers 0 to {n_layers - 1} and heads 0 to {n_heads - 1}"
        )
    return AlignmentConfig(layer=asked.layer, heads=None if asked.heads is None else tuple(asked.heads))
