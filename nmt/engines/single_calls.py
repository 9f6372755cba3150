"""Steps that are one call (``nmt.engines.whole``), as an engine takes them.

They read and write what any step of the engine does, so the sentences of a batch go from one to the other as
they leave it and are joined. Where such a step takes any number of rows, sentences that started at different
times are in it together; those with a shortlist take the other. These read tokens and choose the most
probable next ones themselves, so that in greedy search nothing is left to do between two of them.

Dimensions: N rows of a call, K of a sentence, Q sentences that have a place in the past, P that have one in
the memory, T tokens of the target with the one being read, C that there is room for, L source length in whole
registers, D d_model, V vocabulary, Y positions that the model has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from nmt.config import GenerationConfig
from nmt.engines.arithmetic import rounded_up
from nmt.engines.bound_maps import MANY_ROWS
from nmt.engines.keeping import Kept, KeptIn, empty, has_scales
from nmt.engines.packages import Run
from nmt.engines.packed_state import Group
from nmt.engines.ranking import one
from nmt.engines.whole import Places, WholeShape, Words
from nmt.extensions import LANES, Extensions
from nmt.models.interface import Best, Living, Step

LENGTHS = (1, 1 << 20)
"""Of target and source, at least and at most."""
BEAM_SIZE = GenerationConfig().beam_size
"""Of the beam that has a step of its own."""

Arguments = tuple[
    Tensor,
    list[tuple[Kept, Kept]],
    list[tuple[Kept, Kept]],
    Tensor,
    Places,
    Words,
]
"""Of ``WholeStep``, less the weights."""


def example_arguments(shape: WholeShape, n_rows: int, n_sentences: int = 2) -> Arguments:
    """Of the right shapes; none twice."""
    n_sentences = min(n_rows, n_sentences)
    size, d_head = (n_sentences, shape.n_heads), shape.d_inner // shape.n_heads
    beam_size = n_rows if n_sentences == 1 else 2  # a size of 1 is taken to be no other
    past, read = (*size, 8, beam_size, d_head), (*size, 3 * LANES, d_head)

    return (
        torch.zeros(n_rows, dtype=torch.long),
        [(empty(past, shape.kept), empty(past, shape.kept)) for _ in range(shape.n_layers)],
        [(empty(read, shape.kept, beneath=True), empty(read, shape.kept)) for _ in range(shape.n_layers)],
        torch.zeros(n_sentences, 1, 1, 3 * LANES),
        Places(
            torch.zeros(n_rows, dtype=torch.long),
            torch.zeros(n_rows, 8, dtype=torch.long),
            torch.zeros(n_rows, dtype=torch.long),
            torch.zeros(n_rows, dtype=torch.long),
            torch.zeros(5, dtype=torch.long),
        ),
        Words(
            torch.zeros(shape.vocab_size, shape.d_model),
            torch.zeros(shape.n_positions, shape.d_model),
            torch.zeros(shape.vocab_size),
            torch.zeros(2, dtype=torch.long),
        ),
    )


def open_sizes(
    shape: WholeShape, n_rows: int | None, most_rows: int, *, one_sentence: bool = False
) -> tuple[Any, ...]:
    """The sizes of ``Arguments`` that are left open.

    Args:
        shape: of the step.
        n_rows: so many are taken; None: their number is open too.
        most_rows: at most, where that is open, and of sentences.
        one_sentence: of which all rows are.
    """
    target, registers = (torch.export.Dim(name, min=LENGTHS[0], max=LENGTHS[1]) for name in "Tl")
    length = LANES * registers
    of_rows: dict[int, Any] = {}
    room = torch.export.Dim("C", min=LENGTHS[0], max=LENGTHS[1])
    of_past, of_key, of_value, of_mask = {2: room}, {3: length}, {2: length}, {3: length}
    of_scale = {2: length}
    if n_rows != 1 and not one_sentence:
        names = "places", "rows", "P"
        places, rows, sentences = (torch.export.Dim(name, min=1, max=most_rows) for name in names)
        of_past[0], of_past[3] = places, rows
        of_key[0] = of_value[0] = of_scale[0] = of_mask[0] = sentences
    if n_rows is None:
        of_rows[0] = shape.rows_beside * torch.export.Dim("step_rows", min=1, max=most_rows)
    of_places: Any = of_rows, {**of_rows, 1: room}, of_rows, of_rows, {0: target}
    of_words: Any = {}, {}, {}, {0: torch.export.Dim("U", min=1, max=shape.vocab_size)}
    n_parts = 2 if has_scales(shape.kept) else 1  # with scales, whose sizes are those of the first dimensions
    of_layers = [((of_key, of_scale)[:n_parts], (of_value, of_scale)[:n_parts])] * shape.n_layers
    of_pasts = [((of_past,) * n_parts,) * 2] * shape.n_layers
    return of_rows, of_pasts, of_layers, of_mask, Places(*of_places), Words(*of_words)


class SingleCalls:
    """The steps of a model that are one call.

    Args:
        kept: in what keys and values are kept for them.
        fixed: steps of a certain number of rows, which fewer are filled up to; they take ``weights``.
        weights: of the model, in the order that ``fixed`` takes them.
        any_rows: a step of any number of rows, with the weights in it; None: there is none.
        beside: of which that number is a multiple.
        many_rows: the same for MANY_ROWS at least; None: there is no other.
        of_beam: the same for a beam of BEAM_SIZE, of one sentence; None: there is no other.
    """

    def __init__(
        self,
        kept: KeptIn,
        fixed: Mapping[int, Run],
        weights: Sequence[Tensor] = (),
        any_rows: Run | None = None,
        beside: int = 1,
        many_rows: Run | None = None,
        of_beam: Run | None = None,
    ) -> None:
        self.kept = kept
        self._weights = list(weights)
        self._any_rows, self._beside, self._many_rows = any_rows, beside, many_rows
        self._of_beam = of_beam
        few = range(1, max(fixed, default=0) + 1)
        sizes = {n_rows: min(size for size in fixed if size >= n_rows) for n_rows in few}
        self._fixed = {n_rows: (size, fixed[size]) for n_rows, size in sizes.items()}

    def take(self, groups: Sequence[Group], n_rows: int) -> bool:
        """Whether a step of ``groups`` is one of these."""
        is_one = len(groups) == 1 and groups[0].short is None
        return is_one and (self._any_rows is not None or n_rows in self._fixed)

    def join(self, groups: Sequence[Group]) -> bool:
        """Whether all following steps of ``groups`` are of these, once they are one."""
        return self._any_rows is not None and all(group.short is None for group in groups)

    def __call__(self, tokens_N: Tensor, group: Group, words: Words, living: Living | None = None) -> Step:
        """Read a token of each row, and tell the best next ones, or the best extensions of ``living``."""
        n_kept, weights = tokens_N.numel(), list[Tensor]()
        is_beam = n_kept == BEAM_SIZE and group.n_sentences == 1
        if is_beam and living is not None and self._of_beam is not None:
            arguments = self._arguments(tokens_N, group, words, n_kept)
            told = self._of_beam([*arguments, living.sums_N.contiguous(), one(living.eos)])
            logits_NV, log_totals_N, *extensions = told
            return Step(
                logits_NV,
                None,
                log_totals_N,
                forbidden_V=words.forbidden_V,
                extensions=Extensions(*extensions),
            )
        if n_kept in self._fixed:
            (n_rows, run), weights = self._fixed[n_kept], self._weights
        elif self._many_rows is not None and n_kept >= MANY_ROWS:
            n_rows, run = n_kept, self._many_rows
        else:
            assert self._any_rows is not None
            n_rows, run = rounded_up(n_kept, self._beside), self._any_rows
        found = run([*self._arguments(tokens_N, group, words, n_rows), *weights])
        if n_kept < n_rows:
            found = [part[:n_kept] for part in found]
        logits_NV, log_totals_N, maxima_Nn, *best = found
        return Step(logits_NV, None, log_totals_N, maxima_Nn, Best(*best), words.forbidden_V)

    def _arguments(self, tokens_N: Tensor, group: Group, words: Words, n_rows: int) -> list[Tensor]:
        """Those of ``WholeStep``, less the weights, for ``n_rows``: those that there are, or more."""
        n_kept, past = tokens_N.numel(), group.past
        layers, mask_P11L = group.memory.laid_out(self.kept)
        sentence_N = _sentences(n_kept, n_kept // group.n_sentences)
        if (places_B := group.memory.places_B) is not None:
            sentence_N = places_B.index_select(0, sentence_N)
        # what is compiled takes all tensors to be contiguous; beam search gives a column of its table
        of_rows = [tokens_N.contiguous(), past.places_N, past.readers_NC, sentence_N, past.behind_N]
        if n_kept < n_rows:  # what fills up is the first row again
            of_rows = [part.index_select(0, filled_up(n_kept, n_rows)) for part in of_rows]
        tokens_N, *places = of_rows
        read = [*_flat(past.layers), *_flat(layers), mask_P11L]
        return [tokens_N, *read, *places, _times(past.n_tokens), *words]


def _flat(layers: Sequence[tuple[Kept, Kept]]) -> list[Tensor]:
    return [part for layer in layers for parts in layer for part in parts]


@lru_cache(maxsize=256)
def _sentences(n_rows: int, beam_size: int) -> Tensor:
    """The sentence of each row."""
    return torch.arange(n_rows) // beam_size


@lru_cache(maxsize=256)
def filled_up(n_kept: int, n_rows: int) -> Tensor:
    """The row of each: those that there are, and the first one again."""
    row_N = torch.arange(n_rows)
    row_N[n_kept:] = 0
    return row_N


@lru_cache(maxsize=1024)
def _times(n_tokens: int) -> Tensor:
    return torch.arange(n_tokens)
