"""Calls that go together with others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from service.database.together import Together


class Calls:
    """Doubles numbers when it is let; refuses 13, and fails as a whole over 99."""

    def __init__(self) -> None:
        self.made: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, asked: Sequence[int]) -> list[int | Exception]:
        self.made.append(list(asked))
        await self.gate.wait()
        if 99 in asked:
            raise OSError("no disk")
        return [LookupError("unlucky") if n == 13 else 2 * n for n in asked]


async def begun(together: Together[int, int], *asked: int) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(together(n)) for n in asked]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


def test_one_alone_goes_at_once_and_those_that_come_meanwhile_go_together() -> None:
    async def run() -> None:
        calls = Calls()
        together = Together(calls)
        calls.gate.clear()
        first = await begun(together, 1)
        later = await begun(together, 2, 3, 4)
        assert calls.made == [[1]]
        calls.gate.set()

        assert await asyncio.gather(*first, *later) == [2, 4, 6, 8]
        assert calls.made == [[1], [2, 3, 4]]
        assert await together(5) == 10, "and it goes on afterwards"

    asyncio.run(run())


def test_what_is_refused_is_refused_to_who_asked_it_and_a_failure_is_everybodys() -> None:
    async def run() -> None:
        together = Together(Calls())
        answers = await asyncio.gather(*(together(n) for n in (1, 13, 2)), return_exceptions=True)
        assert [type(answer) for answer in answers] == [int, LookupError, int]

        answers = await asyncio.gather(*(together(n) for n in (1, 99)), return_exceptions=True)
        assert [type(answer) for answer in answers] == [OSError, OSError]
        assert await together(3) == 6

    asyncio.run(run())


def test_who_left_before_the_call_is_not_asked_for() -> None:
    async def run() -> None:
        calls = Calls()
        together = Together(calls)
        calls.gate.clear()
        (first,) = await begun(together, 1)
        left, stays = await begun(together, 2, 3)
        left.cancel()
        first.cancel()
        await asyncio.sleep(0)
        calls.gate.set()

        assert await stays == 6
        assert calls.made == [[1], [3]]
        with pytest.raises(asyncio.CancelledError):
            await left

    asyncio.run(run())


def test_the_end_of_the_loop_leaves_nobody_waiting() -> None:
    async def run() -> None:
        calls = Calls()
        calls.gate.clear()
        waiting = await begun(Together(calls), 1, 2)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.wait(waiting, timeout=5)
        assert all(task.cancelled() for task in waiting)

    asyncio.run(run())
