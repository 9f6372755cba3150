"""``POST /alternatives``: the words that may follow the beginning of a translation."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from nmt.options import TranslationOptions
from service.calls import translation_call
from service.calls.limits import check_prefix, check_texts, require_json
from service.http.problems import documented
from service.schemas import AlternativesAnswer, AlternativesRequest, NextWordOut
from service.state import ServiceDependency
from service.work.scheduler import Job

router = APIRouter(tags=["translation"])


@router.post(
    "/alternatives",
    summary="Words that may follow the beginning of a translation",
    responses=documented(400, 408, 413, 415, 422, 429, 500, 503, 504),
    dependencies=[Depends(require_json)],
)
async def alternatives(
    body: AlternativesRequest, request: Request, response: Response, service: ServiceDependency
) -> AlternativesAnswer:
    """Whole words and punctuation marks, likeliest first, with their probabilities.

    Each has the `prefix` with which `/translate` goes on from it. The text is one sentence.
    """
    check_texts([body.text], service.settings)
    check_prefix([body.prefix], service.settings)
    direction = await service.directions.choose(body.source, body.target, [body.text])
    chosen = TranslationOptions(
        source=direction.source,
        target=direction.target,
        formality=body.formality,
        french_typography=body.french_typography,
        split_sentences=False,
        prefixes=(body.prefix,),
        next_words=body.count,
    )
    [found] = await translation_call.translate(service, request, Job((body.text,), chosen))
    response.headers["Cache-Control"] = "no-store"
    return AlternativesAnswer(
        alternatives=[
            NextWordOut(text=word.text, prefix=word.prefix, probability=round(word.probability, 6))
            for sentence in found.sentences
            for word in sentence.next_words
        ],
        source=direction.source,
        target=direction.target,
        model=direction.model.name,
    )
