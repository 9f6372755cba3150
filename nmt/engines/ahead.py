"""A decoder step's stretches compiled ahead of time for this machine (``nmt.engines.packages``).

With few rows a step of a small model spends more on its calls than on what they compute. Compiled, all
between two attentions is one call (``nmt.engines.between``): a step of two layers has five instead of some
sixty. ``nmt compile`` does it once. Without it the engine computes step by step.

Dimensions: N rows, D d_model, W numbers that attention reads of a row.
"""

from __future__ import annotations

import inspect
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nmt.engines import between
from nmt.engines.between import (
    Between,
    Enter,
    Feed,
    Int8Weights,
    Last,
    LayerEnd,
    Norm,
    Shape,
    Stretch,
    decoder_norms,
)
from nmt.engines.kernels import padded_rows
from nmt.engines.packages import Program, Run, compile_packages, folder_for, load_packages
from nmt.models.transformer import DecoderLayer, Transformer

STRETCHES: dict[str, type[Stretch]] = {"enter": Enter, "between": Between, "feed": Feed, "last": Last}
LEAST_ROWS, MOST_ROWS = 2, 1 << 16
"""One row is computed as two: torch.export would compile for one row alone."""


def folder_of(shape: Shape) -> Path:
    """Where the step for ``shape`` stands on this machine, or would."""
    return folder_for(sorted(asdict(shape).items()), inspect.getsource(between))


def is_compiled(shape: Shape) -> bool:
    """Whether this machine has the step for ``shape``."""
    return folder_of(shape).is_dir()


def compile_step(shape: Shape) -> Path:
    """Compile all stretches; a step that is there already stays as it is.

    Returns:
        Where they stand.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(shape)
    compile_packages(folder, partial(_programs, shape))
    return folder


def _programs(shape: Shape) -> dict[str, Program]:
    return {
        name: _program(stretch(shape).eval(), example_arguments(shape)[name])
        for name, stretch in STRETCHES.items()
    }


def _program(stretch: Stretch, example: tuple[Any, ...]) -> Program:
    n_rowwise = sum(isinstance(argument, Tensor) for argument in example)
    of_rows = [{0: torch.export.Dim("N", min=LEAST_ROWS, max=MOST_ROWS)}] * n_rowwise
    of_weights = torch.utils._pytree.tree_map(lambda _: None, example[n_rowwise:])
    return Program(stretch, example, (*of_rows, *of_weights), {}, "one")


def load_step(shape: Shape) -> dict[str, Run] | None:
    """The stretches by name; None where this machine has no step for ``shape``.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    return load_packages(folder_of(shape), list(STRETCHES))


def example_arguments(shape: Shape) -> dict[str, tuple[Any, ...]]:
    """Arguments of each stretch, of the right shapes; none twice, for one tensor would be compiled as one."""
    n_rows, D = 8, shape.d_model

    def weights(n_in: int, n_out: int) -> Int8Weights:
        rounded_FD = torch.zeros(n_out, n_in, dtype=torch.int8)
        return Int8Weights(rounded_FD.t(), torch.ones(n_out), torch.zeros(n_out))

    x_ND = torch.zeros(n_rows, D)
    context_NW = torch.zeros(n_rows, shape.d_inner, dtype=getattr(torch, shape.attention))

    def norm() -> Norm:
        return Norm(torch.ones(D), torch.zeros(D))

    def end() -> LayerEnd:
        return LayerEnd(
            weights(shape.d_inner, D), norm(), weights(D, shape.d_ff), weights(shape.d_ff, D), norm()
        )

    query, all_three = weights(D, shape.d_inner), weights(D, 3 * shape.d_inner)
    return {
        "enter": (x_ND, norm() if shape.norm == "pre" else (), all_three),
        "between": (context_NW, x_ND, weights(shape.d_inner, D), norm(), query),
        "feed": (context_NW, x_ND, end(), all_three),
        "last": (context_NW, x_ND, end()),
    }


class CompiledStretches:
    """See ``nmt.engines.stretches.Stretches``: all layers in int8, the residual stream in float32.

    Args:
        model: whose shape ``runs`` were made for.
        runs: from ``load_step``.
    """

    dtype = torch.float32

    def __init__(self, model: Transformer, runs: dict[str, Run]) -> None:
        self._runs = runs
        layers = [layer for layer in model.decoder_layers if isinstance(layer, DecoderLayer)]
        self._enter, norms = decoder_norms(model)
        self._into = [
            [*Int8Weights.of(own.query, own.key, own.value)]
            for own in (layer.self_attention for layer in layers)
        ]
        self._between = [
            [
                *Int8Weights.of(layer.self_attention.output),
                *norms[3 * index],
                *Int8Weights.of(layer.cross_attention.query),
            ]
            for index, layer in enumerate(layers)
        ]
        self._feed = [
            [
                *Int8Weights.of(layer.cross_attention.output),
                *norms[3 * index + 1],
                *Int8Weights.of(layer.feed_forward.up),
                *Int8Weights.of(layer.feed_forward.down),
                *norms[3 * index + 2],
            ]
            for index, layer in enumerate(layers)
        ]

    def n_rows(self, n_rows: int) -> int:
        """See ``Stretches``."""
        return max(LEAST_ROWS, padded_rows(n_rows, "int8"))

    def enter(self, x_ND: Tensor) -> Tensor:
        """See ``Stretches``."""
        (y_NW,) = self._runs["enter"]([x_ND, *self._enter, *self._into[0]])
        return y_NW

    def between(self, index: int, context_NW: Tensor, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """See ``Stretches``."""
        x_ND, y_NW = self._runs["between"]([context_NW, x_ND, *self._between[index]])
        return x_ND, y_NW

    def feed(self, index: int, context_NW: Tensor, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """See ``Stretches``."""
        if index == len(self._feed) - 1:
            (y_ND,) = self._runs["last"]([context_NW, x_ND, *self._feed[index]])
            return x_ND, y_ND
        x_ND, y_NW = self._runs["feed"]([context_NW, x_ND, *self._feed[index], *self._into[index + 1]])
        return x_ND, y_NW
