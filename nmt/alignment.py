"""Attention -> word links, from a forced pass over a finished translation.

The model reads the whole translation at once and row t of its cross-attention is the attention paid while
token t of the target was predicted (``Batch.target_out_BT``), not while it was read one step later. The rows
and columns of sub-words are pooled to words by character spans, and each target word is linked to the source
word that it attended to most, if that is clearly more than chance.

Attention need not be alignment (Jain and Wallace 2019): ``alignment_error_rate`` tells how good it is.

Dimensions: B sentences, S source length with EOS, T target length with EOS, I target words, J source words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import AlignmentConfig, SpecialIds
from nmt.errors import ConfigError, NumericalError, TextTooLongError
from nmt.models.interface import SequenceModel
from nmt.pharaoh import (
    Extraction,
    Link,
    Pair,
    alignment_error_rate,
    parse_pharaoh,
    precision_and_recall,
    symmetrize,
    to_pharaoh,
)
from nmt.tokenizer import Piece, Tokenizer
from nmt.words import Token, whitespace_words, words

__all__ = [
    "Aligner",
    "Alignment",
    "Link",
    "Pair",
    "Token",
    "alignment_error_rate",
    "length_batches",
    "links_from_matrix",
    "parse_pharaoh",
    "pool",
    "precision_and_recall",
    "symmetrize",
    "to_pharaoh",
    "whitespace_words",
    "words",
]

EncodedText = tuple[str, Sequence[Piece]]
"""A text and its pieces, whose spans index it."""


THRESHOLD = 1.5
"""A link needs this many times the uniform share of attention, or half of all if that is less."""


@dataclass(frozen=True)
class Alignment:
    """Words of a sentence pair and the links between them."""

    source_tokens: tuple[Token, ...]
    target_tokens: tuple[Token, ...]
    links: tuple[Link, ...]
    matrix: tuple[tuple[float, ...], ...]
    """``matrix[i][j]``: share of target word i's attention on source word j; a row sums to 1, or is all 0."""


class Aligner:
    """Word alignment by the cross-attention of ``model``, in batches.

    Args:
        model: any model that exposes an attention.
        tokenizer: the model's own.
        config: which layer and heads.
        special: ids of padding, BOS and EOS.
        device: where the model is.
        max_tokens: positions that the model has for a sentence, BOS or EOS counted; None: any number.
    """

    def __init__(
        self,
        model: SequenceModel,
        tokenizer: Tokenizer,
        config: AlignmentConfig,
        special: SpecialIds,
        device: torch.device | str = "cpu",
        *,
        max_tokens: int | None = None,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.config = config
        self.special = special
        self.device = device
        self.max_tokens = max_tokens

    def reading(self, config: AlignmentConfig) -> Aligner:
        """The same aligner on another layer or other heads."""
        return Aligner(
            self.model, self.tokenizer, config, self.special, self.device, max_tokens=self.max_tokens
        )

    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        words: Callable[[str], list[Token]] = words,
        extraction: Extraction = "argmax",
        threshold: float = THRESHOLD,
        max_batch_tokens: int = 4096,
    ) -> list[Alignment]:
        """Align given sentence pairs, in their order. A pair with a blank side has no links.

        Args:
            pairs: source and target sentence.
            words: text -> tokens to link; ``whitespace_words`` where the tokenisation is given.
            extraction: see ``links_from_matrix``.
            threshold: see ``links_from_matrix``.
            max_batch_tokens: padded tokens read at once, of the longer side.

        Raises:
            ConfigError: the model exposes no attention, or not the layer or heads asked for.
            TextTooLongError: a side has more tokens than the model has positions.
        """
        encode = self.tokenizer.encode_pieces
        return self.align_encoded(
            [((source, encode(source)), (target, encode(target))) for source, target in pairs],
            words=words,
            extraction=extraction,
            threshold=threshold,
            max_batch_tokens=max_batch_tokens,
        )

    def align_encoded(
        self,
        pairs: Sequence[tuple[EncodedText, EncodedText]],
        *,
        words: Callable[[str], list[Token]] = words,
        extraction: Extraction = "argmax",
        threshold: float = THRESHOLD,
        max_batch_tokens: int = 4096,
    ) -> list[Alignment]:
        """``align`` for texts with the pieces that were read and written; to encode again may give others."""
        attention = self.attend(
            [[piece.id for piece in pieces] for (_, pieces), _ in pairs],
            [[piece.id for piece in pieces] for _, (_, pieces) in pairs],
            max_batch_tokens,
        )
        alignments: list[Alignment] = []
        for ((source, source_pieces), (target, target_pieces)), attention_TS in zip(
            pairs, attention, strict=True
        ):
            source_words, target_words = words(source), words(target)
            matrix_IJ = pool(attention_TS, target_pieces, source_pieces, target_words, source_words)
            links = links_from_matrix(matrix_IJ, extraction, threshold)
            alignments.append(
                Alignment(tuple(source_words), tuple(target_words), tuple(links), to_rows(matrix_IJ))
            )
        return alignments

    @torch.inference_mode()
    def attend(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], max_batch_tokens: int = 4096
    ) -> list[Tensor]:
        """The forced pass: for each pair of id lists its attention_TS, EOS row and column included.

        Raises:
            ConfigError: the model exposes no attention, or not the layer or heads asked for.
            TextTooLongError: a list is longer than the model's positions.
            NumericalError: the attention is NaN.
        """
        found: dict[int, Tensor] = {}
        lengths = [max(len(source), len(target)) + 1 for source, target in zip(sources, targets, strict=True)]
        if self.max_tokens is not None and max(lengths, default=0) > self.max_tokens:
            index = next(index for index, length in enumerate(lengths) if length > self.max_tokens)
            raise TextTooLongError(
                f"sentence pair {index + 1} has {lengths[index] - 1} tokens on one side; the model aligns "
                f"at most {self.max_tokens - 1}; split it"
            )
        for rows in length_batches(lengths, max_batch_tokens):
            batch = Batch.from_ids(
                [sources[row] for row in rows], [targets[row] for row in rows], special=self.special
            )
            _, attention_BTS = self.model.forward_with_attention(
                batch.to(self.device), self.config.layer, self.config.heads
            )
            if attention_BTS is None:
                raise ConfigError(
                    "this model has no attention, so it cannot align words; use one that has, or no alignment"
                )
            if not torch.isfinite(attention_BTS).all():
                raise NumericalError(
                    "the attention holds NaN: the model's weights or its numerical precision are at fault"
                )
            for row, attention_TS in zip(rows, attention_BTS.float().cpu(), strict=True):
                found[row] = attention_TS[: len(targets[row]) + 1, : len(sources[row]) + 1]
        return [found[row] for row in range(len(sources))]


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


def pool(
    attention_TS: Tensor,
    target_pieces: Sequence[Piece],
    source_pieces: Sequence[Piece],
    target_words: Sequence[Token],
    source_words: Sequence[Token],
) -> Tensor:
    """Sub-word attention -> word attention by character spans.

    Over the source pieces of a word attention is summed, for it is a share of a whole; over the target pieces
    of a word it is averaged. The EOS row and column are left out and each row is made to sum to 1 again. A
    piece that spans several words is divided among them by characters; one of white space alone goes to the
    word that begins there.

    Returns:
        matrix_IJ; the row of a target word without pieces, or with all attention on EOS, is 0.
    """
    T, S = len(target_pieces), len(source_pieces)
    if attention_TS.shape != (T + 1, S + 1):
        raise ValueError(
            f"attention {tuple(attention_TS.shape)} for {T} target and {S} source pieces and EOS"
        )
    shares_TI = _shares(target_pieces, target_words)
    shares_SJ = _shares(source_pieces, source_words)
    # a sum over target pieces: making rows sum to 1 turns it into the mean
    matrix_IJ = shares_TI.T @ attention_TS[:T, :S].float() @ shares_SJ
    return matrix_IJ / matrix_IJ.sum(dim=1, keepdim=True).clamp(min=1e-9)


def links_from_matrix(
    matrix_IJ: Tensor, extraction: Extraction = "argmax", threshold: float = THRESHOLD
) -> list[Link]:
    """Links by target word, then source word; the score is the matrix entry.

    Args:
        matrix_IJ: of ``pool``.
        extraction: ``argmax``: each target word with the source word it attends to most. The others combine
            these links with those of each source word to the target word that attends to it most:
            ``intersection`` (both), ``union`` (either), ``grow_diag_final_and`` (in between).
        threshold: entries below ``min(threshold / J, 1/2)`` are no links; 0 keeps all that attend at all.
    """
    n_target, n_source = matrix_IJ.shape
    if not n_target or not n_source:
        return []
    least = max(min(threshold / n_source, 0.5), 1e-9)

    def link(target: int, source: int) -> Link:
        return Link(source, target, float(matrix_IJ[target, source]))

    by_target = [link(i, j) for i, j in enumerate(matrix_IJ.argmax(dim=1).tolist())]
    chosen = [entry for entry in by_target if entry.score >= least]
    if extraction == "argmax":
        return chosen
    by_source = [link(i, j) for j, i in enumerate(matrix_IJ.argmax(dim=0).tolist())]
    combined = symmetrize(chosen, [entry for entry in by_source if entry.score >= least], extraction)
    return [link(entry.target, entry.source) for entry in combined]


def to_rows(matrix_IJ: Tensor) -> tuple[tuple[float, ...], ...]:
    """A matrix as plain numbers."""
    return tuple(tuple(row) for row in matrix_IJ.tolist())


def _shares(pieces: Sequence[Piece], tokens: Sequence[Token]) -> Tensor:
    """Which part of each piece belongs to each word: (pieces, words); rows sum to 1 or, outside words, 0."""
    piece_P2 = torch.tensor([(p.start, p.end) for p in pieces], dtype=torch.float32).view(-1, 1, 2)
    word_W2 = torch.tensor([(t.start, t.end) for t in tokens], dtype=torch.float32).view(1, -1, 2)
    overlap_PW = torch.minimum(piece_P2[..., 1], word_W2[..., 1]) - torch.maximum(
        piece_P2[..., 0], word_W2[..., 0]
    )
    begins_PW = (piece_P2[..., 0] == piece_P2[..., 1]) & (piece_P2[..., 0] == word_W2[..., 0])
    shares_PW = torch.where(begins_PW, 1.0, overlap_PW.clamp(min=0))
    return shares_PW / shares_PW.sum(dim=1, keepdim=True).clamp(min=1e-9)
