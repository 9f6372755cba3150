"""Turns on the event loop."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import cast

from service.state import Service


@dataclass
class Turns:
    """What ``own_turn`` needs of a service."""

    turns: asyncio.Lock = field(default_factory=asyncio.Lock)


def test_something_quick_gets_in_between_two_that_take_their_turn() -> None:
    async def run() -> list[str]:
        service, order = cast("Service", Turns()), list[str]()

        async def answer(name: str) -> None:
            async with Service.own_turn(service):
                order.append(name)

        async def refuse() -> None:
            for _ in range(6):
                order.append("quick")
                await asyncio.sleep(0)

        await asyncio.gather(answer("a"), answer("b"), answer("c"), refuse())
        return order

    order = asyncio.run(run())
    answers = [order.index(name) for name in "abc"]
    assert answers == sorted(answers)
    for one, following in itertools.pairwise(answers):
        assert "quick" in order[one:following]
