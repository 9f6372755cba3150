"""A batch of sentence pairs as padded id tensors.

Dimensions: B sentences, S source length, T target length. Masks are True at real tokens, False at padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.config import SpecialIds


@dataclass(frozen=True)
class Batch:
    """Padded token ids; the target side is present in training and in forced passes, absent in search.

    ``target_in_BT`` begins with BOS and ``target_out_BT`` ends with EOS: position t of the first predicts
    position t of the second.
    """

    source_BS: Tensor
    source_mask_BS: Tensor
    target_in_BT: Tensor | None = None
    target_out_BT: Tensor | None = None
    target_mask_BT: Tensor | None = None
    links_BTS: Tensor | None = None
    """Which target pieces are linked to which of the source, bool, for supervised attention."""

    @classmethod
    def from_ids(
        cls,
        source: Sequence[Sequence[int]],
        target: Sequence[Sequence[int]] | None = None,
        *,
        special: SpecialIds,
        pad_to: tuple[int, int] = (0, 0),
    ) -> Batch:
        """Pad lists of ids (no BOS or EOS inside): ``source EOS``, ``BOS target`` and ``target EOS``.

        Args:
            source: one list of ids for each sentence.
            target: as many lists, or None in search.
            special: ids of padding, BOS and EOS.
            pad_to: least padded lengths (S, T), for static shapes.
        """
        source_pad = special.pad if special.source_pad is None else special.source_pad
        source_BS = pad([[*ids, special.eos] for ids in source], source_pad, at_least=pad_to[0])
        source_mask_BS = lengths_mask([len(ids) + 1 for ids in source], source_BS.size(1))
        if target is None:
            return cls(source_BS, source_mask_BS)
        if len(target) != len(source):
            raise ValueError(f"{len(source)} source sentences but {len(target)} target sentences")
        target_in_BT = pad([[special.bos, *ids] for ids in target], special.pad, at_least=pad_to[1])
        target_out_BT = pad([[*ids, special.eos] for ids in target], special.pad, at_least=pad_to[1])
        target_mask_BT = lengths_mask([len(ids) + 1 for ids in target], target_in_BT.size(1))
        return cls(source_BS, source_mask_BS, target_in_BT, target_out_BT, target_mask_BT)

    @property
    def size(self) -> int:
        """Number of sentences, B."""
        return self.source_BS.size(0)

    def rows(self, rows: slice) -> Batch:
        """Some of the sentences, padded as they are."""
        return self._each(lambda tensor: tensor[rows])

    def twice(self) -> Batch:
        """The batch, and after it the same sentences once more."""
        return self._each(lambda tensor: torch.cat((tensor, tensor)))

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on ``device``; copies are asynchronous where the memory is pinned."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        """The same batch in page-locked memory, from which a GPU copies without waiting."""
        return self._each(Tensor.pin_memory)

    def _each(self, change: Callable[[Tensor], Tensor]) -> Batch:
        tensors = (
            self.source_BS,
            self.source_mask_BS,
            self.target_in_BT,
            self.target_out_BT,
            self.target_mask_BT,
            self.links_BTS,
        )
        return Batch(*(None if tensor is None else change(tensor) for tensor in tensors))  # type: ignore[arg-type]


def pad(rows: Sequence[Sequence[int]], pad_id: int, *, at_least: int = 0) -> Tensor:
    """Rows of ids -> (len(rows), longest) int64 tensor, padded on the right."""
    width = max([at_least, *(len(row) for row in rows)])
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows], dtype=torch.long).view(
        len(rows), width
    )


def lengths_mask(lengths: Sequence[int], width: int) -> Tensor:
    """Lengths -> (len(lengths), width) bool tensor, True at the first ``length`` positions of each row."""
    return torch.arange(width) < torch.tensor(lengths, dtype=torch.long).unsqueeze(1)
