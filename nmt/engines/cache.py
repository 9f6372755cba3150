"""Self-attention keys and values of one group of rows, in memory that is allocated once and written in place.

Time comes first, so each read appends one contiguous block and what has been read so far is contiguous too.
All layers lie side by side in a row. When rows are reordered nothing moves at first: it is noted where what
each row has read stands. A step that is one call reads it there (``nmt.engines.whole``); for any other, one
gather moves everything, from one of two buffers into the other. A cache belongs to one state; moving or
appending changes it.

Dimensions: T tokens read, N rows, M rows of the memory, W numbers kept of a row and token (keys and values of
all layers).
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

FIRST_CAPACITY = 32


class Cache:
    """What N rows have read: (T, N, W)."""

    def __init__(self, n_rows: int, width: int, dtype: torch.dtype) -> None:
        self.n_rows = n_rows
        self.n_tokens = 0
        self._n_places = n_rows
        self._rows_TN: Tensor | None = None
        self._width = width
        self._front = torch.empty(FIRST_CAPACITY * n_rows * width, dtype=dtype)
        self._back: Tensor | None = None

    def grow(self) -> None:
        """Make one more token's place, to be written through ``kept_TNW`` or ``past_TMW``."""
        needed = (self.n_tokens + 1) * self._n_places * self._width
        if needed > self._front.numel():
            larger = self._front.new_empty(2 * needed)
            larger[: self._used].copy_(self._front[: self._used])
            self._front, self._back = larger, None
        self.n_tokens += 1
        if self._rows_TN is not None:
            self._rows_TN = torch.cat([self._rows_TN, _in_order(1, self.n_rows, self.n_rows)])

    @property
    def past_TMW(self) -> Tensor:
        """Everything so far, where it stands; the token being read is last, in its place."""
        return self._front[: self._used].view(self.n_tokens, self._n_places, self._width)

    @property
    def rows_TN(self) -> Tensor:
        """The rows of ``past_TMW`` where it stands."""
        return self.rows_for(self.n_rows)

    def rows_for(self, n_rows: int) -> Tensor:
        """The same, filled up to ``n_rows`` with the first row."""
        if self._rows_TN is None:
            return _in_order(self.n_tokens, self.n_rows, n_rows)
        missing = n_rows - self.n_rows
        if not missing:
            return self._rows_TN
        return torch.cat([self._rows_TN, self._rows_TN[:, :1].expand(-1, missing)], dim=1)

    @property
    def kept_TNW(self) -> Tensor:
        """Everything so far, the token being read last, in its place."""
        self._move()
        return self.past_TMW

    def select(self, rows_N: Tensor) -> None:
        """Make row n the former row ``rows_N[n]``."""
        self._rows_TN = self.rows_TN.index_select(1, rows_N)
        self.n_rows = rows_N.numel()
        if 2 * self.n_rows <= self._n_places:
            self._move()  # nobody reads half of the memory any more

    def _move(self) -> None:
        """Put everything in its place."""
        if self._rows_TN is None:
            return
        if self._back is None:
            self._back = torch.empty_like(self._front)
        first_T1 = torch.arange(0, self.n_tokens * self._n_places, self._n_places).unsqueeze(1)
        places = (self._rows_TN + first_T1).flatten()
        kept = self._front[: self._used].view(-1, self._width)
        self._n_places, self._rows_TN = self.n_rows, None
        torch.index_select(kept, 0, places, out=self._back[: self._used].view(-1, self._width))
        self._front, self._back = self._back, self._front

    @property
    def _used(self) -> int:
        return self.n_tokens * self._n_places * self._width


@lru_cache(maxsize=256)
def _in_order(n_tokens: int, n_rows: int, n_filled: int) -> Tensor:
    rows_N = torch.arange(n_filled)
    rows_N[n_rows:] = 0
    return rows_N.expand(n_tokens, n_filled).contiguous()
