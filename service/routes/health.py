"""``/health/live`` and ``/health/ready``; neither translates anything."""

from __future__ import annotations

from fastapi import APIRouter

from service.http.problems import ProblemError, documented
from service.schemas import HealthAnswer
from service.state import ServiceDependency

router = APIRouter(prefix="/health", tags=["server"])


@router.head("/live", include_in_schema=False)
@router.get("/live", summary="Is the process alive?", responses=documented(500))
async def live() -> HealthAnswer:
    """200 as long as the server answers at all."""
    return HealthAnswer(status="ok")


@router.head("/ready", include_in_schema=False)
@router.get("/ready", summary="Does it translate?", responses=documented(500, 503))
async def ready(service: ServiceDependency) -> HealthAnswer:
    """200 when every model and the database take work; 503 when one does not, or the server is stopping."""
    if not service.directions.is_ready(stuck_after_s=service.settings.request_timeout_s):
        raise ProblemError(503, "not-ready", "A model does not take work now; ask again in a moment.")
    await service.database.run(service.database.check)
    return HealthAnswer(status="ok")
