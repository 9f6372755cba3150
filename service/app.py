"""The app: its parts put together. What each does is in its own module."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import structlog
from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.utils import get_openapi

from nmt import __version__
from nmt.documents import DocumentLimits
from nmt.text.language import detect
from service.calls.auth import (
    DEEPL,
    GOOGLE,
    MEMORY_UPLOAD,
    MICROSOFT,
    KeyMiddleware,
    check_deepl_key,
    check_key,
    check_libretranslate_key,
    check_of,
)
from service.calls.document_jobs import DocumentJobs
from service.calls.jobs import JobRunner
from service.calls.memory_imports import MemoryImports
from service.calls.overload import OverloadMiddleware
from service.database.database import Database, DatabaseUnavailableError
from service.dialects import deepl, google, libretranslate, microsoft, openai
from service.dialects.documents import FORM_BYTES
from service.examples import EXAMPLES
from service.http import problems
from service.http.hosts import HostMiddleware
from service.http.logs import describe
from service.http.metrics import Metrics
from service.http.middleware import BodyLimitMiddleware, RequestMiddleware
from service.http.tracing import TracingMiddleware, exporting_provider
from service.routes import (
    alignment,
    alternatives,
    check,
    health,
    languages,
    monitoring,
    pages,
    translate,
    usage,
)
from service.routes import documents as documents_routes
from service.routes import jobs as jobs_routes
from service.routes import memories as memories_routes
from service.schemas import AlignmentOut, JobResultLine, Problem
from service.state import Service
from service.work.directions import Directions
from service.work.engine.base import Engine
from service.work.engine.local import LocalEngine

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from service.settings import Settings
    from service.work.interface import TextTranslator

    Translates: TypeAlias = Engine | TextTranslator

log = structlog.get_logger()

DESCRIPTION = """Private English-French translation that shows which word came from which.

Errors are RFC 9457 problem details (`application/problem+json`) and never repeat what was sent."""


SWEEP_EVERY_S = 60
TRANSLATING = (
    "/translate",
    "/alternatives",
    "/v2/translate",
    *(dialect.TRANSLATING for dialect in (openai, google, microsoft)),
)  # what nobody gets past while every queue is full
UPLOADS = ("/documents",)  # paths that take files
JOBS = "/jobs"
MEMORY_UPLOADS = ("/translation-memories", MEMORY_UPLOAD)
FORM_UPLOADS = (*deepl.UPLOADS, *libretranslate.UPLOADS)  # as a field of a form
ERROR_SHAPES = {
    **dict.fromkeys(deepl.PREFIXES, deepl.shape),
    f"{libretranslate.PREFIX}/": libretranslate.shape,
    **{dialect.PREFIX: dialect.shape for dialect in (openai, google, microsoft)},
}
KEYS = {
    **dict.fromkeys(deepl.PREFIXES, DEEPL),
    f"{libretranslate.PREFIX}/": None,
    google.PREFIX: GOOGLE,
    microsoft.PREFIX: MICROSOFT,
}


def create_app(
    settings: Settings,
    translators: Translates | Sequence[Translates],
    *,
    database: Database | None = None,
    keys_required: bool | None = None,
    tracing: TracerProvider | None = None,
    host: str | None = None,
) -> FastAPI:
    """The service around engines, or around translators, each of which then gets a thread of its own.

    Args:
        settings: of the service.
        translators: what translates, one for each direction, the default first: engines, started and stopped
            by the app, or any translators.
        database: opened and prepared; the app closes it. None: the one that the settings name.
        keys_required: whether requests need a key. None: as the settings say; auto is yes, as where the app
            will listen is not known here.
        tracing: makes the spans of requests; the app shuts it down. None: as the settings say.
        host: the name or address that the server is told to listen on, to which it answers.

    Raises:
        ConfigError: two of them translate between the same languages.
    """
    if database is None:
        database = Database(settings)
        database.prepare()
    if keys_required is None:
        keys_required = settings.keys != "off"
    if tracing is None and settings.otel:
        tracing = exporting_provider()
    metrics = Metrics()
    each = translators if isinstance(translators, Sequence) else [translators]
    engines = [one if isinstance(one, Engine) else LocalEngine(one) for one in each]
    service = Service(settings, Directions(engines, metrics, settings), database, metrics, keys_required)
    documents = _document_jobs(service, settings)
    jobs = JobRunner(service)
    imports = MemoryImports(service)
    app = FastAPI(
        title="Passerelle",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(service, (documents, jobs, imports), tracing),
    )
    app.state.service = service
    app.state.documents = documents
    app.state.jobs = jobs
    app.state.memory_imports = imports
    _include_routes(app, settings)
    problems.install(app, ERROR_SHAPES)
    _add_middleware(app, service, tracing, host)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _document_jobs(service: Service, settings: Settings) -> DocumentJobs:
    limits = DocumentLimits(
        max_bytes=settings.document_max_bytes, max_characters=settings.document_max_characters
    )
    return DocumentJobs(service, settings.document_max_running, limits)


def _include_routes(app: FastAPI, settings: Settings) -> None:
    for router in (health.router, pages.router, deepl.public):
        app.include_router(router)  # public: they tell nothing of anybody and cost next to nothing
    own = (
        translate,
        alternatives,
        check,
        alignment,
        documents_routes,
        memories_routes,
        jobs_routes,
        languages,
        usage,
    )
    for part in own:
        include_behind_key(app, part.router)
    include_behind_key(app, deepl.router, check_deepl_key)
    include_behind_key(app, libretranslate.router, check_libretranslate_key)
    include_behind_key(app, openai.router)
    include_behind_key(app, google.router, check_of(GOOGLE))
    include_behind_key(app, microsoft.router, check_of(MICROSOFT))
    if settings.metrics_need_key:
        include_behind_key(app, monitoring.router)
    else:
        app.include_router(monitoring.router)


def _add_middleware(app: FastAPI, service: Service, tracing: TracerProvider | None, host: str | None) -> None:
    """Middleware added later is further out."""
    settings = service.settings
    app.add_middleware(
        BodyLimitMiddleware,
        max_bytes=settings.max_body_bytes,
        timeout_s=settings.body_timeout_s,
        own_max_bytes={
            **dict.fromkeys(UPLOADS, settings.document_max_bytes),
            JOBS: settings.job_max_bytes,
            **dict.fromkeys(MEMORY_UPLOADS, settings.memory_max_bytes),
            **dict.fromkeys(FORM_UPLOADS, settings.document_max_bytes + FORM_BYTES),
        },
    )
    app.add_middleware(OverloadMiddleware, paths=TRANSLATING, shapes=ERROR_SHAPES)
    app.add_middleware(KeyMiddleware, places=KEYS, shapes=ERROR_SHAPES)
    if settings.allowed_hosts or not service.keys_required:
        allowed = (*settings.allowed_hosts, *([host] if host else []))
        app.add_middleware(HostMiddleware, allowed=allowed, shapes=ERROR_SHAPES)
    app.add_middleware(RequestMiddleware, metrics=service.metrics, shapes=ERROR_SHAPES)
    app.add_middleware(microsoft.ApiVersionMiddleware)
    if tracing is not None:
        app.add_middleware(TracingMiddleware, provider=tracing)


def include_behind_key(app: FastAPI, router: APIRouter, check: Callable[..., Any] = check_key) -> None:
    """Include routes that are not public, with the check of their dialect before them."""
    responses = problems.documented(401, 403, 429, 503)
    app.include_router(router, dependencies=[Depends(check)], responses=responses)


def _lifespan(
    service: Service,
    running: tuple[DocumentJobs, JobRunner, MemoryImports],
    tracing: TracerProvider | None,
) -> Callable[[FastAPI], Any]:
    database = service.database
    documents, jobs, imports = running

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        service.directions.start()
        jobs.start()
        sweeper = asyncio.create_task(_sweep(database))
        detector = asyncio.create_task(asyncio.to_thread(detect, ""))  # the first request need not load it
        yield
        await detector
        await jobs.stop()
        await documents.stop()
        await imports.stop()
        await service.directions.stop(service.settings.shutdown_timeout_s)
        sweeper.cancel()
        await asyncio.to_thread(database.close)
        if tracing is not None:
            await asyncio.to_thread(tracing.shutdown)  # sends what it still has

    return lifespan


async def _sweep(database: Database) -> None:
    """Delete what has expired, now and then; when the database does not answer, next time."""
    while True:
        try:
            await database.run(database.sweep)
        except DatabaseUnavailableError as error:
            log.warning("sweep_failed", **describe(error.__cause__ or error))
        await asyncio.sleep(SWEEP_EVERY_S)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """OpenAPI with the shapes that answers refer to by hand, and with examples."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        components = schema["components"]["schemas"]
        for model in (Problem, AlignmentOut, JobResultLine):
            own = model.model_json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
            components.update(own.pop("$defs", {}))
            components[model.__name__] = own
        for name, example in EXAMPLES.items():
            components[name]["examples"] = [example]
        app.openapi_schema = schema
    return app.openapi_schema
