"""From sub-word matrices to word links: pooling by character spans, and how links follow.

Two sources have one shape. Attention is a single matrix, a share of each target word's attention; the link
scorer gives shares in both directions, and words are linked that agree.

Dimensions: S source pieces, T target pieces, I target words, J source words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.alignment.alignment import THRESHOLD
from nmt.alignment.pharaoh import Extraction, Link, Symmetrization, symmetrize
from nmt.alignment.scorer_config import LinkRule
from nmt.text.words import Token
from nmt.tokenizer import Piece

FAINT = 0.05
"""A target word that agrees with all source words together less than this has no row in the heat map."""


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
    shares_TI = piece_shares(target_pieces, target_words)
    shares_SJ = piece_shares(source_pieces, source_words)
    # a sum over target pieces: making rows sum to 1 turns it into the mean
    matrix_IJ = shares_TI.T @ attention_TS[:T, :S].float() @ shares_SJ
    return matrix_IJ / matrix_IJ.sum(dim=1, keepdim=True).clamp(min=1e-9)


def links_from_matrix(
    matrix_IJ: Tensor, extraction: Extraction = "argmax", threshold: float = THRESHOLD
) -> list[Link]:
    """Links by target word, then source word; the score is the matrix entry.

    Args:
        matrix_IJ: of ``pool``.
        extraction: ``argmax``, and ``default``: each target word with the source word it attends to most;
            ``backward``: each source word with the target word that attends to it most. The others combine
            the two: ``intersection`` (both), ``union`` (either), ``grow_diag`` and ``grow_diag_final_and``
            (in between).
        threshold: entries below ``min(threshold / J, 1/2)`` are no links; 0 keeps all that attend at all.
    """
    n_target, n_source = matrix_IJ.shape
    if not n_target or not n_source:
        return []
    least = max(min(threshold / n_source, 0.5), 1e-9)

    def link(target: int, source: int) -> Link:
        return Link(source, target, float(matrix_IJ[target, source]))

    by_target = [link(i, j) for i, j in enumerate(matrix_IJ.argmax(dim=1).tolist())]
    by_source = [link(i, j) for j, i in enumerate(matrix_IJ.argmax(dim=0).tolist())]
    forward = [entry for entry in by_target if entry.score >= least]
    backward = [entry for entry in by_source if entry.score >= least]
    combined = _combined(forward, backward, "argmax" if extraction == "default" else extraction)
    return [link(entry.target, entry.source) for entry in combined]


@dataclass(frozen=True)
class WordShares:
    """Shares of words in each other, of the link scorer; what is missing to 1 is linked to nothing."""

    forward_IJ: Tensor
    """Shares of each target word over the source words: rows sum to at most 1."""
    backward_IJ: Tensor
    """Shares of each source word over the target words: columns sum to at most 1."""

    def reversed(self) -> WordShares:
        """The same with source and target exchanged."""
        return WordShares(self.backward_IJ.T, self.forward_IJ.T)

    def agreement(self, rule: LinkRule) -> Tensor:
        """The score of each pair, 0 to 1: (I, J)."""
        if rule.agreement == "mean":
            return (self.forward_IJ + self.backward_IJ) / 2
        return (self.forward_IJ * self.backward_IJ).sqrt()

    def links(self, rule: LinkRule, extraction: Extraction = "default") -> list[Link]:
        """Links by target word, then source word.

        Args:
            rule: which pairs are linked by default.
            extraction: ``default``: those of ``rule``; ``argmax``: each target word with its best source
                word, if that has more than no word; ``backward``: the same for source words; the others
                combine those two.
        """
        if not self.forward_IJ.numel():
            return []
        if extraction == "default":
            score_IJ = self.agreement(rule)
            linked_IJ = score_IJ >= rule.threshold
            pairs = zip(linked_IJ.nonzero().tolist(), score_IJ[linked_IJ].tolist(), strict=True)
            return [Link(j, i, score) for (i, j), score in pairs]
        best_I, source_I = self.forward_IJ.max(dim=1)
        best_J, target_J = self.backward_IJ.max(dim=0)
        linked_I = best_I > 1 - self.forward_IJ.sum(dim=1)
        linked_J = best_J > 1 - self.backward_IJ.sum(dim=0)
        forward = [Link(int(source_I[i]), i, float(best_I[i])) for i in linked_I.nonzero().flatten().tolist()]
        backward = [
            Link(j, int(target_J[j]), float(best_J[j])) for j in linked_J.nonzero().flatten().tolist()
        ]
        return _combined(forward, backward, extraction)

    def matrix(self, rule: LinkRule) -> Tensor:
        """Cells of a heat map: the agreement, each row made to sum to 1; a faint row is 0."""
        score_IJ = self.agreement(rule)
        total_I1 = score_IJ.sum(dim=1, keepdim=True)
        return score_IJ / total_I1.clamp(min=1e-9) * (total_I1 >= FAINT)


def pool_shares(forward_TS: Tensor, backward_TS: Tensor, shares_TI: Tensor, shares_SJ: Tensor) -> WordShares:
    """Shares of pieces -> of words: summed over the pieces pointed to, averaged over those that point."""
    n_pieces_I1 = shares_TI.sum(dim=0).clamp(min=1e-9).unsqueeze(1)
    n_pieces_1J = shares_SJ.sum(dim=0).clamp(min=1e-9).unsqueeze(0)
    return WordShares(
        shares_TI.T @ forward_TS @ shares_SJ / n_pieces_I1,
        shares_TI.T @ backward_TS @ shares_SJ / n_pieces_1J,
    )


def piece_shares(pieces: Sequence[Piece], tokens: Sequence[Token]) -> Tensor:
    """Which part of each piece belongs to each word: (pieces, words); rows sum to 1 or, outside words, 0."""
    piece_P2 = torch.tensor([(p.start, p.end) for p in pieces], dtype=torch.float32).view(-1, 1, 2)
    word_W2 = torch.tensor([(t.start, t.end) for t in tokens], dtype=torch.float32).view(1, -1, 2)
    overlap_PW = torch.minimum(piece_P2[..., 1], word_W2[..., 1]) - torch.maximum(
        piece_P2[..., 0], word_W2[..., 0]
    )
    begins_PW = (piece_P2[..., 0] == piece_P2[..., 1]) & (piece_P2[..., 0] == word_W2[..., 0])
    shares_PW = torch.where(begins_PW, 1.0, overlap_PW.clamp(min=0))
    return shares_PW / shares_PW.sum(dim=1, keepdim=True).clamp(min=1e-9)


def to_rows(matrix_IJ: Tensor) -> tuple[tuple[float, ...], ...]:
    """A matrix as plain numbers."""
    return tuple(tuple(row) for row in matrix_IJ.tolist())


def _combined(forward: list[Link], backward: list[Link], extraction: Extraction) -> list[Link]:
    """One direction, or both symmetrised."""
    if extraction == "argmax":
        return forward
    if extraction == "backward":
        return sorted(backward, key=lambda link: (link.target, link.source))
    method: Symmetrization = extraction  # type: ignore[assignment]  # "default" never comes here
    return symmetrize(forward, backward, method)
