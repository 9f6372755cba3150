"""The largest of very many numbers, found by way of block maxima (``nmt.extensions``).

On one core, the best 10 of each of 32 sentences x 5 hypotheses x 8,000 tokens take 1.3 ms so, and 3.5 by
``Tensor.topk``.

Dimensions: B sentences, K hypotheses of each, N = B*K rows, V vocabulary, n blocks of it, C = 2K extensions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.extensions import (
    Blocks,
    Extensions,
    Rank,
    best_of_blocks,
    block_maxima,
    in_blocks,
    with_those_that_go_on,
)

FEW_SCORES = 1 << 14
FEW_BLOCKS = 8
"""Of fewer nothing is gained; there must be two, that K rows have 2K."""


def blockwise_max(scores_NV: Tensor, maxima_Nn: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """``scores_NV.max(dim=1)``: values (N,) and indices (N,); which of equals is open.

    ``Tensor.max`` keeps an index for each number it reads: for 8 rows of 12,000 it takes 116 us on one core,
    maxima over blocks and what follows 47. For few scores one call costs less than several.
    """
    n_rows, vocab_size = scores_NV.shape
    blocks = Blocks.of(vocab_size)
    if blocks.size == 1 or scores_NV.numel() <= FEW_SCORES:
        values_N, indices_N = scores_NV.max(dim=1)
        return values_N, indices_N
    best_N = (block_maxima(scores_NV) if maxima_Nn is None else maxima_Nn).max(dim=1).indices
    groups_N, lanes_N = best_N // blocks.n_lanes, best_N % blocks.n_lanes
    rows_N = torch.arange(n_rows, device=scores_NV.device)
    values_N, places_N = in_blocks(scores_NV)[rows_N, groups_N, :, lanes_N].max(dim=1)
    return values_N, (groups_N * blocks.size + places_N) * blocks.n_lanes + lanes_N


def best_extensions(
    scores_NV: Tensor,
    offsets_N: Tensor,
    n_sentences: int,
    eos: int,
    maxima_Nn: Tensor | None = None,
    forbidden_V: Tensor | None = None,
    rank: Rank = best_of_blocks,
) -> Extensions:
    """The best 2K extensions of each sentence's K = N/B rows; arguments and results as ``best_of_blocks``.

    Args:
        scores_NV: contiguous.
        offsets_N: of the rows.
        n_sentences: B.
        eos: the token that ends.
        maxima_Nn: ``block_maxima`` of ``scores_NV``, where they are known, of tokens that are allowed.
        forbidden_V: -inf for tokens that are not, else 0; None: where the scores have it already.
        rank: computes what ``best_of_blocks`` does.
    """
    n_rows, vocab_size = scores_NV.shape
    blocks, beam_size = Blocks.of(vocab_size), n_rows // n_sentences
    are_few = blocks.size == 1 or blocks.n_blocks < FEW_BLOCKS
    if forbidden_V is not None and (are_few or maxima_Nn is None):
        scores_NV, forbidden_V, maxima_Nn = scores_NV + forbidden_V, None, None
    if are_few:
        scores_BX = (scores_NV + offsets_N.unsqueeze(1)).view(n_sentences, -1)
        sums_BC, indices_BC = scores_BX.topk(2 * beam_size)
        first_row_B1 = torch.arange(0, n_rows, beam_size, device=scores_NV.device).unsqueeze(1)
        rows_BC, tokens_BC = indices_BC // vocab_size + first_row_B1, indices_BC % vocab_size
        return with_those_that_go_on(sums_BC, rows_BC, tokens_BC, eos)
    if maxima_Nn is None:
        maxima_Nn = block_maxima(scores_NV)
    return rank(
        in_blocks(scores_NV.view(n_sentences, beam_size, vocab_size)),
        offsets_N.view(n_sentences, beam_size),
        maxima_Nn.view(n_sentences, beam_size, blocks.n_blocks),
        None if forbidden_V is None else in_blocks(forbidden_V),
        eos,
    )
