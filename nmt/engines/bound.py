"""The whole step of any number of rows, compiled ahead of time with the weights of one model in it.

A product of a few rows with int8 or bfloat16 weights takes a matrix unit microseconds, and a call into a
library ten times as long. The compiler has such products of its own, inside the function that it makes, but
only with weights that it knows (``nmt.engines.bound_maps``). So what is compiled belongs to one model, and is
found by its weights.

Dimensions: N rows, P sentences that have a place in the memory, L source length in whole registers, D inputs
of a linear map, F outputs, V vocabulary.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import safetensors.torch
import torch
from torch import Tensor, nn

from nmt import compiler, extensions
from nmt.compiler import computed_first
from nmt.engines import arithmetic, bound_maps, keeping, shapes, whole
from nmt.engines.bound_maps import (
    BoundMap,
    compile_with_weights,
    digest,
    for_many,
    load_bound,
    load_with_many,
    map_of,
    program_of,
    with_many,
)
from nmt.engines.keeping import Kept
from nmt.engines.packages import Program, Run, folder_for
from nmt.engines.single_calls import LENGTHS, example_arguments, open_sizes
from nmt.engines.whole import Places, StepWeights, WholeShape, WholeStep, Words
from nmt.extensions import LANES
from nmt.models.transformer import Transformer

NAME, OF = "step", "step_of_"
"""The second, with a number, takes so many rows."""
FEW_ROWS = (1, 4, 5)
"""Numbers with a step of their own, where that of any number takes several rows together.

One and five are those of a sentence in greedy search and in a beam of the default size. Fewer than one of
these are filled up to it.
"""
EXAMPLE_ROWS, MOST_ROWS = 16, 1 << 16


class BoundStep(WholeStep[BoundMap]):
    """The function with its weights; arguments and results are those of ``WholeStep``, less the weights."""

    def __init__(self, shape: WholeShape, weights: StepWeights[BoundMap]) -> None:
        super().__init__(shape)
        leaves, self._structure = torch.utils._pytree.tree_flatten(weights)
        self._names = [f"weight_{index}" for index in range(len(leaves))]
        for name, leaf in zip(self._names, leaves, strict=True):
            if isinstance(leaf, nn.Module):
                self.add_module(name, leaf)
            else:
                self.register_buffer(name, leaf)

    @classmethod
    def of(cls, shape: WholeShape, model: Transformer) -> BoundStep:
        """Of a model of ``shape``."""
        return cls(shape, StepWeights.of(model, map_of(shape))).eval()

    @classmethod
    def saved(cls, shape: WholeShape, weights: bytes, n_rows: int | None = None) -> BoundStep:
        """From the safetensors of its weights; for ``n_rows``, or for any number."""
        of_output = shape if n_rows is not None else for_many(shape) or shape
        step = cls(shape, StepWeights.zeros(shape, map_of(shape), map_of(of_output))).eval()
        step.load_state_dict(safetensors.torch.load(weights))
        return step

    def forward(  # type: ignore[override]
        self,
        tokens_N: Tensor,
        past: list[tuple[Kept, Kept]],
        memory: list[tuple[Kept, Kept]],
        mask_P11L: Tensor,
        places: Places,
        words: Words,
    ) -> tuple[Tensor, ...]:
        """See ``WholeStep``."""
        leaves = [getattr(self, name) for name in self._names]
        weights = torch.utils._pytree.tree_unflatten(leaves, self._structure)
        return super().forward(tokens_N, past, memory, mask_P11L, places, words, weights)

    def linear(self, x_ND: Tensor, weights: BoundMap, n_out: int) -> Tensor:
        """See ``WholeStep``."""
        y_NF: Tensor = weights(x_ND.contiguous())
        assert y_NF.size(1) == n_out
        return y_NF

    def once(self, y_NF: Tensor) -> Tensor:
        """See ``WholeStep``."""
        return computed_first(y_NF)


def folder_of(shape: WholeShape, model: Transformer) -> Path:
    """Where the step of ``model`` stands on this machine, or would."""
    read = sys.modules[__name__], arithmetic, bound_maps, compiler, extensions, keeping, shapes, whole
    sources = map(inspect.getsource, read)
    weights = digest(model.decoder_layers, model.decoder_norm, model.output)
    return folder_for("bound", sorted(asdict(shape).items()), weights, LENGTHS, LANES, *sources)


def compile_bound(shape: WholeShape, model: Transformer) -> Path:
    """Compile the step of ``model``, unless it is there.

    Returns:
        Where it stands.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(shape, model)
    compile_with_weights(folder, partial(BoundStep.of, shape, model), partial(_programs, shape))
    return folder


def _programs(shape: WholeShape, weights: bytes) -> dict[str, Program]:
    def program(own: WholeShape, n_rows: int | None) -> Program:
        example = example_arguments(own, EXAMPLE_ROWS if n_rows is None else n_rows)
        sizes = open_sizes(own, n_rows, MOST_ROWS if n_rows is None else n_rows)
        return program_of(BoundStep.saved(own, weights, n_rows), example, sizes, own)

    programs = with_many(NAME, shape, partial(program, n_rows=None))
    if shape.rows_beside > 1:
        programs |= {f"{OF}{n_rows}": program(shape, n_rows) for n_rows in FEW_ROWS}
    return programs


class BoundSteps(NamedTuple):
    """Functions of one model; None where this machine has none."""

    any_rows: Run | None = None
    many_rows: Run | None = None
    """For MANY_ROWS at least, where that is another."""
    fixed: Mapping[int, Run] = MappingProxyType({})
    """By their number of rows."""


def load_steps(folder: Path, shape: WholeShape) -> BoundSteps:
    """What was compiled there. Errors are those of ``load_bound``."""
    few = FEW_ROWS if shape.rows_beside > 1 else ()
    fixed = {n_rows: run for n_rows in few if (run := load_bound(folder, f"{OF}{n_rows}")) is not None}
    return BoundSteps(*load_with_many(folder, NAME, shape), fixed)
