"""The best extensions of a beam (``nmt.extensions``) as one function compiled ahead of time, for any model.

For one sentence and K = 5 it takes 21 us where the calls take 64, on one core.
"""

from __future__ import annotations

import inspect
import sys
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from nmt import compiler, extensions
from nmt.engines.packages import Program, compile_packages, folder_for, load_packages
from nmt.extensions import Blocks, Extensions, Rank, best_of_blocks

NAME = "rank"
OPTIONS = {"assert_indirect_indexing": False}  # places that it has counted itself
EXAMPLE = (3, 5, 12)
"""Sentences, hypotheses of each, groups of blocks."""
MOST = 1 << 20
"""Of any of them."""


class Ranking(nn.Module):
    """The function."""

    def forward(self, *arguments: Tensor) -> tuple[Tensor, ...]:
        """See ``best_of_blocks``, whose last argument is one element here."""
        return tuple(best_of_blocks(*arguments))


def folder_of(blocks: Blocks) -> Path:
    """Where that for such blocks, however many, stands on this machine, or would."""
    sources = map(inspect.getsource, (compiler, extensions, sys.modules[__name__]))
    return folder_for(NAME, blocks.size, blocks.n_lanes, MOST, OPTIONS, *sources)


def compile_ranking(blocks: Blocks) -> Path:
    """Compile it, unless it is there.

    Returns:
        Where it stands.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(blocks)
    compile_packages(folder, partial(_programs, blocks))
    return folder


def _programs(blocks: Blocks) -> dict[str, Program]:
    (B, K, Z), (_, X, G) = EXAMPLE, blocks
    rows = {0: torch.export.Dim("B", min=1, max=MOST), 1: torch.export.Dim("K", min=1, max=MOST)}
    n_groups = torch.export.Dim("groups", min=2 if G == 1 else 1, max=MOST)
    of_rows = torch.zeros(B, K, Z, X, G), torch.zeros(B, K), torch.zeros(B, K, Z * G)
    example = *of_rows, none_of(Z, X, G), one(0)
    of_blocks = {**rows, 2: G * n_groups}
    sizes: tuple[Any, ...] = {**rows, 2: n_groups}, rows, of_blocks, {0: n_groups}, {}
    return {NAME: Program(Ranking().eval(), example, (sizes,), OPTIONS, "one")}


def load_ranking(folder: Path) -> Rank | None:
    """It; None where this machine does not have it there.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    runs = load_packages(folder, [NAME])
    if runs is None:
        return None
    run = runs[NAME]

    def rank(
        scores_BKZXG: Tensor,
        offsets_BK: Tensor,
        maxima_BKn: Tensor,
        forbidden_ZXG: Tensor | None,
        eos: int,
        /,
    ) -> Extensions:
        if forbidden_ZXG is None:
            forbidden_ZXG = none_of(*scores_BKZXG.shape[2:])
        return Extensions(*run([scores_BKZXG, offsets_BK, maxima_BKn, forbidden_ZXG, one(eos)]))

    return rank


@lru_cache(maxsize=16)
def none_of(n_groups: int, size: int, n_lanes: int) -> Tensor:
    """Forbidden_ZXG that forbids nothing."""
    return torch.zeros(n_groups, size, n_lanes)


@lru_cache(maxsize=16)
def one(number: int) -> Tensor:
    """As one element."""
    return torch.tensor([number])
