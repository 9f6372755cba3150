"""Fair queueing by tokens, when several parties wait for one machine (Goyal et al. 1996).

Each party has a clock that runs by the tokens it is served; whose clock is behind goes next. A party that
comes back from a pause starts at the clock of those that are waiting, so nobody saves up turns. Within one
party its requests take turns, so that a long one does not hold up a short one. A party whose tokens have a
price runs a clock that is faster by it, and so gets less of a machine that others want too.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


@dataclass
class _Party(Generic[ItemT]):
    clock: float
    requests: OrderedDict[Hashable, deque[tuple[ItemT, int, float]]] = field(default_factory=OrderedDict)


class FairQueue(Generic[ItemT]):
    """Items of requests of parties; each item has a cost in tokens."""

    def __init__(self) -> None:
        self._parties: dict[Hashable, _Party[ItemT]] = {}
        self._clocks: dict[Hashable, float] = {}
        """Clocks of parties that have nothing here now but are ahead of those that have."""
        self._now = 0.0
        self._n_items = 0
        self.n_tokens = 0
        """Tokens of all that waits."""

    def __len__(self) -> int:
        return self._n_items

    def put(
        self,
        party: Hashable,
        request: Hashable,
        item: ItemT,
        n_tokens: int,
        *,
        first: bool = False,
        price: float = 1.0,
    ) -> None:
        """Add an item to a request, at its end or ``first``; a token counts ``price`` times."""
        waiting = self._parties.get(party)
        if waiting is None:
            clock = max(self._now, self._clocks.pop(party, 0.0))
            waiting = self._parties[party] = _Party(clock)
        items = waiting.requests.setdefault(request, deque())
        (items.appendleft if first else items.append)((item, n_tokens, price))
        self._n_items += 1
        self.n_tokens += n_tokens

    def pop(self, room_tokens: float = math.inf) -> ItemT | None:
        """The next item, or None: nothing waits, or what is next has more than ``room_tokens``.

        What does not fit is not passed over in favour of something smaller, or it might wait for ever.
        """
        if not self._parties:
            return None
        name, party = min(self._parties.items(), key=lambda entry: entry[1].clock)
        request, items = next(iter(party.requests.items()))
        item, n_tokens, price = items[0]
        if n_tokens > room_tokens:
            return None
        items.popleft()
        self._n_items -= 1
        self.n_tokens -= n_tokens
        self._now = party.clock
        party.clock += n_tokens * price
        party.requests.move_to_end(request)
        if not items:
            del party.requests[request]
        self._forget_if_idle(name, party)
        return item

    def drop(self, request: Hashable) -> None:
        """Forget what waits of a request."""
        for name, party in list(self._parties.items()):
            gone = party.requests.pop(request, ())
            self._n_items -= len(gone)
            self.n_tokens -= sum(n_tokens for _, n_tokens, _ in gone)
            self._forget_if_idle(name, party)

    def _forget_if_idle(self, name: Hashable, party: _Party[ItemT]) -> None:
        if party.requests:
            return
        del self._parties[name]
        if self._parties:
            self._clocks[name] = party.clock
        else:
            self._now, self._clocks = 0.0, {}
        self._clocks = {name: clock for name, clock in self._clocks.items() if clock > self._now}
