"""Self-attention keys and values of one group of rows, in memory that is written in place.

Of a sentence and a head the tokens of all K rows lie together, time after time, with room for a few more
times than there are: attention reads what is close together in memory. When rows are reordered nothing moves,
where steps are one call: of each row and time it is noted which of the K rows of its sentence has read that
token, and the step reads it there (``nmt.engines.whole``). For any other step it is put in order. A sentence
stays in its place until half of many have left. One that started later than others, and has joined them, is
behind: its tokens stand at the first times, and zeros at those to come. A cache belongs to one state;
reordering, joining or appending changes it.

Dimensions: T tokens read, by who has read most, C that there is room for, B sentences, K rows of each, N =
B*K, P sentences that there is a place for, H heads, E per head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from nmt.engines.arithmetic import rounded_up
from nmt.engines.keeping import Kept, KeptIn, empty, kept, of_both, restored
from nmt.engines.places import free_places, is_to_move, with_spare

ROOM = 16
"""There is room for a multiple of so many tokens."""
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
        expected: tokens that there is room for at first, or a few more.
    """

    def __init__(
        self,
        n_sentences: int,
        beam_size: int,
        heads: Sequence[tuple[int, int]],
        kept_in: KeptIn,
        *,
        may_stay: bool = True,
        expected: int = ROOM,
    ) -> None:
        if not may_stay:
            n_sentences, beam_size = n_sentences * beam_size, 1
        self.n_tokens = 0
        self._may_stay = may_stay
        self._beam_size = beam_size
        self._kept_in = kept_in
        self._expected_B, room = torch.full((n_sentences,), expected), rounded_up(expected, ROOM)
        sizes = [(n_sentences, n_heads, room, beam_size, width) for n_heads, width in heads]
        self._layers = [(empty(size, kept_in), empty(size, kept_in)) for size in sizes]
        self._each(torch.zero_)
        self._stand(torch.arange(n_sentences))
        self._readers_NC = torch.zeros(n_sentences * beam_size, room, dtype=torch.long)
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
            self._move(self._places_B.numel(), capacity + more)
        if self._beam_size > 1:
            readers_N = _in_turn(self.n_rows, self._beam_size)
            if self._behind_N is None:
                self._readers_NC[:, self.n_tokens] = readers_N
            else:
                self._readers_NC[torch.arange(self.n_rows), self.n_tokens - self._behind_N] = readers_N
        self.n_tokens += 1

    @property
    def _n_places(self) -> int:
        """P."""
        return self._layers[0][0][0].size(0)

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
            self._each(lambda part: part.index_select(0, rows_N))
            self._stand(torch.arange(n_rows))
        elif n_rows < self.n_rows:
            staying_B = rows_N[:: self._beam_size].div(self._beam_size, rounding_mode="floor")
            self._stand(self._places_B.index_select(0, staying_B))
            self._expected_B = self._expected_B.index_select(0, staying_B)
            if is_to_move(self._n_places, staying_B.numel()):
                self._move(staying_B.numel(), self._readers_NC.size(1))
        readers_NC = self._readers_NC
        self._readers_NC = readers_NC.index_select(0, rows_N) if is_beam else readers_NC[:n_rows]

    def join(self, other: Cache) -> None:
        """Take in the sentences of another, after those that there are; both of what may stay.

        They get places that nobody has any more, where there are enough, and these have room for what is
        expected of all and are not much too large.
        """
        n_tokens, n_new = max(self.n_tokens, other.n_tokens), other._places_B.numel()
        behind_N = torch.cat([cache.behind_N + n_tokens - cache.n_tokens for cache in (self, other)])
        self._expected_B = torch.cat([self._expected_B, other._expected_B])
        room = rounded_up(max(n_tokens + 1, int(self._expected_B.max())), ROOM)
        free = free_places(self._n_places, self._places_B)
        if free.numel() < n_new or not room <= self._readers_NC.size(1) <= 2 * room:
            self._move(with_spare(self._places_B.numel() + n_new), room)
            free = free_places(self._n_places, self._places_B)
        places, times = free[:n_new], slice(0, other.n_tokens)

        def taken_in(part: Tensor, theirs: Tensor) -> Tensor:
            part.index_fill_(0, places, 0)
            part[places, :, times] = theirs[other._places_B, :, times]
            return part

        self._layers = of_both(taken_in, self._layers, other._layers)
        self._stand(torch.cat([self._places_B, places]))
        capacity = self._readers_NC.size(1)
        self._readers_NC = torch.cat([self._readers_NC, _in_room(other._readers_NC, capacity)])
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
        return read if self.n_rows == self._n_places else read.index_select(0, self._places_B)

    def _move(self, n_places: int, room: int) -> None:
        """The sentences, in order, to the first of ``n_places`` with ``room``; all else there is zero."""
        B, times = self._places_B.numel(), slice(0, self.n_tokens)

        def moved(part: Tensor) -> Tensor:
            _, H, _, *of_each = part.shape
            found = part.new_zeros(n_places, H, room, *of_each)
            found[:B, :, times] = part[self._places_B, :, times]
            return found

        self._each(moved)
        self._stand(torch.arange(B))
        self._readers_NC = _in_room(self._readers_NC, room)

    def _stand(self, places_B: Tensor) -> None:
        self._places_B = places_B
        K = self._beam_size
        self._places_N = places_B if K == 1 else places_B.repeat_interleave(K)

    def _each(self, change: Callable[[Tensor], Tensor]) -> None:
        self._layers = [(tuple(map(change, key)), tuple(map(change, value))) for key, value in self._layers]


@lru_cache(maxsize=64)
def _in_turn(n_rows: int, beam_size: int) -> Tensor:
    """0 to K - 1, for each sentence."""
    return torch.arange(n_rows) % beam_size


@lru_cache(maxsize=256)
def _none_behind(n_rows: int) -> Tensor:
    return torch.zeros(n_rows, dtype=torch.long)


def _in_room(readers_NC: Tensor, room: int) -> Tensor:
    """For so many times."""
    return F.pad(readers_NC, (0, room - readers_NC.size(1)))
