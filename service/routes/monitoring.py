"""``GET /metrics`` for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response

from service.http.metrics import CONTENT_TYPE
from service.http.problems import documented
from service.state import ServiceDependency

router = APIRouter(tags=["server"])


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=PlainTextResponse,
    responses={
        200: {"content": {"text/plain": {"example": 'passerelle_queue_requests{direction="en-fr"} 0.0\n'}}},
        **documented(500),
    },
)
async def metrics(service: ServiceDependency) -> Response:
    """Latency, queue depth, batch fill, tokens and more, in Prometheus' text format."""
    n_alignments, n_bytes = await service.database.run(service.database.alignments.totals)
    service.metrics.alignments.set(n_alignments)
    service.metrics.alignment_bytes.set(n_bytes)
    return Response(service.metrics.render(), media_type=CONTENT_TYPE)
