"""Group commit: calls that arrive while one is running go together with the next, in one transaction.

Alone a call goes at once. Under load each costs its share of a transaction, and the more there are the
smaller that is. (DeWitt et al. 1984, "Implementation techniques for main memory database systems".)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

_Asked = TypeVar("_Asked")
_Given = TypeVar("_Given")


class Together(Generic[_Asked, _Given]):
    """One call at a time, for all who wait. For one event loop.

    Args:
        call: gives for each of several asked an answer, or the exception that it fails with.
    """

    def __init__(self, call: Callable[[Sequence[_Asked]], Awaitable[Sequence[_Given | Exception]]]) -> None:
        self._call = call
        self._waiting: list[tuple[_Asked, asyncio.Future[_Given]]] = []
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, asked: _Asked) -> _Given:
        """The answer. Who is cancelled before the call begins is not asked for."""
        answer: asyncio.Future[_Given] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, answer))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await answer

    async def _run(self) -> None:
        batch: list[tuple[_Asked, asyncio.Future[_Given]]] = []
        try:
            while batch := [one for one in self._waiting if not one[1].done()]:
                self._waiting = []
                for (_, answer), given in zip(batch, await self._answers(batch), strict=True):
                    _settle(answer, given)
        finally:
            for _, answer in batch + self._waiting:  # this task was cancelled: the loop ends
                answer.cancel()
            self._waiting, self._running = [], None

    async def _answers(
        self, batch: Sequence[tuple[_Asked, asyncio.Future[_Given]]]
    ) -> Sequence[_Given | Exception]:
        try:
            return await self._call([asked for asked, _ in batch])
        except Exception as error:
            return [error] * len(batch)


def _settle(answer: asyncio.Future[_Given], given: _Given | Exception) -> None:
    if answer.done():  # nobody waits for it any more
        return
    if isinstance(given, Exception):
        answer.set_exception(given)
    else:
        answer.set_result(given)
