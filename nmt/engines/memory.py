"""Keys and values of the sources of a group of sentences: what cross-attention reads at each step.

They are projected once, never repeated for beams, and at first stay where they are when sentences leave: it
is noted where those that stay stand. They lie in one of two ways. ``in_order`` is for torch's attention. In
``laid_out``, for a step that is one call (``nmt.engines.whole``), positions of the source fill whole
registers, and a key's numbers lie one beneath the other: so a register holds the scores of neighbouring
positions, and nothing has to be added up across it. Sentences that started at different times may be joined
so.

Dimensions: B sentences, P of them that have a place, S source length, L source length rounded up to LANES, H
heads, E per head.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from nmt.engines.arithmetic import rounded_up
from nmt.engines.keeping import Kept, KeptIn, KeptLayers, kept, of_both, restored
from nmt.engines.places import free_places, is_to_move, with_spare
from nmt.extensions import LANES

Layers = list[tuple[Tensor, Tensor]]
"""Of each decoder layer keys_PHSE and values_PHSE."""
LaidOut = KeptLayers
"""Of each decoder layer keys (P, H, E, L) and values (P, H, L, E), in int8 each with scales_PHL."""


@dataclass
class Memory:
    """Of a group of sentences; whoever has it may drop sentences."""

    n_places: int
    """P."""
    length: int
    """S."""
    dtype: torch.dtype
    """In order they are in it."""
    mask: Tensor | None
    """What to add to attention scores: 0, or -inf at padding; None where nothing is padded."""
    layers: Layers | None = None
    """In order; None: they are laid out."""
    layers_laid_out: LaidOut | None = None
    places_B: Tensor | None = None
    """Where each sentence that has not left stands; None: all in order."""

    @classmethod
    def of(cls, layers: Layers, mask_P11S: Tensor | None) -> Memory:
        """Of what is in order."""
        P, _, S, _ = layers[0][0].shape
        return cls(P, S, layers[0][0].dtype, mask_P11S, layers)

    @classmethod
    def of_laid_out(cls, layers: LaidOut, mask_P11L: Tensor, length: int, dtype: torch.dtype) -> Memory:
        """Of what is laid out; of ``length``, and in ``dtype`` where it is to be put in order."""
        return cls(mask_P11L.size(0), length, dtype, mask_P11L, None, layers)

    @property
    def n_sentences(self) -> int:
        """Of those that have not left."""
        return self.n_places if self.places_B is None else self.places_B.numel()

    def select(self, sentences_B: Tensor) -> None:
        """Keep these."""
        self.places_B = sentences_B if self.places_B is None else self.places_B[sentences_B]
        if is_to_move(self.n_places, sentences_B.numel()):
            self._move()

    def in_order(self) -> tuple[Layers, Tensor | None]:
        """keys_BHSE and values_BHSE, and mask_B11S, of the sentences alone."""
        self._move()
        if self.layers is None:
            laid_out, mask = self._laid_out()
            places = slice(0, self.length)
            self.layers = [
                (
                    restored((key.transpose(2, 3), *key_scale))[:, :, places].to(self.dtype).contiguous(),
                    restored(value)[:, :, places].to(self.dtype),
                )
                for (key, *key_scale), value in laid_out
            ]
            self.mask, self.layers_laid_out = mask[..., places].to(self.dtype), None
        return self.layers, self.mask

    def laid_out(self, kept_in: KeptIn) -> tuple[LaidOut, Tensor]:
        """Keys and values kept so, and mask_P11L in float32; what is read of it, ``places_B`` tell."""
        if self.layers_laid_out is None:
            self._move()
            assert self.layers is not None
            missing = -self.length % LANES
            if self.mask is None:
                self.mask = torch.zeros(self.n_places, 1, 1, self.length)
            self.mask = F.pad(self.mask.float(), (0, missing), value=-torch.inf)
            filled = [
                [kept(F.pad(part.float(), (0, 0, 0, missing)), kept_in) for part in layer]
                for layer in self.layers
            ]
            self.layers_laid_out = [
                ((key.transpose(2, 3).contiguous(), *key_scale), value) for (key, *key_scale), value in filled
            ]
            self.layers = None
        return self._laid_out()

    def join(self, other: Memory, kept_in: KeptIn) -> None:
        """Take in the sentences of another, after those that there are; both are laid out.

        They get places that nobody has any more, where there are enough, and these have the right length.
        """
        self.laid_out(kept_in)
        other.laid_out(kept_in)
        other._move()
        self.length, n_new = max(self._longest(), other._longest()), other.n_places
        L, free = rounded_up(self.length, LANES), free_places(self.n_places, self._places())
        if free.numel() < n_new or self._room != L:
            self._move()
            self._lie(L, with_spare(self.n_places + n_new))
            free = free_places(self.n_places, self._places())
        other._lie(L, n_new)
        places = free[:n_new]

        def taken_in(part: Tensor, theirs: Tensor) -> Tensor:
            return part.index_copy_(0, places, theirs)

        mine, mask = self._laid_out()
        theirs, their_mask = other._laid_out()
        self.layers_laid_out, self.mask = of_both(taken_in, mine, theirs), taken_in(mask, their_mask)
        self.places_B = torch.cat([self._places(), places])

    def _laid_out(self) -> tuple[LaidOut, Tensor]:
        assert self.layers_laid_out is not None
        assert self.mask is not None
        return self.layers_laid_out, self.mask

    @property
    def _room(self) -> int:
        """L, of what is laid out."""
        return self._laid_out()[1].size(3)

    def _places(self) -> Tensor:
        """``places_B``, of all if all are in order."""
        return torch.arange(self.n_places) if self.places_B is None else self.places_B

    def _longest(self) -> int:
        """Tokens of the longest sentence, of those that have not left."""
        _, mask_P11L = self._laid_out()
        is_read_L = mask_P11L.index_select(0, self._places()).isfinite().flatten(1).any(dim=0)
        return int(is_read_L.nonzero().max()) + 1

    def _lie(self, length: int, n_places: int) -> None:
        """In places of ``length``, which is no less than the longest's, of which the last are for others."""
        layers, mask = self._laid_out()
        more, places = length - self._room, n_places - self.n_places
        if not more and not places:
            return

        def larger(part: Tensor, dim: int, value: float = 0.0) -> Tensor:
            sizes = [0] * 2 * part.ndim  # from the last dimension on, before and after
            sizes[-1], sizes[2 * (part.ndim - 1 - dim) + 1] = places, more
            return F.pad(part, sizes, value=value)

        self.layers_laid_out = [
            (
                (larger(key, 3), *(larger(scale, 2) for scale in key_scale)),
                tuple(larger(part, 2) for part in value),
            )
            for (key, *key_scale), value in layers
        ]
        self.mask, self.n_places = larger(mask, 3, -torch.inf), n_places
        if places:
            self.places_B = torch.arange(n_places - places)

    def _move(self) -> None:
        """Leave nothing but the sentences, in order."""
        if self.places_B is None:
            return
        places_B, self.places_B = self.places_B, None
        self.n_places = places_B.numel()

        def moved(parts: Kept) -> Kept:
            return tuple(part.index_select(0, places_B) for part in parts)

        if self.layers is not None:
            self.layers = [(key, value) for key, value in map(moved, self.layers)]
        if self.layers_laid_out is not None:
            self.layers_laid_out = [(moved(key), moved(value)) for key, value in self.layers_laid_out]
        if self.mask is not None:
            self.mask = self.mask.index_select(0, places_B)
