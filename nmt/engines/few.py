"""Steps of few rows compiled ahead of time, for some numbers of rows (``nmt.engines.whole``).

They read and write what any step of the engine does, so the sentences of a batch go from one to the other as
they leave it and are joined. Rows are filled up to the next number for which there is a step. Sentences that
started at different times take the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path

import torch
import torch.nn.functional as F
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
SIZES = (1, 1 << 20)
"""Of target and source, at least and at most."""
OPTIONS = {
    "cpp.dynamic_threads": True,  # those that torch has when it is called
    "cpp.enable_floating_point_contract_flag": "fast",  # a product and its addition are one instruction
    # products that are added to each other are not written to memory first, however many
    "realize_acc_reads_threshold": 256,
    "realize_opcount_threshold": 1024,
}


def folder_of(shape: WholeShape, n_rows: int) -> Path:
    """Where the step of ``n_rows`` stands on this machine, or would."""
    return folder_for(sorted(asdict(shape).items()), n_rows, SIZES, OPTIONS, inspect.getsource(whole))


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
    target, source = (torch.export.Dim(name, min=SIZES[0], max=SIZES[1]) for name in "TS")
    of_past, of_memory, of_mask = {0: target}, {2: source}, {3: source}
    if n_rows > 1:
        kept, sentences = (torch.export.Dim(name, min=1, max=n_rows) for name in "MB")
        of_past[1], of_memory[0], of_mask[0] = kept, sentences, sentences
    example = example_arguments(shape, n_rows)
    of_weights = torch.utils._pytree.tree_map(lambda _: None, example[-1])
    layers = [(of_memory, of_memory)] * shape.n_layers
    sizes = (None, of_past, layers, of_mask, (None, None), of_weights)
    return {NAME: Program(WholeStep(shape).eval(), example, sizes, OPTIONS)}


def load_whole(shape: WholeShape) -> dict[int, Run]:
    """The steps that this machine has, by their number of rows.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    found = {n_rows: load_packages(folder_of(shape, n_rows), [NAME]) for n_rows in compiled_rows(shape)}
    return {n_rows: runs[NAME] for n_rows, runs in found.items() if runs is not None}


Arguments = tuple[Tensor, Tensor, list[tuple[Tensor, Tensor]], Tensor, tuple[Tensor, Tensor], StepWeights]
"""Of ``WholeStep``."""


def example_arguments(shape: WholeShape, n_rows: int) -> Arguments:
    """Of the right shapes; none twice."""
    D, kept = shape.d_model, getattr(torch, shape.attention)
    n_sentences = min(n_rows, 2)
    source = (n_sentences, shape.n_heads, 7, shape.d_inner // shape.n_heads)

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
        torch.zeros(n_sentences, 1, 1, 7, dtype=kept),
        (torch.zeros(n_rows, dtype=torch.long), torch.zeros(n_rows, dtype=torch.long)),
        StepWeights(
            norm() if shape.norm == "pre" else (),
            [layer() for _ in range(shape.n_layers)],
            weights(D, shape.vocab_size),
        ),
    )


class FewRowSteps:
    """The steps of few rows of a model.

    Args:
        model: whose shape ``runs`` were made for.
        shape: of them.
        runs: from ``load_whole``.
    """

    def __init__(self, model: Transformer, shape: WholeShape, runs: dict[int, Run]) -> None:
        self._runs = runs
        most = max(runs, default=0)
        self._rows = [min(rows for rows in runs if rows >= n_rows) for n_rows in range(1, most + 1)]
        weights = StepWeights.of(model, shape.weights)
        self._weights: list[Tensor] = torch.utils._pytree.tree_leaves(weights)

    def take(self, groups: Sequence[Group], n_rows: int) -> bool:
        """Whether a step of ``groups`` is one of these."""
        return n_rows <= len(self._rows) and len(groups) == 1 and groups[0].short is None

    def __call__(self, x_MD: Tensor, group: Group) -> Step:
        """Embeddings of the tokens that are read -> the next ones."""
        n_kept, n_rows = x_MD.size(0), self._rows[x_MD.size(0) - 1]
        past_TMW, mask_B11S = group.past.kept_TNW, group.memory_mask_B11S
        if mask_B11S is None:
            key_BHSE, _ = group.memory[0]
            mask_B11S = key_BHSE.new_zeros(key_BHSE.size(0), 1, 1, key_BHSE.size(2))
        logits_NV, log_totals_N, new_NW = self._runs[n_rows](
            [
                x_MD if n_kept == n_rows else F.pad(x_MD, (0, 0, 0, n_rows - n_kept)),
                past_TMW,
                *(kept for layer in group.memory for kept in layer),
                mask_B11S,
                *_places(n_kept, n_rows, n_kept // group.n_sentences),
                *self._weights,
            ]
        )
        past_TMW[-1] = new_NW[:n_kept]
        return Step(logits_NV[:n_kept], None, log_totals_N[:n_kept])


@cache
def _places(n_kept: int, n_rows: int, beam_size: int) -> tuple[Tensor, Tensor]:
    """The row that each of ``n_rows`` is, and its sentence; those that fill up are the first once more."""
    row_N = torch.arange(n_rows)
    row_N[n_kept:] = 0
    return row_N, row_N // beam_size
