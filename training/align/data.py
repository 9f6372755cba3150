"""Linked sentence pairs, what the link scorer is trained on, and how they become examples.

A file of links has a line for each pair, ``source TAB target TAB forward TAB backward``: the two texts, and
the links of a statistical aligner in each direction as Pharaoh pairs of counted tokens
(``nmt.alignment.tokens``). A name that ends in .xz is compressed.

Dimensions: B sentences, S source pieces, T target pieces.
"""

from __future__ import annotations

import lzma
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO, cast

import torch
from torch import Tensor

from nmt.alignment.pharaoh import Pair, parse_pharaoh
from nmt.alignment.pooling import piece_shares
from nmt.alignment.tokens import Counted, counted_tokens
from nmt.batch import Batch
from nmt.config import ModelFolderConfig
from nmt.errors import DataError
from nmt.text.words import Token, whitespace_words, words
from nmt.tokenizer import Tokenizer

MOST_PIECES = 80
"""Pieces of a side; a longer pair is left out."""
WRITTEN_OUT = 0.4
"""Share of the pairs that are shown as their counted tokens, half of those lower-cased: tokenised text, as
gold alignments have it, is then no stranger."""


@dataclass(frozen=True)
class LinkedPair:
    """A sentence pair and the links of its counted tokens in both directions."""

    source: str
    target: str
    forward: frozenset[Pair]
    backward: frozenset[Pair]

    def reversed(self) -> LinkedPair:
        """The same for a model of the other direction."""
        return LinkedPair(
            self.target,
            self.source,
            frozenset((i, j) for j, i in self.backward),
            frozenset((i, j) for j, i in self.forward),
        )


@dataclass(frozen=True)
class Example:
    """Piece ids, and which pieces are linked: bool (T, S) matrices of both directions."""

    source_ids: list[int]
    target_ids: list[int]
    forward_TS: Tensor
    backward_TS: Tensor

    @property
    def length(self) -> int:
        """Pieces of the longer side."""
        return max(len(self.source_ids), len(self.target_ids))


def open_links(path: Path, mode: Literal["r", "w"]) -> TextIO:
    """Open a file of links, for "r" or "w"."""
    if path.suffix == ".xz":
        return cast(TextIO, lzma.open(path, mode + "t", encoding="utf-8"))
    return cast(TextIO, path.open(mode, encoding="utf-8"))


def read_lines(path: Path) -> list[str]:
    """The lines of a file of links, not taken apart yet.

    Raises:
        DataError: the file is missing, empty or no text.
    """
    try:
        with open_links(path, "r") as file:
            lines = [line.rstrip("\n") for line in file]
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        raise DataError(f"{path}: not a readable file of links: {error}") from None
    if not lines:
        raise DataError(f"{path}: no line; nmt align-links writes such a file")
    return lines


def parse_line(line: str, where: str) -> LinkedPair:
    """One line of a file of links; ``where`` begins the error message.

    Raises:
        DataError: it has not four columns, or something in the last two is no link.
    """
    columns = line.split("\t")
    if len(columns) != 4:
        raise DataError(
            f"{where}: {len(columns)} columns; expected source, target and the links of both directions"
        )
    return LinkedPair(
        columns[0],
        columns[1],
        frozenset(parse_pharaoh(columns[2])[0]),
        frozenset(parse_pharaoh(columns[3])[0]),
    )


def examples(
    lines: Iterable[str],
    tokenizers: tuple[Tokenizer, Tokenizer],
    config: ModelFolderConfig,
    seed: int,
    *,
    is_reversed: bool = False,
) -> Iterator[Example]:
    """Lines -> examples; pairs that are too long or blank are left out.

    Args:
        lines: of a file of links.
        tokenizers: of what the model reads and of what it writes.
        config: the model's.
        seed: of how pairs are shown.
        is_reversed: the lines are of the other direction: their sides are swapped.
    """
    generator = random.Random(seed)
    for number, line in enumerate(lines, start=1):
        pair = parse_line(line, f"line {number} of the links chosen")
        pair = pair.reversed() if is_reversed else pair
        draw = generator.random()
        example = linked_pieces(
            pair,
            tokenizers,
            (config.source_language, config.target_language),
            written_out=draw < WRITTEN_OUT,
            lower=draw < WRITTEN_OUT / 2,
        )
        if example is not None:
            yield example


def linked_pieces(
    pair: LinkedPair,
    tokenizers: tuple[Tokenizer, Tokenizer],
    languages: tuple[str, str],
    *,
    written_out: bool = False,
    lower: bool = False,
) -> Example | None:
    """A pair as pieces; None where a side is blank or has more than ``MOST_PIECES``.

    Args:
        pair: texts and links.
        tokenizers: of what the model reads and of what it writes.
        languages: of source and target.
        written_out: show the counted tokens instead of the texts.
        lower: those in lower case.

    Raises:
        DataError: a link names a token that the pair does not have.
    """
    (source, source_words, source_at), (target, target_words, target_at) = (
        _side(text, language, written_out=written_out, lower=lower)
        for text, language in zip((pair.source, pair.target), languages, strict=True)
    )
    source_pieces, target_pieces = (
        tokenizer.encode_pieces(text) for tokenizer, text in zip(tokenizers, (source, target), strict=True)
    )
    if not 0 < len(source_pieces) <= MOST_PIECES or not 0 < len(target_pieces) <= MOST_PIECES:
        return None
    source_owner = piece_shares(source_pieces, source_words).argmax(dim=1)
    target_owner = piece_shares(target_pieces, target_words).argmax(dim=1)

    def matrix(links: Iterable[Pair]) -> Tensor:
        linked_IJ = torch.zeros(len(target_words), len(source_words), dtype=torch.bool)
        for j, i in links:
            if j >= len(source_at) or i >= len(target_at):
                raise DataError(f"link {j}-{i}: the pair has {len(source_at)} and {len(target_at)} tokens")
            linked_IJ[target_at[i], source_at[j]] = True
        return linked_IJ[target_owner][:, source_owner]

    return Example(
        [piece.id for piece in source_pieces],
        [piece.id for piece in target_pieces],
        matrix(pair.forward),
        matrix(pair.backward),
    )


def _side(text: str, language: str, *, written_out: bool, lower: bool) -> tuple[str, list[Token], list[int]]:
    """A text as it is shown, its words, and the word of each counted token."""
    own = words(text)
    counted = counted_tokens(own, language)
    if not written_out:
        return text, own, [token.word for token in counted]
    shown = " ".join(_shown(counted, own, lower=lower))
    return shown, whitespace_words(shown), list(range(len(counted)))


def _shown(counted: Sequence[Counted], own: Sequence[Token], *, lower: bool) -> Iterator[str]:
    """Counted tokens, with the capitals of their words unless ``lower``."""
    last = -1
    for token in counted:
        begins = token.word != last
        last = token.word
        capital = not lower and begins and own[token.word].text[:1].isupper()
        yield token.text[:1].upper() + token.text[1:] if capital else token.text


@dataclass(frozen=True)
class LinkedBatch:
    """Padded examples."""

    batch: Batch
    forward_BTS: Tensor
    backward_BTS: Tensor
    """Bool, without the null position; False at padding."""


def collate(chosen: Sequence[Example], config: ModelFolderConfig) -> LinkedBatch:
    """Examples -> a batch."""
    batch = Batch.from_ids(
        [example.source_ids for example in chosen],
        [example.target_ids for example in chosen],
        special=config.special_ids,
    )
    assert batch.target_in_BT is not None
    shape = len(chosen), batch.target_in_BT.size(1) - 1, batch.source_BS.size(1) - 1
    forward_BTS, backward_BTS = (torch.zeros(shape, dtype=torch.bool) for _ in range(2))
    for row, example in enumerate(chosen):
        T, S = example.forward_TS.shape
        forward_BTS[row, :T, :S] = example.forward_TS
        backward_BTS[row, :T, :S] = example.backward_TS
    return LinkedBatch(batch, forward_BTS, backward_BTS)
