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
from nmt.engines.ranking import one
from nmt.engines.single_calls import BEAM_SIZE, LENGTHS, example_arguments, open_sizes
from nmt.engines.whole import Places, StepWeights, WholeShape, WholeStep, Words, told
from nmt.extensions import LANES, best_of_blocks, in_blocks
from nmt.models.transformer import Transformer

NAME, OF, OF_BEAM = "step", "step_of_", "step_of_a_beam"
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

    @property
    def weights(self) -> StepWeights[BoundMap]:
        """Its own."""
        leaves = [getattr(self, name) for name in self._names]
        weights: StepWeights[BoundMap] = torch.utils._pytree.tree_unflatten(leaves, self._structure)
        return weights

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
        return super().forward(tokens_N, past, memory, mask_P11L, places, words, self.weights)

    def linear(self, x_ND: Tensor, weights: BoundMap, n_out: int) -> Tensor:
        """See ``WholeStep``."""
        y_NF: Tensor = weights(x_ND.contiguous())
        assert y_NF.size(1) == n_out
        return y_NF

    def once(self, y_NF: Tensor) -> Tensor:
        """See ``WholeStep``."""
        return computed_first(y_NF)


class BeamStep(BoundStep):
    """The step of the beam of one sentence, which finds its best extensions too."""

    def forward(  # type: ignore[override]
        self,
        tokens_N: Tensor,
        past: list[tuple[Kept, Kept]],
        memory: list[tuple[Kept, Kept]],
        mask_P11L: Tensor,
        places: Places,
        words: Words,
        sums_N: Tensor,
        eos: Tensor,
    ) -> tuple[Tensor, ...]:
        """Arguments as ``BoundStep`` and ``Living`` have them, ``eos`` as one element.

        Returns:
            Of ``Step`` logits_NV, log_totals_N and the ``Extensions``.
        """
        logits_NV = self.logits(tokens_N, past, memory, mask_P11L, places, words, self.weights)
        log_totals_N, maxima_Nn = told(logits_NV, words)
        scores_BKZXG, forbidden_ZXG = in_blocks(logits_NV.unsqueeze(0)), in_blocks(words.forbidden_V)
        offsets_BK = computed_first(sums_N - log_totals_N).unsqueeze(0)
        found = best_of_blocks(scores_BKZXG, offsets_BK, maxima_Nn.unsqueeze(0), forbidden_ZXG, eos)
        return logits_NV, log_totals_N, *found


def folder_of(shape: WholeShape, model: Transformer) -> Path:
    """Where the step of ``model`` stands on this machine, or would."""
    read = sys.modules[__name__], arithmetic, bound_maps, compiler, extensions, keeping, shapes, whole
    sources = map(inspect.getsource, read)
    weights = digest(model.decoder_layers, model.decoder_norm, model.output)
    sizes = LENGTHS, LANES, BEAM_SIZE
    return folder_for("bound", sorted(asdict(shape).items()), weights, *sizes, *sources)


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
    def of_beam() -> Program:
        example = (*example_arguments(shape, BEAM_SIZE, 1), torch.zeros(BEAM_SIZE), one(0))
        sizes = (*open_sizes(shape, BEAM_SIZE, BEAM_SIZE, one_sentence=True), {}, {})
        return program_of(BeamStep.saved(shape, weights, BEAM_SIZE), example, sizes, shape)

    def program(own: WholeShape, n_rows: int | None) -> Program:
        example = example_arguments(own, EXAMPLE_ROWS if n_rows is None else n_rows)
        sizes = open_sizes(own, n_rows, MOST_ROWS if n_rows is None else n_rows)
        return program_of(BoundStep.saved(own, weights, n_rows), example, sizes, own)

    programs = with_many(NAME, shape, partial(program, n_rows=None))
    if shape.rows_beside > 1:
        programs |= {f"{OF}{n_rows}": program(shape, n_rows) for n_rows in FEW_ROWS}
    return programs | ({OF_BEAM: of_beam()} if has_beam_step(shape) else {})


def has_beam_step(shape: WholeShape) -> bool:
    """Whether that of a beam is compiled: in int8, where what is not products weighs most.

    Not with matrix units, where it has not been run.
    """
    return shape.weights == "int8" and shape.inputs != "int8"


class BoundSteps(NamedTuple):
    """Functions of one model; None where this machine has none."""

    any_rows: Run | None = None
    many_rows: Run | None = None
    """For MANY_ROWS at least, where that is another."""
    fixed: Mapping[int, Run] = MappingProxyType({})
    """By their number of rows."""
    of_beam: Run | None = None
    """For the BEAM_SIZE rows of one sentence, all that is there."""


def load_steps(folder: Path, shape: WholeShape) -> BoundSteps:
    """What was compiled there. Errors are those of ``load_bound``."""
    few = FEW_ROWS if shape.rows_beside > 1 else ()
    fixed = {n_rows: run for n_rows in few if (run := load_bound(folder, f"{OF}{n_rows}")) is not None}
    of_beam = load_bound(folder, OF_BEAM) if has_beam_step(shape) else None
    return BoundSteps(*load_with_many(folder, NAME, shape), fixed, of_beam)
