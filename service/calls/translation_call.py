"""The one way from a route to the model: admitted, charged, waited for, and given up when nobody waits.

``translate`` gives whole translations, ``stream`` first their sentences. Both end with a ``ProblemError``
when the queue is full (429), the server is stopping or its engine keeps dying (503), the deadline has passed
(504) or the client has left (499, which nobody reads); the request is out of the running batch by then.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import Request

from nmt.batching.events import PartFinished
from nmt.errors import InputError
from service.calls.auth import current_caller
from service.calls.charging import charged
from service.calls.memory import with_matches
from service.http.problems import CLIENT_LEFT, ProblemError
from service.state import Service
from service.work.scheduler import EngineDownError, Job, QueueFullError, StoppingError

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

TIMEOUT_HEADER = "X-Request-Timeout"


async def translate(
    service: Service, request: Request, job: Job, *, charge: bool = True
) -> list[Translation]:
    """Translate texts for the caller of ``request``.

    Args:
        service: the service.
        request: who asks; while it is translated, its disconnect is listened for.
        job: texts that were checked against the limits (``service.calls.limits.check_texts``), and how to
            translate them; whose request it is and its deadline are filled in here.
        charge: count the characters; False if the route has done so.

    Raises:
        ProblemError: see above, and what ``charged`` raises.
        InputError: a text cannot be translated as it stands.
    """
    events = _run(service, request, job, charge=charge, parts=False)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, list):
                return event
    raise AssertionError("a run ends with the translations")


def stream(
    service: Service, request: Request, job: Job, *, charge: bool = True
) -> AsyncGenerator[PartFinished | list[Translation]]:
    """As ``translate``: each sentence as soon as it and those before it are there, at last the whole."""
    return _run(service, request, job, charge=charge, parts=True)


async def _run(
    service: Service, request: Request, job: Job, *, charge: bool, parts: bool
) -> AsyncGenerator[PartFinished | list[Translation]]:
    timeout_s = timeout_of(request, service.settings.request_timeout_s, job.deadline_s)
    key_id = current_caller(request).key_id
    job = await with_matches(service, key_id, replace(job, key_id=key_id, deadline_s=timeout_s))
    scheduler = service.directions.of(job.options).scheduler
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[PartFinished] = asyncio.Queue()

    news = asyncio.Event()

    def take(part: PartFinished) -> None:
        arrived.put_nowait(part)
        news.set()

    def on_part(part: PartFinished) -> None:
        loop.call_soon_threadsafe(take, part)

    async with AsyncExitStack() as stack:
        try:
            admitted = scheduler.admit(job, on_part if parts else None)
        except QueueFullError as error:
            raise queue_full(error) from None
        except StoppingError:
            raise _stopping() from None
        future = asyncio.wrap_future(admitted.future)
        stack.callback(future.cancel)
        if charge:  # what has no place in the queue is not written down first, and taken off again
            await stack.enter_async_context(charged(request, service, sum(map(len, job.texts))))
        admitted.release()
        deadline = loop.time() + timeout_s
        leaving = asyncio.create_task(_disconnect(request))
        try:
            while not future.done() or not arrived.empty():
                while not arrived.empty():
                    yield arrived.get_nowait()
                news.clear()
                if future.done():
                    continue
                woken = asyncio.create_task(news.wait())
                either: set[asyncio.Future[Any]] = {future, leaving, woken}
                await asyncio.wait(
                    either,
                    timeout=max(deadline - loop.time(), 0.0),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                woken.cancel()
                if not future.done() and arrived.empty():
                    raise _left() if leaving.done() else _too_late(timeout_s)
            translations = _result(future)
        finally:
            future.cancel()
            leaving.cancel()
    yield translations


def _result(future: asyncio.Future[list[Translation]]) -> list[Translation]:
    try:
        return future.result()
    except asyncio.CancelledError:  # by the scheduler, which stops before it came to this request
        raise _stopping() from None
    except EngineDownError:
        raise ProblemError(
            503,
            "engine-lost",
            "What translates has failed on this request; it is starting again. Try again in 10 seconds.",
            {"Retry-After": "10"},
        ) from None


def timeout_of(request: Request, most_s: float, asked_s: float | None) -> float:
    """Seconds that a request may take: as the server has it, or less if its client says so.

    Raises:
        InputError: the header is no positive number, or more than the server allows.
    """
    header = request.headers.get(TIMEOUT_HEADER)
    if header is not None:
        try:
            asked_s = float(header)
        except ValueError:
            asked_s = math.nan
    if asked_s is None:
        return most_s
    if not 0 < asked_s <= most_s:
        raise InputError(
            f"{TIMEOUT_HEADER} must be a number of seconds from 0 to {most_s:g}, this server's limit"
        )
    return asked_s


def queue_full(error: QueueFullError) -> ProblemError:
    """429, with the seconds after which to try again."""
    return ProblemError(
        429,
        "queue-full",
        f"Too much is waiting for the model; try again in {error.retry_after_s} seconds.",
        {"Retry-After": str(error.retry_after_s)},
    )


def _stopping() -> ProblemError:
    return ProblemError(
        503, "stopping", "The server is shutting down; try again in a moment.", {"Retry-After": "5"}
    )


def _too_late(timeout_s: float) -> ProblemError:
    return ProblemError(
        504, "timeout", f"There was no translation within {timeout_s:g} seconds; send less text at once."
    )


def _left() -> ProblemError:
    return ProblemError(CLIENT_LEFT, "client-left", "The client has closed the connection.")


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
