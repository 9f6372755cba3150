"""Steps of few rows compiled ahead of time, for some numbers of rows (``nmt.engines.loops``).

What is compiled for one model serves all of its shape.
"""

from __future__ import annotations

import inspect
from dataclasses import asdict
from functools import partial
from pathlib import Path

import torch

from nmt import compiler, extensions
from nmt.engines import arithmetic, keeping, loops, shapes, whole
from nmt.engines.loops import LoopStep, lay_out_in
from nmt.engines.packages import CONTRACTION, Program, Run, compile_packages, folder_for, load_packages
from nmt.engines.single_calls import LENGTHS, example_arguments, open_sizes
from nmt.engines.whole import StepWeights, WholeShape
from nmt.extensions import LANES

MOST_ROWS = 8
"""For more there is no such step: what is multiplied takes longer than what is read."""
NAME = "step"
OPTIONS = {
    CONTRACTION: "fast",
    # products that are added to each other are not written to memory first, however many
    "realize_acc_reads_threshold": 256,
    "realize_opcount_threshold": 1024,
}


def folder_of(shape: WholeShape, n_rows: int) -> Path:
    """Where the step of ``n_rows`` stands on this machine, or would."""
    sources = map(inspect.getsource, (arithmetic, compiler, extensions, keeping, loops, shapes, whole))
    return folder_for(sorted(asdict(shape).items()), n_rows, LENGTHS, LANES, OPTIONS, *sources)


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
    weights = StepWeights.zeros(shape, lay_out_in(shape.weights))
    sizes = (*open_sizes(shape, n_rows, n_rows), torch.utils._pytree.tree_map(lambda _: None, weights))
    example = (*example_arguments(shape, n_rows), weights)
    return {NAME: Program(LoopStep(shape).eval(), example, sizes, OPTIONS)}


def load_whole(shape: WholeShape) -> dict[int, Run]:
    """The steps that this machine has, by their number of rows.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    found = {n_rows: load_packages(folder_of(shape, n_rows), [NAME]) for n_rows in compiled_rows(shape)}
    return {n_rows: runs[NAME] for n_rows, runs in found.items() if runs is not None}
