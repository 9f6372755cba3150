"""Lexical constraints (Hokamp and Liu 2017) for pieces that stand for copied text: each exactly once.

A placeholder of the source sentence must be in its translation once; no other placeholder may be in it. An
ordinary token may be required too, in the place of a placeholder that the vocabulary lacks; other sentences
may write it as they like.

Until all are written EOS is forbidden, and a hypothesis that does not get there by itself is pressed: where
its most probable next token is EOS, where it has outgrown ``deadline`` and where what is missing would only
just fit into its maximum length, nothing but a missing piece is allowed, so greedy search writes the most
probable of them. That leaves no room for a loop, and no grid or bank of beams is needed (Post and Vilar 2018)
since a model that knows placeholders writes them unasked.

What is missing follows from the tokens so far alone. There is no state to move when rows are reordered, and
sentences may join and leave a batch at any step.

Dimensions: B sentences, K rows of one sentence, N = B*K rows, Q rows that need pieces, R rows that lack one,
V vocabulary, T tokens so far (BOS not counted), P placeholders of the vocabulary and other tokens that are
required.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

NEVER = -torch.inf
DEADLINE_RATIO = 1.5
DEADLINE_OFFSET = 5


@dataclass(frozen=True)
class Required:
    """Pieces required by a caller: ``Required(tokenizer's placeholder ids, [(7, 8), (), (9,)])``."""

    placeholders: tuple[int, ...]
    """All placeholder ids of the vocabulary; a sentence may write only its own. Empty: there are none."""
    sentences: tuple[tuple[int, ...], ...]
    """For each sentence of the batch the tokens to write, each once, in whatever order."""

    def check(self, n_sentences: int) -> None:
        """Refuse what cannot be meant.

        Raises:
            ValueError: not one entry for each sentence, or an id twice.
        """
        if len(self.sentences) != n_sentences:
            raise ValueError(f"{len(self.sentences)} sets of required pieces for {n_sentences} sentences")
        for ids in self.sentences:
            if len(set(ids)) != len(ids):
                raise ValueError(f"required ids {ids} are not all different")


@dataclass(frozen=True)
class RequiredPieces:
    """``Required`` with each sentence's limits, as tensors on the CPU."""

    ids_P: Tensor
    reserved_P: Tensor
    """True: a placeholder, which nobody writes unasked."""
    needed_BP: Tensor
    """True: this sentence must have this token."""
    deadlines_B: Tensor
    """From so many tokens on nothing but missing pieces is written."""
    limits_B: Tensor
    """The maximum lengths."""
    eos: int

    @classmethod
    def build(
        cls, required: Required, source_lengths: Sequence[int], max_lengths: Sequence[int], eos: int
    ) -> RequiredPieces | None:
        """Convert; None when the vocabulary has no placeholders and nothing is required.

        Args:
            required: what must be written.
            source_lengths: tokens of each source sentence, EOS not counted.
            max_lengths: the most tokens of each translation, at least as many as it requires.
            eos: id of EOS.
        """
        others = {id_ for ids in required.sentences for id_ in ids}.difference(required.placeholders)
        ids = (*required.placeholders, *sorted(others))
        if not ids:
            return None
        return cls(
            ids_P=torch.tensor(ids),
            reserved_P=torch.arange(len(ids)) < len(required.placeholders),
            needed_BP=torch.tensor([[id_ in needed for id_ in ids] for needed in required.sentences]).view(
                len(source_lengths), len(ids)
            ),
            deadlines_B=torch.tensor([deadline(length) for length in source_lengths], dtype=torch.long),
            limits_B=torch.tensor(max_lengths, dtype=torch.long),
            eos=eos,
        )

    def joined(self, mine: Sequence[int], other: RequiredPieces, others: Sequence[int]) -> RequiredPieces:
        """Those of sentences ``mine`` of this and ``others`` of ``other``, renumbered in this order.

        The placeholders are the same; other tokens stay only while a sentence needs them.
        """
        own, new = self._of(mine), other._of(others)
        ordinary = sorted({*own.ordinary_ids, *new.ordinary_ids})
        ids_P = torch.cat([self.reserved_ids, torch.tensor(ordinary, dtype=torch.long)])
        return RequiredPieces(
            ids_P,
            reserved_P=torch.arange(ids_P.numel()) < self.reserved_ids.numel(),
            needed_BP=torch.cat([own._needed_of(ids_P), new._needed_of(ids_P)]),
            deadlines_B=torch.cat([own.deadlines_B, new.deadlines_B]),
            limits_B=torch.cat([own.limits_B, new.limits_B]),
            eos=self.eos,
        )

    @property
    def ordinary_ids(self) -> list[int]:
        """Tokens that are no placeholders and that some sentence needs."""
        ids: list[int] = self.ids_P[~self.reserved_P & self.needed_BP.any(dim=0)].tolist()
        return ids

    @cached_property
    def reserved_ids(self) -> Tensor:
        """The placeholders."""
        return self.ids_P[self.reserved_P]

    def binds(self, sentences: Sequence[int]) -> bool:
        """Whether any of ``sentences`` must write something."""
        return not self._in_need.isdisjoint(sentences)

    @cached_property
    def _in_need(self) -> frozenset[int]:
        """The sentences that must write something: most batches have none."""
        return frozenset(self.needed_BP.any(dim=1).nonzero().flatten().tolist())

    def _of(self, sentences: Sequence[int]) -> RequiredPieces:
        """Only some sentences."""
        places_B = torch.tensor(sentences, dtype=torch.long)
        return replace(
            self,
            needed_BP=self.needed_BP[places_B],
            deadlines_B=self.deadlines_B[places_B],
            limits_B=self.limits_B[places_B],
        )

    def _needed_of(self, ids_P: Tensor) -> Tensor:
        """``needed_BP`` for other ids, of which those that this lacks are not needed."""
        same_QP = self.ids_P.unsqueeze(1) == ids_P
        return (self.needed_BP.float() @ same_QP.float()).bool()

    def apply(
        self, scores_NV: Tensor, history_NT: Tensor, sentences: Sequence[int], lengths: Sequence[int]
    ) -> None:
        """Put -inf, in place, on what must not be written yet, any more or at all.

        Args:
            scores_NV: scores of the next token, on any device, other rules applied already.
            history_NT: tokens so far, without BOS, on the CPU.
            sentences: the sentences of the rows, K rows each, as rows of ``needed_BP``; ``binds`` is true.
            lengths: tokens so far of each of ``sentences``.
        """
        device = scores_NV.device
        ids_P = self.ids_P.to(device)
        places_B = torch.tensor(sentences, dtype=torch.long)
        needed_BP = self.needed_BP[places_B]
        n_rows = history_NT.size(0) // len(sentences)
        rows_Q = needed_BP.any(dim=1).repeat_interleave(n_rows).nonzero().squeeze(1)
        place_QP = (rows_Q.unsqueeze(1).to(device), ids_P)
        scores_QP = scores_NV[place_QP]
        scores_NV.index_fill_(1, self.reserved_ids.to(device), NEVER)
        needed_QP = needed_BP[rows_Q // n_rows]
        missing_QP = needed_QP & ~(history_NT[rows_Q].unsqueeze(2) == self.ids_P).any(dim=1)
        scores_QP.masked_fill_(((needed_QP | self.reserved_P) & ~missing_QP).to(device), NEVER)
        scores_NV[place_QP] = scores_QP
        incomplete = missing_QP.any(dim=1).nonzero().squeeze(1)
        if incomplete.numel():
            rows_R, missing_RP = rows_Q[incomplete], missing_QP[incomplete]
            places_R = places_B[rows_R // n_rows]
            lengths_R = torch.tensor(lengths)[rows_R // n_rows]
            room_R = torch.minimum(
                self.deadlines_B[places_R], self.limits_B[places_R] - missing_RP.sum(dim=1)
            )
            scores_RP = scores_QP[incomplete.to(device)].masked_fill_(~missing_RP.to(device), NEVER)
            self._press(scores_NV, rows_R.to(device), scores_RP, (lengths_R >= room_R).to(device))

    def _press(self, scores_NV: Tensor, rows_R: Tensor, scores_RP: Tensor, is_late_R: Tensor) -> None:
        """Forbid rows that lack a piece to end; those that would, or are late, may write nothing else."""
        would_end_R = scores_NV[rows_R, self.eos] >= scores_NV.index_select(0, rows_R).amax(dim=1)
        scores_NV[rows_R, self.eos] = NEVER
        pressed = (would_end_R | is_late_R).nonzero().squeeze(1)
        if pressed.numel():
            scores_NV[rows_R[pressed]] = NEVER
            scores_NV[rows_R[pressed].unsqueeze(1), self.ids_P.to(rows_R.device)] = scores_RP[pressed]


def deadline(source_length: int) -> int:
    """Tokens after which what is still missing comes first: more than a translation usually has."""
    return math.ceil(DEADLINE_RATIO * source_length) + DEADLINE_OFFSET
