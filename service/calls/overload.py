"""Refuse what cannot be taken before it costs anything: no body is read, no route is run.

Under overload most requests are refused, and what a refusal costs is taken from the translations. A queue
that has room for small requests is left to decide by itself, when it knows how much is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from service.calls.translation_call import queue_full
from service.http.problems import Shape, problem_of, shaped
from service.state import Service
from service.work.scheduler import QueueFullError, StoppingError


class _Route(NamedTuple):
    """Route that the router would have found, for the log and the metrics."""

    path: str


class OverloadMiddleware:
    """Answers 429 while no direction takes anything more; stands behind the check of the key.

    Args:
        app: is called when there is room.
        paths: of requests that are for a model, and whose key is not in the body.
        shapes: of errors, see ``problems.install``.
    """

    def __init__(self, app: ASGIApp, *, paths: Collection[str], shapes: Mapping[str, Shape]) -> None:
        self._app = app
        self._routes = {path: _Route(path) for path in paths}
        self._shapes = shapes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in self._routes:
            error = _refusal(scope["app"].state.service)
            if error is not None:
                scope["route"] = self._routes[scope["path"]]
                problem = await problem_of(queue_full(error), Request(scope))
                await shaped(problem, scope["path"], self._shapes)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refusal(service: Service) -> QueueFullError | None:
    """Why not even the smallest request is taken, in whatever direction; None if one might be."""
    if not all(direction.scheduler.is_full for direction in service.directions):
        return None
    try:
        service.directions.default.scheduler.check_room()
    except QueueFullError as error:
        return error
    except StoppingError:  # the route says so
        return None
    return None
