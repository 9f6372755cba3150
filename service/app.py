"""The app: its parts put together. What each does is in its own module."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from nmt import __version__
from nmt.detect import detect
from service import problems
from service.metrics import Metrics
from service.middleware import BodyLimitMiddleware, RequestMiddleware
from service.routes import alignment, health, languages, monitoring, pages, translate
from service.scheduler import Scheduler
from service.schemas import AlignmentOut, Problem
from service.state import Service
from service.store import ExpiringStore

if TYPE_CHECKING:
    from service.interface import TextTranslator
    from service.settings import Settings

DESCRIPTION = """Private English-French translation that shows which word came from which.

Errors are RFC 9457 problem details (`application/problem+json`) and never repeat what was sent."""


def create_app(settings: Settings, translator: TextTranslator) -> FastAPI:
    """The service around ``translator``, which belongs to the scheduler's thread from start to end."""
    metrics = Metrics()
    scheduler = Scheduler(
        translator,
        metrics,
        queue_max_requests=settings.queue_max_requests,
        queue_max_characters=settings.queue_max_characters,
        batch_max_characters=settings.batch_max_characters,
    )
    alignments = ExpiringStore(
        settings.alignment_ttl_s, settings.alignment_max_entries, settings.alignment_max_bytes
    )
    app = FastAPI(
        title="Passerelle",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(scheduler, settings),
    )
    app.state.service = Service(
        settings, translator.config, translator.generation, scheduler, alignments, metrics
    )
    for module in (translate, alignment, languages, health, monitoring, pages):
        app.include_router(module.router)
    problems.install(app)
    app.add_middleware(
        BodyLimitMiddleware, max_bytes=settings.max_body_bytes, timeout_s=settings.body_timeout_s
    )
    app.add_middleware(RequestMiddleware, metrics=metrics)  # added last: outermost
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _lifespan(scheduler: Scheduler, settings: Settings) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        scheduler.start()
        detector = asyncio.create_task(asyncio.to_thread(detect, ""))  # the first request need not load it
        yield
        await detector
        await asyncio.to_thread(scheduler.stop, settings.shutdown_timeout_s)

    return lifespan


def _openapi(app: FastAPI) -> dict[str, Any]:
    """OpenAPI with the shapes that answers refer to by hand."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        components = schema["components"]["schemas"]
        for model in (Problem, AlignmentOut):
            own = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
            components.update(own.pop("$defs", {}))
            components[model.__name__] = own
        app.openapi_schema = schema
    return app.openapi_schema
