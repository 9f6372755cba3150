"""Results of alignment and the batches it is done in; no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.alignment.pharaoh import Link
from nmt.text.words import Token
from nmt.tokenizer import Piece

ALIGN_TOKENS = 4096
"""Padded tokens of a forced pass, of the longer side."""
THRESHOLD = 1.5
"""A link needs this many times the uniform share of attention, or half of all if that is less."""

EncodedText = tuple[str, Sequence[Piece]]
"""A text and its pieces, whose spans index it."""


@dataclass(frozen=True)
class Alignment:
    """Words of a sentence pair and the links between them."""

    source_tokens: tuple[Token, ...]
    target_tokens: tuple[Token, ...]
    links: tuple[Link, ...]
    matrix: tuple[tuple[float, ...], ...]
    """``matrix[i][j]``: share of target word i on source word j; a row sums to 1, or is all 0."""


def length_batches(lengths: Sequence[int], max_batch_tokens: int) -> list[list[int]]:
    """Indices in batches of similar length, longest first, at most ``max_batch_tokens`` with padding.

    An item longer than that is a batch by itself.
    """
    batches: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if not batches or (len(batches[-1]) + 1) * longest > max_batch_tokens:
            batches.append([])
            longest = lengths[index]
        batches[-1].append(index)
    return batches
