"""``GET /translations/{id}/alignment``: the alignment of an earlier answer, in four formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Header, Path, Query, Response
from fastapi.concurrency import run_in_threadpool

from service.calls.auth import CallerDependency
from service.heatmap import HeatMapTooLargeError, draw_png, draw_svg, heat_maps
from service.http.problems import ProblemError, documented
from service.schemas import AlignmentOut, SentenceOut
from service.state import ServiceDependency

router = APIRouter(tags=["translation"])

Format = Literal["json", "pharaoh", "svg", "png"]
MEDIA_TYPES: dict[Format, str] = {
    "json": "application/json",
    "pharaoh": "text/plain; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}


@router.get(
    "/translations/{id}/alignment",
    summary="The alignment of an earlier answer",
    response_class=Response,
    responses={
        200: {
            "description": "The alignment",
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/AlignmentOut"}},
                "text/plain": {"schema": {"type": "string", "examples": ["0-0 1-2 2-1"]}},
                "image/svg+xml": {"schema": {"type": "string"}},
                "image/png": {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **documented(404, 406, 422, 500),
    },
)
async def alignment(
    id: Annotated[  # noqa: A002
        str, Path(max_length=64, description="Of a translation with alignment links, soft or heads.")
    ],
    service: ServiceDependency,
    caller: CallerDependency,
    format: Annotated[  # noqa: A002
        Format | None, Query(description="Goes before the Accept header; json when neither says.")
    ] = None,
    sentence: Annotated[
        int | None, Query(ge=0, description="Only this sentence, from 0; for pharaoh, svg and png.")
    ] = None,
    accept: Annotated[str, Header(include_in_schema=False)] = "*/*",
) -> Response:
    """As JSON; as Pharaoh text, a line for each sentence with indices in it; or as a heat map.

    Kept for an hour by default, as long as there is room, and not for translations without alignment.
    """
    chosen = format or negotiate(accept)
    payload = await service.database.run(service.database.alignments.get, caller.key_id, id)
    if payload is None:
        raise ProblemError(
            404,
            "no-such-alignment",
            "There is no alignment under this id: it has expired or made room for newer ones, "
            "or the text was translated with alignment none. Translate it again.",
        )
    headers = {"Cache-Control": "no-store", "Vary": "Accept"}
    if chosen != "json":
        payload = await run_in_threadpool(_render, payload, chosen, sentence)
    return Response(payload, media_type=MEDIA_TYPES[chosen], headers=headers)


def negotiate(accept: str) -> Format:
    """The format that an Accept header likes best, the first of ours when it does not matter.

    Raises:
        ProblemError: 406, it likes none.
    """
    likings = [_liking(accept, MEDIA_TYPES[name].partition(";")[0]) for name in get_args(Format)]
    best = max(likings)
    if best <= 0:
        raise ProblemError(
            406,
            "not-acceptable",
            "There is application/json, text/plain (Pharaoh), image/svg+xml and image/png; "
            "name one in the Accept header or as format=json, pharaoh, svg or png.",
        )
    formats: tuple[Format, ...] = get_args(Format)
    return formats[likings.index(best)]


def _liking(accept: str, media_type: str) -> float:
    """The quality of the most specific range that matches (RFC 9110, section 12.5.1)."""
    found: dict[int, float] = {}
    for part in accept.lower().split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        ranges = (media_type, media_type.partition("/")[0] + "/*", "*/*")
        if media_range in ranges:
            found[-ranges.index(media_range)] = quality
    return found[max(found)] if found else 0.0


def _render(payload: bytes, chosen: Format, sentence: int | None) -> bytes:
    kept = AlignmentOut.model_validate_json(payload)
    sentences = kept.sentences
    if sentence is not None:
        if sentence >= len(sentences):
            raise ProblemError(
                404, "no-such-sentence", f"This translation has {len(sentences)} sentences, counted from 0."
            )
        sentences = sentences[sentence : sentence + 1]
    if chosen == "pharaoh":
        return pharaoh(kept, sentences).encode()
    draw: Callable[..., bytes] = draw_svg if chosen == "svg" else draw_png
    try:
        return draw(heat_maps(kept, sentences))
    except HeatMapTooLargeError as error:
        raise ProblemError(422, "heat-map-too-large", str(error)) from None


def pharaoh(kept: AlignmentOut, sentences: Sequence[SentenceOut]) -> str:
    """A line "0-0 1-2" for each sentence; indices count the sentence's own tokens."""
    lines = []
    for sentence in sentences:
        pairs = sorted(
            (link.source - sentence.source_tokens.start, link.target - sentence.target_tokens.start)
            for link in kept.links or []
            if sentence.target_tokens.start <= link.target < sentence.target_tokens.end
        )
        lines.append(" ".join(f"{source}-{target}" for source, target in pairs) + "\n")
    return "".join(lines)
