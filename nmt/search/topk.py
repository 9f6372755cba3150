"""The best continuations of the hypotheses of a beam.

Dimensions: B sentences, K hypotheses of each, N = B*K rows, V vocabulary, C = 2K continuations.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Continuations(NamedTuple):
    """The 2K best of each sentence, and of them the K best that do not end, which a beam goes on with."""

    sums_BC: Tensor
    """Sums of log-probabilities, largest first."""
    rows_BC: Tensor
    """The rows that they extend, of all N."""
    tokens_BC: Tensor
    going_sums_N: Tensor
    """The same of those that go on, best first, K for each sentence."""
    going_rows_N: Tensor
    going_tokens_N: Tensor


def best_continuations(log_probs_NV: Tensor, sums_N: Tensor, n_sentences: int, eos: int) -> Continuations:
    """The best 2K continuations of each sentence's K = N/B rows, of all its rows together.

    As each row ends in EOS at most once, K of the 2K go on. Where fewer are possible, dead ones come last,
    whatever their token. Which of equals comes first is open.

    Args:
        log_probs_NV: of the next token; -inf where none is allowed.
        sums_N: of each row so far; -inf: a dead one.
        n_sentences: B.
        eos: the token that ends.
    """
    n_rows, vocab_size = log_probs_NV.shape
    beam_size = n_rows // n_sentences
    extended_BX = (log_probs_NV + sums_N.unsqueeze(1)).view(n_sentences, -1)
    sums_BC, places_BC = extended_BX.topk(2 * beam_size)
    first_row_B1 = torch.arange(0, n_rows, beam_size, device=log_probs_NV.device).unsqueeze(1)
    rows_BC, tokens_BC = places_BC // vocab_size + first_row_B1, places_BC % vocab_size
    going_BK, ranks_BK = sums_BC.masked_fill(tokens_BC == eos, -torch.inf).topk(beam_size)
    return Continuations(
        sums_BC,
        rows_BC,
        tokens_BC,
        going_BK.flatten(),
        rows_BC.gather(1, ranks_BK).flatten(),
        tokens_BC.gather(1, ranks_BK).flatten(),
    )
