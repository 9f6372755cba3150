"""The projection to the vocabulary, and what normalises it: half of a decoding step of a small model.

All logits of a step do not fit into a core's own memory, and reading them once more costs more than computing
with them. So what follows the product is done for a few rows at a time, all of it before the next rows.

A vocabulary shortlist leaves a projection to the pieces of its lists. They are put back into their places
among V, -inf elsewhere, so search need not know.

Dimensions: B sentences, N rows, D d_model, V vocabulary, U pieces of some list of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from nmt.batch import Batch
from nmt.engines.kernels import Float32Linear, Int8Linear, OneDnnLinear, Precision

ROWS_AT_ONCE = 8
"""Their logits, in float32, and exponentials stay under 1 MiB where V is 12,000."""

PIECES_STEP = 256
LEAST_LOG_TOTAL = -60.0
"""Below it exponentials come near the smallest numbers of float32, which have fewer digits."""


class VocabularyShortlist(Protocol):
    """What ``nmt.shortlist.Shortlist`` offers."""

    def for_sources(self, sources: Sequence[Sequence[int]]) -> Tensor:
        """Ids_U: the union of the lists of some sentences, sorted."""
        ...

    def forbidden(self, sources: Sequence[Sequence[int]], ids_U: Tensor) -> Tensor:
        """True where a sentence's own list lacks a piece of the union, (B, U)."""
        ...


class Projection:
    """h_ND -> logits_NV and the logarithm of each row's sum of exponentials, both in float32."""

    def __init__(self, weight_VD: Tensor, precision: Precision) -> None:
        self._weight_VD = weight_VD
        self._precision = precision
        self._linear: Float32Linear | OneDnnLinear | Int8Linear
        if precision == "float32":
            self._linear = Float32Linear(weight_VD, None)
        elif precision == "bfloat16":
            self._linear = OneDnnLinear(weight_VD, None, torch.bfloat16)
        else:
            self._linear = Int8Linear(weight_VD, None)

    def onto(self, ids_U: Tensor) -> Projection:
        """The projection to some of the pieces."""
        return Projection(self._weight_VD[ids_U], self._precision)

    def __call__(self, h_ND: Tensor, forbidden_NU: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Both for N rows; ``forbidden``: logits that are -inf."""
        scales: tuple[Tensor, ...] = ()
        if isinstance(self._linear, Int8Linear):
            logits_NV, scale_N1 = self._linear.unscaled(h_ND)
            scales = torch.split(scale_N1, ROWS_AT_ONCE)
        else:
            logits_NV = self._linear(h_ND.to(self._linear.dtype)).float()
        log_totals = []
        for number, logits_nV in enumerate(torch.split(logits_NV, ROWS_AT_ONCE)):
            if scales:
                logits_nV.mul_(scales[number])
            if forbidden_NU is not None:
                first = number * ROWS_AT_ONCE
                logits_nV.masked_fill_(forbidden_NU[first : first + ROWS_AT_ONCE], -torch.inf)
            log_totals.append(logits_nV.exp().sum(dim=1))
        totals_N = log_totals[0] if len(log_totals) == 1 else torch.cat(log_totals)
        return logits_NV, _log_totals(totals_N, logits_NV)


def _log_totals(totals_N: Tensor, logits_NV: Tensor) -> Tensor:
    """Logarithms of sums of exponentials, which change.

    Exponentials of logits as they are take half the time of ``logsumexp``, which subtracts the largest first.
    Only a row whose logits are all very small or any of them very large, or that is broken, needs that.
    """
    log_totals_N = totals_N.log_()
    numbers = log_totals_N.tolist()
    doubtful = [row for row, number in enumerate(numbers) if not LEAST_LOG_TOTAL < number < math.inf]
    if doubtful:
        log_totals_N[doubtful] = logits_NV[doubtful].logsumexp(dim=1)
    return log_totals_N


@dataclass
class ShortProjection:
    """The projection of a group of sentences to the union of their lists, each row to its sentence's own."""

    project: Projection
    ids_U: Tensor
    forbidden_BU: Tensor
    vocab_size: int

    @classmethod
    def build(
        cls, whole: Projection, vocab_size: int, shortlist: VocabularyShortlist, source: Batch
    ) -> ShortProjection:
        """For the sentences of ``source``; U is rounded up, for code is generated for each new number."""
        lengths = source.source_mask_BS.sum(dim=1).tolist()
        sources = [ids[: length - 1] for ids, length in zip(source.source_BS.tolist(), lengths, strict=True)]
        ids_U = shortlist.for_sources(sources)
        forbidden_BU = shortlist.forbidden(sources, ids_U)
        missing = min(-ids_U.numel() % PIECES_STEP, vocab_size - ids_U.numel())
        if missing:
            others_V = torch.ones(vocab_size, dtype=torch.bool)
            others_V[ids_U] = False
            ids_U = torch.cat([ids_U, others_V.nonzero().squeeze(1)[:missing]])
            forbidden_BU = functional.pad(forbidden_BU, (0, missing), value=True)
        return cls(whole.onto(ids_U), ids_U, forbidden_BU, vocab_size)

    def select(self, sentences_B: Tensor) -> None:
        """Only some of the sentences."""
        self.forbidden_BU = self.forbidden_BU.index_select(0, sentences_B)

    def __call__(self, h_ND: Tensor, n_rows: int) -> tuple[Tensor, Tensor]:
        """Logits_NV of ``n_rows``, the others being there to make a round number, and their log_totals_N."""
        forbidden_NU = self.forbidden_BU.repeat_interleave(n_rows // self.forbidden_BU.size(0), dim=0)
        forbidden_NU = functional.pad(forbidden_NU, (0, 0, 0, h_ND.size(0) - n_rows))
        short_NU, log_totals_N = self.project(h_ND, forbidden_NU)
        logits_NV = short_NU.new_full((n_rows, self.vocab_size), -torch.inf)
        return logits_NV.index_copy_(1, self.ids_U, short_NU[:n_rows]), log_totals_N[:n_rows]
