"""A vocabulary shortlist: the target pieces that a source sentence can need (Jean et al. 2015, section 3.2).

A decoder that knows which pieces a translation may hold projects to those alone. The list of a sentence is

- the pieces that are frequent in every text, the special ones, the bytes and the placeholders,
- for each of its pieces those that it is most often aligned with (``training.shortlist`` learns them),
- its own pieces, for names and numbers are copied.

It depends on the sentence alone, never on the batch. It is an optional file of the model folder; a decoder
that is not given one looks at every piece.

Dimensions: V vocabulary, C candidates of each source piece, A pieces of every list, U pieces of some list of
a batch, B sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from nmt.errors import ModelFolderError

NONE = -1
"""In the table: no further candidate."""


@dataclass(frozen=True)
class Shortlist:
    """Which target pieces go with which source pieces."""

    always_A: Tensor
    """Int32, sorted: in every list."""
    candidates_VC: Tensor
    """Int32: for each source piece its candidates, most probable first, ``NONE`` where there are no more."""

    @property
    def vocab_size(self) -> int:
        """V."""
        return self.candidates_VC.size(0)

    def for_sources(self, sources: Sequence[Sequence[int]], also: Sequence[int] = ()) -> Tensor:
        """The union of the lists of some sentences.

        Args:
            sources: token ids of each.
            also: further pieces, of forced terms and prefixes say.

        Returns:
            ids_U, int64, sorted, each once.
        """
        kept_V = self._marked(sources)
        if also:
            kept_V[:, torch.tensor(list(also))] = True
        return kept_V.any(dim=0).nonzero().squeeze(1)

    def forbidden(self, sources: Sequence[Sequence[int]], ids_U: Tensor) -> Tensor:
        """Where a sentence's own list lacks a piece of the union, bool (B, U)."""
        return ~self._marked(sources)[:, ids_U]

    def _marked(self, sources: Sequence[Sequence[int]]) -> Tensor:
        """True at the pieces of each sentence's list, (B, V)."""
        kept_BV = torch.zeros(len(sources), self.vocab_size + 1, dtype=torch.bool)
        kept_BV[:, self.always_A.long()] = True
        for kept_V, source in zip(kept_BV, sources, strict=True):
            ids_S = torch.tensor(list(source), dtype=torch.long)
            kept_V[self.candidates_VC[ids_S].long().flatten()] = True  # NONE marks the column after the last
            kept_V[ids_S] = True
        return kept_BV[:, :-1]


def write_shortlist(path: Path, shortlist: Shortlist) -> None:
    """Write a shortlist as safetensors."""
    save_file({"always": shortlist.always_A, "candidates": shortlist.candidates_VC.contiguous()}, path)


def read_shortlist(path: Path, vocab_size: int) -> Shortlist:
    """Read a shortlist.

    Raises:
        ModelFolderError: it is none, or one of another vocabulary.
    """
    try:
        tensors = load_file(path)
        shortlist = Shortlist(tensors["always"], tensors["candidates"])
    except (SafetensorError, OSError, KeyError) as error:
        raise ModelFolderError(f"{path}: not a readable shortlist: {error}") from None
    largest = max(int(shortlist.always_A.max()), int(shortlist.candidates_VC.max()))
    if shortlist.vocab_size != vocab_size or largest >= vocab_size:
        raise ModelFolderError(
            f"{path}: for a vocabulary of {shortlist.vocab_size} pieces, the model has {vocab_size}; "
            "run nmt shortlist on this folder"
        )
    return shortlist
