"""Self-attention keys and values of one group of rows, in memory that is allocated once and written in place.

Time comes first, so each read appends one contiguous block and what has been read so far is contiguous too.
All layers lie side by side in a row: when rows are reordered, one gather moves everything, from one of two
buffers into the other. A cache belongs to one state; moving or appending changes it.

Dimensions: T tokens read, N rows, W numbers kept of a row and token (keys and values of all layers).
"""

from __future__ import annotations

import torch
from torch import Tensor

FIRST_CAPACITY = 32


class Cache:
    """What N rows have read: (T, N, W)."""

    def __init__(self, n_rows: int, width: int, dtype: torch.dtype) -> None:
        self.n_rows = n_rows
        self.n_tokens = 0
        self._width = width
        self._front = torch.empty(FIRST_CAPACITY * n_rows * width, dtype=dtype)
        self._back: Tensor | None = None

    def grow(self) -> None:
        """Make one more token's place, to be written through ``kept_TNW``."""
        needed = (self.n_tokens + 1) * self.n_rows * self._width
        if needed > self._front.numel():
            larger = self._front.new_empty(2 * needed)
            larger[: self._used].copy_(self._front[: self._used])
            self._front, self._back = larger, None
        self.n_tokens += 1

    @property
    def kept_TNW(self) -> Tensor:
        """Everything so far, the token being read last."""
        return self._front[: self._used].view(self.n_tokens, self.n_rows, self._width)

    def select(self, rows_N: Tensor) -> None:
        """Make row n the former row ``rows_N[n]``."""
        if self._back is None:
            self._back = torch.empty_like(self._front)
        kept_TNW = self.kept_TNW
        self.n_rows = rows_N.numel()
        moved_TNW = self._back[: self._used].view(self.n_tokens, self.n_rows, self._width)
        torch.index_select(kept_TNW, 1, rows_N, out=moved_TNW)
        self._front, self._back = self._back, self._front

    @property
    def _used(self) -> int:
        return self.n_tokens * self.n_rows * self._width
