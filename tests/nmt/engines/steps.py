"""Steps that are one call, of models of random weights, and what they are given and checked by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nmt.engines.bound import BeamStep, BoundStep
from nmt.engines.cpu import Int8Inputs
from nmt.engines.keeping import KeptIn
from nmt.engines.kernels import Precision
from nmt.engines.packages import Run
from nmt.engines.single_calls import BEAM_SIZE, example_arguments
from nmt.engines.whole import WholeShape
from nmt.extensions import Extensions
from nmt.models.transformer import Transformer
from nmt.search.topk import best_extensions
from tests.nmt.engines.random_models import random_memory, random_past, random_transformer, random_words

LENGTHS = (1, 1), (2, 2), (40, 130), (257, 31)
"""Of target and source."""


def random_model(**changes: object) -> Transformer:
    """199 pieces and d_ff 48 are no multiples of what a matrix unit takes at once."""
    widths = {"vocab_size": 199, "d_model": 64, "d_ff": 48, "n_decoder_layers": 2}
    return random_transformer(**{**widths, **changes})


def kept_in(layers: Precision, inputs: Int8Inputs) -> KeptIn:
    """Keys and values."""
    return "int8x4" if inputs in ("int16", "pairs") else layers


def shape_of(
    model: Transformer,
    weights: Precision = "int8",
    layers: Precision = "bfloat16",
    inputs: Int8Inputs | None = None,
) -> WholeShape:
    inputs = inputs or ("uint8" if layers == "int8" else "int8")
    shape = WholeShape.of_model(model, kept_in(layers, inputs), weights, inputs)
    assert shape is not None
    return shape


def uncompiled(model: Transformer, shape: WholeShape, calls: list[int] | None = None) -> Run:
    """The function that is compiled, as torch runs it one operation after another."""
    return one_by_one(BoundStep.of(shape, model), example_arguments(shape, 2), calls)


def uncompiled_beam(model: Transformer, shape: WholeShape, calls: list[int] | None = None) -> Run:
    """The same of the step of a beam."""
    example = (*example_arguments(shape, BEAM_SIZE, 1), 0, 0)
    return one_by_one(BeamStep.of(shape, model), example, calls)


def one_by_one(step: BoundStep, example: tuple[Any, ...], calls: list[int] | None) -> Run:
    """``step`` of tensors in the order that they have in ``example``; ``calls`` is told how many rows."""
    structure = torch.utils._pytree.tree_structure(example)

    def call(tensors: list[Tensor]) -> Sequence[Tensor]:
        if calls is not None:
            calls.append(len(tensors[0]))
        results: Sequence[Tensor] = step(*torch.utils._pytree.tree_unflatten(tensors, structure))
        return results

    return call


def arguments_of(
    shape: WholeShape, n_sentences: int, beam_size: int, n_target: int, n_source: int, n_free: int = 2
) -> list[Tensor]:
    """Numbers at random, the last sentence's source padded, and nothing yet where new ones will be.

    All sentences but the first may have started later than it.
    """
    n_rows, n_places = n_sentences * beam_size, n_sentences + n_free
    memory, mask_P11L = random_memory(shape, n_sentences, n_source)
    places_B = torch.randperm(n_places)[:n_sentences]
    behind_P = torch.randint(n_target, (n_places,))
    behind_P[places_B[0]] = 0
    past = random_past(shape, behind_P, n_target, beam_size)
    sentence_N = torch.arange(n_rows) // beam_size
    places_N = places_B[sentence_N]
    behind_N = behind_P[places_N]
    readers_NC = torch.randint(beam_size, (n_rows, n_target + 3))
    readers_NC[torch.arange(n_rows), n_target - 1 - behind_N] = torch.arange(n_rows) % beam_size
    tokens_N, words = random_words(shape, n_rows)
    places = places_N, readers_NC, sentence_N, behind_N, torch.arange(n_target)
    return [tokens_N, *past, *memory, mask_P11L, *places, *words]


def written_and_told(run: Run, arguments: list[Tensor]) -> list[Tensor]:
    """What a step writes, of the rows that it has, and what it gives back; all else stays as it is."""
    given = [argument.clone() for argument in arguments]
    results = run(list(given))
    places_N, readers_NC, _, behind_N, times_T = arguments[-9:-4]
    now_N = len(times_T) - 1 - behind_N
    n_parts = (len(arguments) - 11) // 2  # as many of what has been read as of the sources
    written = []
    for before, after in zip(arguments[1 : 1 + n_parts], given[1 : 1 + n_parts], strict=True):
        own = places_N, slice(None), now_N, readers_NC[torch.arange(len(now_N)), now_N]
        written.append(after[own].float())
        after[own] = before[own]
        assert torch.equal(before.nan_to_num(7.0), after.nan_to_num(7.0)), "but for that it is as it was"
    for before, after in zip(arguments[1 + n_parts :], given[1 + n_parts :], strict=True):
        assert torch.equal(before, after)
    if written[0].ndim > written[1].ndim:  # numbers of int8, and their scales
        written = [
            numbers * scales.unsqueeze(2) for numbers, scales in zip(written[::2], written[1::2], strict=True)
        ]
    return [torch.cat(written, dim=2), *results]


def rms(numbers: Tensor) -> float:
    return float(numbers.square().mean().sqrt())


def beam_arguments(shape: WholeShape, n_target: int, n_source: int) -> tuple[list[Tensor], Tensor]:
    """Those of a step and sums_K, of which the last but one is of a dead row."""
    arguments = arguments_of(shape, 1, BEAM_SIZE, n_target, n_source, n_free=0)
    sums_K = -torch.rand(BEAM_SIZE)
    sums_K[-2] = -torch.inf
    return arguments, sums_K


def check_beam(of_beam: Run, any_rows: Run, shape: WholeShape, eos: int = 2) -> None:
    """It tells what the step of any rows and the search behind it do, and writes the same."""
    for n_target, n_source in LENGTHS:
        arguments, sums_K = beam_arguments(shape, n_target, n_source)
        more = [sums_K, torch.tensor([eos])]
        written, logits_KV, log_totals_K, *found = written_and_told(
            lambda given, more=more: of_beam([*given, *more]), arguments
        )
        own = written_and_told(any_rows, arguments)
        for ours, theirs in zip((written, logits_KV, log_totals_K), own, strict=False):
            assert rms(ours - theirs) < 0.03 * rms(theirs), "but for a number that is rounded up or down"
        right = best_extensions(logits_KV, sums_K - log_totals_K, 1, eos, None, arguments[-2])
        for ours, theirs in zip(found, right, strict=True):
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype
            torch.testing.assert_close(ours, theirs)
        extensions = Extensions(*found)
        assert bool((extensions.sums_BC.diff() <= 0).all()), "best first"
        assert BEAM_SIZE - 2 not in extensions.rows_BC, "nothing goes on from a dead row"
