"""Steps that are one call (``nmt.engines.whole``), as an engine takes them.

They read and write what any step of the engine does, so the sentences of a batch go from one to the other as
they leave it and are joined. Sentences that started at different times take the other, and so do those with
a shortlist. These read tokens and choose the most probable next ones themselves, so that in greedy search
nothing is left to do between two of them.

Dimensions: N rows of a call, M rows that have a place in the past, P sentences that have one in the memory, T
tokens of the target with the one being read, L source length in whole registers, D d_model, W numbers kept of
a row and token, V vocabulary, X positions that the model has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import torch
from torch import Tensor

from nmt.engines.memory import LANES
from nmt.engines.packages import Run
from nmt.engines.packed_state import Group
from nmt.engines.whole import WholeShape, Words
from nmt.models.interface import Best, Step

LENGTHS = (1, 1 << 20)
"""Of target and source, at least and at most."""

Arguments = tuple[
    Tensor,
    Tensor,
    list[tuple[Tensor, Tensor]],
    Tensor,
    tuple[Tensor, Tensor],
    Words,
]
"""Of ``WholeStep``, less the weights."""


def example_arguments(shape: WholeShape, n_rows: int) -> Arguments:
    """Of the right shapes; none twice."""
    kept = getattr(torch, shape.attention)
    n_sentences = min(n_rows, 2)
    length, heads = 3 * LANES, (n_sentences, shape.n_heads)
    d_head = shape.d_inner // shape.n_heads
    return (
        torch.zeros(n_rows, dtype=torch.long),
        torch.zeros(5, n_rows, 2 * shape.d_inner * shape.n_layers, dtype=kept),
        [
            (torch.zeros(*heads, d_head, length, dtype=kept), torch.zeros(*heads, length, d_head, dtype=kept))
            for _ in range(shape.n_layers)
        ],
        torch.zeros(n_sentences, 1, 1, length, dtype=kept),
        (torch.zeros(5, n_rows, dtype=torch.long), torch.zeros(n_rows, dtype=torch.long)),
        Words(
            torch.zeros(shape.vocab_size, shape.d_model),
            torch.zeros(shape.n_positions, shape.d_model),
            torch.zeros(shape.vocab_size),
            torch.zeros(2, dtype=torch.long),
        ),
    )


def open_sizes(shape: WholeShape, n_rows: int | None, most_rows: int) -> tuple[Any, ...]:
    """The sizes of ``Arguments`` that are left open; ``n_rows``: that of rows is not, None: it is too."""
    target, registers = (torch.export.Dim(name, min=LENGTHS[0], max=LENGTHS[1]) for name in "Tl")
    length = LANES * registers
    of_rows: dict[int, Any] = {}
    of_past, of_key, of_value, of_mask = {0: target}, {3: length}, {2: length}, {3: length}
    if n_rows != 1:
        kept, sentences = (torch.export.Dim(name, min=1, max=most_rows) for name in "MP")
        of_past[1], of_key[0], of_value[0], of_mask[0] = kept, sentences, sentences, sentences
    if n_rows is None:
        of_rows[0] = torch.export.Dim("N", min=1, max=most_rows)
    of_places = {0: target} if n_rows is not None else {0: target, 1: of_rows[0]}
    of_words: Any = {}, {}, {}, {0: torch.export.Dim("U", min=1, max=shape.vocab_size)}
    of_layers = [(of_key, of_value)] * shape.n_layers
    return of_rows, of_past, of_layers, of_mask, (of_places, of_rows), Words(*of_words)


class SingleCalls:
    """The steps of a model that are one call.

    Args:
        kept: in what keys and values are kept for them.
        fixed: steps of a certain number of rows, which fewer are filled up to; they take ``weights``.
        weights: of the model, in the order that ``fixed`` takes them.
        any_rows: a step of any number of rows, with the weights in it; None: there is none.
    """

    def __init__(
        self,
        kept: torch.dtype,
        fixed: Mapping[int, Run],
        weights: Sequence[Tensor] = (),
        any_rows: Run | None = None,
    ) -> None:
        self.kept = kept
        self._weights = list(weights)
        self._any_rows = any_rows
        self._fixed: Mapping[int, tuple[int, Run]] = {}
        if any_rows is None:
            sizes = {few: min(size for size in fixed if size >= few) for few in range(1, max(fixed) + 1)}
            self._fixed = {few: (size, fixed[size]) for few, size in sizes.items()}
        elif 1 in fixed:  # only for one row is it the faster
            self._fixed = {1: (1, fixed[1])}

    def take(self, groups: Sequence[Group], n_rows: int) -> bool:
        """Whether a step of ``groups`` is one of these."""
        is_one = len(groups) == 1 and groups[0].short is None
        return is_one and (self._any_rows is not None or n_rows in self._fixed)

    def __call__(self, tokens_N: Tensor, group: Group, words: Words) -> Step:
        """Read a token of each row, and tell the best next ones."""
        n_kept = tokens_N.numel()
        weights: list[Tensor] = []
        if n_kept in self._fixed:
            (n_rows, run), weights = self._fixed[n_kept], self._weights
        else:
            assert self._any_rows is not None
            n_rows, run = n_kept, self._any_rows
        layers, mask_P11L = group.memory.laid_out(self.kept)
        row_N, sentence_N = _filled_up(n_kept, n_rows, n_kept // group.n_sentences)
        if (places_B := group.memory.places_B) is not None:
            sentence_N = places_B.index_select(0, sentence_N)
        # what is compiled takes all tensors to be contiguous; beam search gives a column of its table
        found = run(
            [
                tokens_N.contiguous() if n_kept == n_rows else tokens_N.index_select(0, row_N),
                group.past.past_TMW,
                *chain.from_iterable(layers),
                mask_P11L,
                group.past.rows_for(n_rows),
                sentence_N,
                *words,
                *weights,
            ]
        )
        if n_kept < n_rows:
            found = [part[:n_kept] for part in found]
        logits_NV, log_totals_N, maxima_Nn, *best = found
        return Step(logits_NV, None, log_totals_N, maxima_Nn, Best(*best), words.forbidden_V)


@cache
def _filled_up(n_kept: int, n_rows: int, beam_size: int) -> tuple[Tensor, Tensor]:
    """Rows up to ``n_rows``, and the sentence of each; what fills up is the first row again."""
    row_N = torch.arange(n_rows)
    row_N[n_kept:] = 0
    return row_N, row_N // beam_size
