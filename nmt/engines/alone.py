"""Steps of one sentence compiled ahead of time, one for each number of rows (``nmt.engines.whole``).

They read and write what any step of the engine does, so a sentence may be joined by others after any of its
tokens, which then take the step of several sentences, and be alone again. That step also takes the first
token of each, and beams of other widths.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from nmt.engines import whole
from nmt.engines.between import Norm
from nmt.engines.packages import Program, Run, compile_packages, folder_for, load_packages
from nmt.engines.packed_state import Group
from nmt.engines.whole import LayerWeights, StepWeights, Weights, WholeShape, WholeStep
from nmt.models.interface import Step
from nmt.models.transformer import Transformer

MOST_ROWS = 8
"""For more there is no such step: what is multiplied takes longer than what is read."""
NAME = "step"
SHORTEST, LONGEST = 2, 1 << 20
"""Of target and source; torch.export would compile for one token alone."""
OPTIONS = {
    "cpp.dynamic_threads": True,  # those that torch has when it is called
    "cpp.enable_floating_point_contract_flag": "fast",  # a product and its addition are one instruction
}


def folder_of(shape: WholeShape, n_rows: int) -> Path:
    """Where the step of ``n_rows`` stands on this machine, or would."""
    return folder_for(sorted(asdict(shape).items()), n_rows, OPTIONS, inspect.getsource(whole))


def compiled_rows(shape: WholeShape) -> list[int]:
    """For which numbers of rows this machine has the step."""
    return [n_rows for n_rows in range(1, MOST_ROWS + 1) if folder_of(shape, n_rows).is_dir()]


def compile_whole(shape: WholeShape, n_rows: int) -> Path:
    """Compile the step of ``n_rows``, unless it is there.

    Returns:
        Where it stands.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(shape, n_rows)
    compile_packages(folder, partial(_programs, shape, n_rows))
    return folder


def _programs(shape: WholeShape, n_rows: int) -> dict[str, Program]:
    target, source = (torch.export.Dim(name, min=SHORTEST, max=LONGEST) for name in "TS")
    example = example_arguments(shape, n_rows)
    of_weights = torch.utils._pytree.tree_map(lambda _: None, example[-1])
    of_memory = [({2: source}, {2: source})] * shape.n_layers
    return {
        NAME: Program(WholeStep(shape).eval(), example, (None, {0: target}, of_memory, of_weights), OPTIONS)
    }


def load_whole(shape: WholeShape) -> dict[int, Run]:
    """The steps that this machine has, by their number of rows.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    found = {n_rows: load_packages(folder_of(shape, n_rows), [NAME]) for n_rows in compiled_rows(shape)}
    return {n_rows: runs[NAME] for n_rows, runs in found.items() if runs is not None}


Arguments = tuple[Tensor, Tensor, list[tuple[Tensor, Tensor]], StepWeights]
"""Of ``WholeStep``."""


def example_arguments(shape: WholeShape, n_rows: int) -> Arguments:
    """Of the right shapes; none twice."""
    D, kept = shape.d_model, getattr(torch, shape.kept)
    source = (1, shape.n_heads, 7, shape.d_inner // shape.n_heads)

    def weights(n_in: int, n_out: int) -> Weights:
        return Weights.of(torch.zeros(n_out, n_in), None, shape.weights)

    def norm() -> Norm:
        return Norm(torch.ones(D), torch.zeros(D))

    def layer() -> LayerWeights:
        return LayerWeights(
            weights(D, 3 * shape.d_inner),
            weights(shape.d_inner, D),
            norm(),
            weights(D, shape.d_inner),
            weights(shape.d_inner, D),
            norm(),
            weights(D, shape.d_ff),
            weights(shape.d_ff, D),
            norm(),
        )

    return (
        torch.zeros(n_rows, D),
        torch.zeros(5, n_rows, 2 * shape.d_inner * shape.n_layers, dtype=kept),
        [(torch.zeros(source, dtype=kept), torch.zeros(source, dtype=kept)) for _ in range(shape.n_layers)],
        StepWeights(
            norm() if shape.norm == "pre" else (),
            [layer() for _ in range(shape.n_layers)],
            weights(D, shape.vocab_size),
        ),
    )


class SentenceSteps:
    """The step of one sentence for a model, where there is one.

    Args:
        model: whose shape ``runs`` were made for.
        shape: of them.
        runs: from ``load_whole``.
    """

    def __init__(self, model: Transformer, shape: WholeShape, runs: dict[int, Run]) -> None:
        self._runs = runs
        weights = StepWeights.of(model, shape.weights)
        self._weights: list[Tensor] = torch.utils._pytree.tree_leaves(weights)

    def take(self, groups: Sequence[Group], n_rows: int) -> bool:
        """Whether a step of ``groups`` is one of these."""
        return (
            n_rows in self._runs
            and len(groups) == 1
            and groups[0].n_sentences == 1
            and groups[0].short is None
            and groups[0].memory_mask_B11S is None
            and groups[0].past.n_tokens >= SHORTEST
            and groups[0].memory[0][0].size(2) >= SHORTEST
        )

    def __call__(self, x_ND: Tensor, group: Group) -> Step:
        """Embeddings of the tokens that are read -> the next ones."""
        past_TNW = group.past.kept_TNW
        memory = [kept for layer in group.memory for kept in layer]
        logits_NV, log_totals_N, new_NW = self._runs[x_ND.size(0)]([x_ND, past_TNW, *memory, *self._weights])
        past_TNW[-1] = new_NW
        return Step(logits_NV, None, log_totals_N)
