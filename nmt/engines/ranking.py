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

from nmt import extensions
from nmt.engines.packages import Program, compile_packages, folder_for, load_packages
from nmt.extensions import Extensions, Rank, best_of_blocks

NAME = "rank"
OPTIONS = {"assert_indirect_indexing": False}  # places that it has counted itself
EXAMPLE = (3, 5, 120)
"""Sentences, hypotheses of each, blocks."""
MOST = 1 << 20
"""Of any of them."""


class Ranking(nn.Module):
    """The function."""

    def forward(self, *arguments: Tensor) -> tuple[Tensor, ...]:
        """See ``best_of_blocks``, whose last argument is one element here."""
        return tuple(best_of_blocks(*arguments))


def folder_of(n_beside: int) -> Path:
    """Where that for blocks of ``n_beside`` scores stands on this machine, or would."""
    sources = map(inspect.getsource, (extensions, sys.modules[__name__]))
    return folder_for(NAME, n_beside, MOST, OPTIONS, *sources)


def compile_ranking(n_beside: int) -> Path:
    """Compile it, unless it is there.

    Returns:
        Where it stands.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(n_beside)
    compile_packages(folder, partial(_programs, n_beside))
    return folder


def _programs(n_beside: int) -> dict[str, Program]:
    B, K, n = EXAMPLE
    rows = {0: torch.export.Dim("B", min=1, max=MOST), 1: torch.export.Dim("K", min=1, max=MOST)}
    n_blocks = torch.export.Dim("n", min=2, max=MOST)
    blocks = {**rows, 2: n_blocks}
    of_rows = torch.zeros(B, K, n, n_beside), torch.zeros(B, K), torch.zeros(B, K, n)
    example = *of_rows, none_of(n, n_beside), one(0)
    sizes: tuple[Any, ...] = blocks, rows, blocks, {0: n_blocks}, {}
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
        scores_BKnX: Tensor,
        offsets_BK: Tensor,
        maxima_BKn: Tensor,
        forbidden_nX: Tensor | None,
        eos: int,
        /,
    ) -> Extensions:
        if forbidden_nX is None:
            forbidden_nX = none_of(scores_BKnX.size(2), scores_BKnX.size(3))
        return Extensions(*run([scores_BKnX, offsets_BK, maxima_BKn, forbidden_nX, one(eos)]))

    return rank


@lru_cache(maxsize=16)
def none_of(n_blocks: int, n_beside: int) -> Tensor:
    """Forbidden_nX that forbids nothing."""
    return torch.zeros(n_blocks, n_beside)


@lru_cache(maxsize=16)
def one(number: int) -> Tensor:
    """As one element."""
    return torch.tensor([number])
