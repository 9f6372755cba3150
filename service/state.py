"""State that the routes share, made once by ``create_app`` and handed to them through a dependency."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from service.database.database import Database
from service.http.metrics import Metrics
from service.settings import Settings
from service.work.directions import Directions


@dataclass(frozen=True)
class Service:
    """The parts of the running service. Models are their engines', each in a process or thread of its own.

    ``keys_required`` is the setting ``keys`` with its ``auto`` decided.
    """

    settings: Settings
    directions: Directions
    database: Database
    metrics: Metrics
    keys_required: bool
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def own_turn(self) -> AsyncIterator[None]:
        """For work on the event loop that takes a moment: one of these blocks runs in each turn of the loop.

        When a step of the model has ended, many answers are ready at once. What is quick, such as a refusal,
        is not to wait for all of them.
        """
        async with self.turns:
            await asyncio.sleep(0)
            yield


async def _service(request: Request) -> Service:  # async: it waits for nothing, and needs no thread
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


ServiceDependency = Annotated[Service, Depends(_service)]
