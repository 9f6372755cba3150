"""Alignments of earlier answers, for a while: bounded in age, number and bytes. Event-loop thread only."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple


class _Entry(NamedTuple):
    expires: float
    payload: bytes


class ExpiringStore:
    """Bytes by id. The oldest give way to new ones; what has expired is gone at the next call.

    Payloads are JSON, not objects, so that a bound in bytes bounds the memory.

    Args:
        ttl_s: seconds that an entry is kept.
        max_entries: entries kept at most; 0 keeps none.
        max_bytes: bytes of all payloads together.
        clock: seconds, never going back.
    """

    def __init__(
        self,
        ttl_s: float,
        max_entries: int,
        max_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ttl_s = ttl_s
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._n_bytes = 0

    @property
    def n_bytes(self) -> int:
        """Bytes of the payloads kept."""
        return self._n_bytes

    def __len__(self) -> int:
        return len(self._entries)

    def put(self, key: str, payload: bytes) -> None:
        """Keep ``payload``; if it alone is over the bound in bytes, it is not kept."""
        now = self._clock()
        self._drop_expired(now)
        self._drop(key)
        if len(payload) > self._max_bytes or self._max_entries == 0:
            return
        self._entries[key] = _Entry(now + self._ttl_s, payload)
        self._n_bytes += len(payload)
        while len(self._entries) > self._max_entries or self._n_bytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def get(self, key: str) -> bytes | None:
        """The payload, or None if it was never kept, gave way or expired."""
        self._drop_expired(self._clock())
        entry = self._entries.get(key)
        return None if entry is None else entry.payload

    def _drop_expired(self, now: float) -> None:
        while self._entries and next(iter(self._entries.values())).expires <= now:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._n_bytes -= len(entry.payload)
