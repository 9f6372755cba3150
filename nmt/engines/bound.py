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

import safetensors.torch
import torch
from torch import Tensor, nn

from nmt import compiler, extensions
from nmt.compiler import computed_first
from nmt.engines import arithmetic, between, bound_maps, keeping, whole
from nmt.engines.bound_maps import BoundMap, compile_with_weights, digest, load_bound, map_of, program_of
from nmt.engines.keeping import Kept
from nmt.engines.packages import Program, Run, folder_for
from nmt.engines.single_calls import LENGTHS, example_arguments, open_sizes
from nmt.engines.whole import StepWeights, WholeShape, WholeStep, Words
from nmt.extensions import LANES
from nmt.models.transformer import Transformer

NAME, ONE_ROW = "step", "step_of_one"
"""The second where the first takes several rows together."""
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
    def saved(cls, shape: WholeShape, weights: bytes) -> BoundStep:
        """From the safetensors of its weights."""
        step = cls(shape, StepWeights.zeros(shape, map_of(shape))).eval()
        step.load_state_dict(safetensors.torch.load(weights))
        return step

    def forward(  # type: ignore[override]
        self,
        tokens_N: Tensor,
        past: list[tuple[Kept, Kept]],
        memory: list[tuple[Kept, Kept]],
        mask_P11L: Tensor,
        places: tuple[Tensor, Tensor, Tensor, Tensor],
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
    read = sys.modules[__name__], arithmetic, between, bound_maps, compiler, extensions, keeping, whole
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
    example = example_arguments(shape, EXAMPLE_ROWS)
    step = BoundStep.saved(shape, weights)
    programs = {NAME: program_of(step, example, open_sizes(shape, None, MOST_ROWS), shape)}
    if shape.rows_beside > 1:
        programs[ONE_ROW] = program_of(step, example_arguments(shape, 1), open_sizes(shape, 1, 1), shape)
    return programs


def load_steps(folder: Path, shape: WholeShape) -> tuple[Run | None, Mapping[int, Run]]:
    """The step, None where this machine has none there, and that of a certain number of rows.

    Errors are those of ``load_bound``.
    """
    one_row = load_bound(folder, ONE_ROW) if shape.rows_beside > 1 else None
    return load_bound(folder, NAME), {} if one_row is None else {1: one_row}
