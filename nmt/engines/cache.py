"""Self-attention keys and values of one group of rows, in memory that is written in place.

Of a sentence and a head the tokens of all K rows lie together, time after time, with room for a few more
times than there are: attention reads what is close together in memory. When rows are reordered nothing moves,
where steps are one call: of each row and time it is noted which of the K rows of its sentence has read that
token, and the step reads it there (``nmt.engines.whole``). For any other step it is put in order. A sentence
stays in its place until half of all have left. One that started later than others, and has joined them, is
behind: its tokens stand at the first times, and zeros at those to come. A cache belongs to one state;
reordering, joining or appending changes it.

Dimensions: T tokens read, by who has read most, C that there is room for, B sentences, K rows of each, N =
B*K, P sentences that there is a place for, H heads, E per head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from torch import Tensor

from nmt.engines.arithmetic import rounded_up
from nmt.engines.keeping import Kept, KeptIn, empty, kept, of_both, restored

ROOM = 16
"""Tokens that there is room for, at first, and more by so many."""
LARGER_BY = 4
"""Or by this part of those that there are."""


class Cache:
    """What rows have read.

    Args:
        n_sentences: B.
        beam_size: K.
        heads: H and E of each layer.
        kept_in: in what it is kept.
        may_stay: whether what is reordered stays where it is; False: it moves, as if rows were sentences.
    """

    def __init__(
        self,
        n_sentences: int,
        beam_size: int,
        heads: Sequence[tuple[int, int]],
        kept_in: KeptIn,
        *,
        may_stay: bool = True,
    ) -> None:
        if not may_stay:
            n_sentences, beam_size = n_sentences * beam_size, 1
        self.n_tokens = 0
        self._may_stay = may_stay
        self._beam_size = beam_size
        self._kept_in = kept_in
        sizes = [(n_sentences, n_heads, ROOM, beam_size, width) for n_heads, width in heads]
        self._layers = [(empty(size, kept_in), empty(size, kept_in)) for size in sizes]
        self._places_B = torch.arange(n_sentences)
        self._places_N = self._places_B.repeat_interleave(beam_size)
        self._readers_NC = torch.zeros(n_sentences * beam_size, ROOM, dtype=torch.long)
        self._behind_N: Tensor | None = None

    @property
    def n_rows(self) -> int:
        """N."""
        return self._places_N.numel()

    def grow(self) -> None:
        """Make one more token's place, to be written by ``write`` or by a step that is one call."""
        capacity = self._readers_NC.size(1)
        if self.n_tokens == capacity:
            more = max(ROOM, capacity // LARGER_BY // ROOM * ROOM)
            self._each(partial(_with_room, more=more))
            self._readers_NC = F.pad(self._readers_NC, (0, more))
        if self._beam_size > 1:
            readers_N = _in_turn(self.n_rows, self._beam_size)
            if self._behind_N is None:
                self._readers_NC[:, self.n_tokens] = readers_N
            else:
                self._readers_NC[torch.arange(self.n_rows), self.n_tokens - self._behind_N] = readers_N
        self.n_tokens += 1

    @property
    def layers(self) -> Sequence[tuple[Kept, Kept]]:
        """Keys (P, H, C, K, E) and values of each layer; those of the token being read are still to come."""
        return self._layers

    @property
    def places_N(self) -> Tensor:
        """Of the sentence of each row, among P."""
        return self._places_N

    @property
    def readers_NC(self) -> Tensor:
        """Which of the K rows of its sentence has read what a row has, at the first T times."""
        return self._readers_NC

    @property
    def behind_N(self) -> Tensor:
        """How many tokens each row has read less than T."""
        return _none_behind(self.n_rows) if self._behind_N is None else self._behind_N

    def write(self, layer: int, key_NHE: Tensor, value_NHE: Tensor) -> None:
        """Those of the token being read; no row may be behind."""
        assert self._behind_N is None
        beams_N = _in_turn(self.n_rows, self._beam_size)
        for parts, own_NHE in zip(self._layers[layer], (key_NHE, value_NHE), strict=True):
            for part, own in zip(parts, kept(own_NHE, self._kept_in), strict=True):
                part[self._places_N, :, self.n_tokens - 1, beams_N] = own

    def in_order(self, layer: int) -> tuple[Tensor, Tensor]:
        """keys_NHTE and values_NHTE; maybe copies. No row may be behind."""
        assert self._behind_N is None
        key, value = self._layers[layer]
        _, H, C, K, _ = key[0].shape
        if K == 1:
            return restored(tuple(map(self._of_rows, key))), restored(tuple(map(self._of_rows, value)))
        first_NH1 = (self._places_N[:, None, None] * H + torch.arange(H)[:, None]) * C
        times_NHT = first_NH1 + torch.arange(self.n_tokens)
        places_NHT = times_NHT * K + self._readers_NC[:, None, : self.n_tokens]

        def found(part: Tensor) -> Tensor:
            read = part.flatten(0, 3).index_select(0, places_NHT.flatten())
            return read.view(*places_NHT.shape, *read.shape[1:])

        return restored(tuple(map(found, key))), restored(tuple(map(found, value)))

    def select(self, rows_N: Tensor) -> None:
        """Make row n the former row ``rows_N[n]``: whole sentences, in their order."""
        n_rows, is_beam = rows_N.numel(), self._beam_size > 1
        if self._behind_N is not None and n_rows < self.n_rows:
            self._let_lag(self._behind_N.index_select(0, rows_N))
        if not self._may_stay:
            self._keep(rows_N)
        elif n_rows < self.n_rows:
            staying_B = rows_N[:: self._beam_size].div(self._beam_size, rounding_mode="floor")
            if 2 * staying_B.numel() <= self._layers[0][0][0].size(0):
                self._keep(self._places_B.index_select(0, staying_B))  # nobody reads half of it any more
            else:
                self._places_B = self._places_B.index_select(0, staying_B)
                self._places_N = self._places_B.repeat_interleave(self._beam_size)
        readers_NC = self._readers_NC
        self._readers_NC = readers_NC.index_select(0, rows_N) if is_beam else readers_NC[:n_rows]

    def join(self, other: Cache) -> None:
        """Take in the sentences of another, after those that there are; both of what may stay."""
        both = self, other
        n_tokens = max(cache.n_tokens for cache in both)
        room = rounded_up(n_tokens + 1, ROOM)
        behind_N = torch.cat([cache.behind_N + n_tokens - cache.n_tokens for cache in both])
        readers = [cache.readers_NC[:, :room] for cache in both]
        self._readers_NC = torch.cat([F.pad(part_NC, (0, room - part_NC.size(1))) for part_NC in readers])
        n_sentences = [cache._places_B.numel() for cache in both]

        def together(*parts: Tensor) -> Tensor:
            _, H, _, *of_each = parts[0].shape
            found = parts[0].new_zeros(sum(n_sentences), H, room, *of_each)
            for own, cache, part in zip(torch.split(found, n_sentences), both, parts, strict=True):
                times = slice(0, cache.n_tokens)
                own[:, :, times] = part[cache._places_B, :, times]
            return found

        self._layers = of_both(together, self._layers, other._layers)
        self._stand(sum(n_sentences))
        self.n_tokens = n_tokens
        self._let_lag(behind_N)

    def _let_lag(self, behind_N: Tensor) -> None:
        """So much of all rows; T becomes what one of them has read."""
        least, most = (int(number) for number in behind_N.aminmax())
        self.n_tokens -= least
        self._behind_N = behind_N - least if least < most else None

    def _of_rows(self, part: Tensor) -> Tensor:
        """Where each row is a sentence."""
        read = part[:, :, : self.n_tokens, 0]
        return read if self.n_rows == part.size(0) else read.index_select(0, self._places_B)

    def _keep(self, places_B: Tensor) -> None:
        """Only the sentences in these places, in order."""
        self._each(lambda part: part.index_select(0, places_B))
        self._stand(places_B.numel())

    def _stand(self, n_sentences: int) -> None:
        """All in order."""
        self._places_B = torch.arange(n_sentences)
        self._places_N = self._places_B.repeat_interleave(self._beam_size)

    def _each(self, change: Callable[[Tensor], Tensor]) -> None:
        self._layers = [(tuple(map(change, key)), tuple(map(change, value))) for key, value in self._layers]


@lru_cache(maxsize=64)
def _in_turn(n_rows: int, beam_size: int) -> Tensor:
    """0 to K - 1, for each sentence."""
    return torch.arange(n_rows) % beam_size


@lru_cache(maxsize=256)
def _none_behind(n_rows: int) -> Tensor:
    return torch.zeros(n_rows, dtype=torch.long)


def _with_room(part_PHC: Tensor, *, more: int) -> Tensor:
    """For so many more times."""
    P, H, C, *of_each = part_PHC.shape
    larger_PHC = part_PHC.new_zeros(P, H, C + more, *of_each)
    larger_PHC[:, :, :C] = part_PHC
    return larger_PHC
