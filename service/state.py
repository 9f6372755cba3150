"""What the routes share, made once by ``create_app`` and handed to them through a dependency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from nmt.config import GenerationConfig, ModelFolderConfig
from service.database.database import Database
from service.metrics import Metrics
from service.scheduler import Scheduler
from service.settings import Settings

if TYPE_CHECKING:
    from service.document_jobs import DocumentJobs


@dataclass(frozen=True)
class Service:
    """The parts of the running service. The model itself is the engine's, in a process or thread of its own.

    ``keys_required`` is the setting ``keys`` with its ``auto`` decided.
    """

    settings: Settings
    model: ModelFolderConfig
    generation: GenerationConfig
    has_formality: bool
    scheduler: Scheduler
    database: Database
    metrics: Metrics
    keys_required: bool
    documents: DocumentJobs


async def _service(request: Request) -> Service:  # async: it waits for nothing, and needs no thread
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


ServiceDependency = Annotated[Service, Depends(_service)]
