"""Keys and values of the sources of sentences that started together: what cross-attention reads at each step.

They are projected once, never repeated for beams, and at first stay where they are when sentences leave: it
is noted where those that stay stand. They lie in one of two ways. ``in_order`` is for torch's attention. In
``laid_out``, for a step that is one call (``nmt.engines.whole``), positions of the source fill whole
registers, and a key's numbers lie one beneath the other: so a register holds the scores of neighbouring
positions, and nothing has to be added up across it.

Dimensions: B sentences, P of them that have a place, S source length, L source length rounded up to LANES, H
heads, E per head.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

LANES = 16
"""Numbers of float32 in the widest register."""

Layers = list[tuple[Tensor, Tensor]]
"""Of each decoder layer keys and values."""


class Memory:
    """Of a group of sentences; whoever has it may drop sentences.

    Args:
        layers: keys_PHSE and values_PHSE.
        mask_P11S: what to add to attention scores: 0, or -inf at padding; None where nothing is padded.
    """

    def __init__(self, layers: Layers, mask_P11S: Tensor | None) -> None:
        self._layers = layers
        self._mask_P11S = mask_P11S
        self._n_places = layers[0][0].size(0)
        self._places_B: Tensor | None = None
        self._unrounded: tuple[int, torch.dtype] | None = None
        """S, and the type it had, while it is laid out."""

    @property
    def n_sentences(self) -> int:
        """Of those that have not left."""
        return self._n_places if self._places_B is None else self._places_B.numel()

    @property
    def places_B(self) -> Tensor | None:
        """Where each sentence stands; None: all in order."""
        return self._places_B

    def select(self, sentences_B: Tensor) -> None:
        """Keep these."""
        self._places_B = sentences_B if self._places_B is None else self._places_B[sentences_B]
        if 2 * sentences_B.numel() <= self._n_places:
            self._move()  # nobody reads half of it any more

    def in_order(self) -> tuple[Layers, Tensor | None]:
        """keys_BHSE and values_BHSE, and mask_B11S, of the sentences alone."""
        self._move()
        if self._unrounded is not None:
            length, dtype = self._unrounded
            self._layers = [
                (key.to(dtype).transpose(2, 3)[:, :, :length].contiguous(), value[:, :, :length].to(dtype))
                for key, value in self._layers
            ]
            assert self._mask_P11S is not None
            self._mask_P11S = self._mask_P11S[..., :length].to(dtype)
            self._unrounded = None
        return self._layers, self._mask_P11S

    def laid_out(self, dtype: torch.dtype) -> tuple[Layers, Tensor]:
        """keys_PHEL and values_PHLE in ``dtype``, and mask_P11L; what is read of it, ``places_B`` tell."""
        if self._unrounded is None:
            self._move()
            key, _ = self._layers[0]
            length = key.size(2)
            missing = -length % LANES
            if self._mask_P11S is None:
                self._mask_P11S = key.new_zeros(key.size(0), 1, 1, length)
            self._mask_P11S = F.pad(self._mask_P11S, (0, missing), value=-torch.inf).to(dtype)
            self._unrounded = length, key.dtype
            self._layers = [
                (_beneath(key.to(dtype), missing), F.pad(value.to(dtype), (0, 0, 0, missing)))
                for key, value in self._layers
            ]
        assert self._mask_P11S is not None
        return self._layers, self._mask_P11S

    def _move(self) -> None:
        """Leave nothing but the sentences, in order."""
        if self._places_B is None:
            return
        places_B, self._places_B = self._places_B, None
        self._n_places = places_B.numel()
        self._layers = [
            (key.index_select(0, places_B), value.index_select(0, places_B)) for key, value in self._layers
        ]
        if self._mask_P11S is not None:
            self._mask_P11S = self._mask_P11S.index_select(0, places_B)


def _beneath(key_PHSE: Tensor, missing: int) -> Tensor:
    """key_PHEL, zeros at the ``missing`` positions."""
    P, H, S, E = key_PHSE.shape
    key_PHEL = key_PHSE.new_zeros(P, H, E, S + missing)
    key_PHEL[..., :S].copy_(key_PHSE.transpose(2, 3))
    return key_PHEL
