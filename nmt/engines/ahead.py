"""A decoder step's stretches compiled ahead of time for this machine (``torch.export`` and AOTInductor).

With few rows a step of a small model spends more on its calls than on what they compute. Compiled, all
between two attentions is one call (``nmt.engines.between``): a step of two layers has five instead of some
sixty. ``nmt compile`` does it once, in about a minute, and needs a C++ compiler; what it makes needs none and
loads within a tenth of a second. It stands in the user's cache folder, under a name that follows from the
widths of the model, the version of torch, the instructions of the CPU and the code itself, so a model, a
machine or a release that it does not fit does not find it. Without it the engine computes step by step.

Dimensions: N rows, D d_model, W numbers that attention reads of a row.
"""

from __future__ import annotations

import hashlib
import inspect
import multiprocessing
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import platformdirs
import torch
from torch import Tensor

from nmt.engines import between
from nmt.engines.between import Between, Enter, Feed, Int8Weights, Last, LayerEnd, Norm, Shape, Stretch
from nmt.engines.kernels import padded_rows
from nmt.errors import ConfigError
from nmt.models.transformer import DecoderLayer, Transformer

CACHE = "PASSERELLE_CACHE"
STRETCHES: dict[str, type[Stretch]] = {"enter": Enter, "between": Between, "feed": Feed, "last": Last}
LEAST_ROWS, MOST_ROWS = 2, 1 << 16
"""One row is computed as two: torch.export would compile for one row alone."""

for _structure in (Int8Weights, Norm, LayerEnd):
    torch.utils._pytree._register_namedtuple(
        _structure, serialized_type_name=f"{_structure.__module__}.{_structure.__qualname__}"
    )

Run = Callable[[list[Tensor]], Sequence[Tensor]]
"""A stretch: its tensors in order -> its results."""


def folder_of(shape: Shape) -> Path:
    """Where the step for ``shape`` stands on this machine, or would; PASSERELLE_CACHE names another cache."""
    cache = os.environ.get(CACHE)
    root = Path(cache) if cache else platformdirs.user_cache_path("passerelle")
    made_from = (
        sorted(asdict(shape).items()),
        torch.__version__,
        sorted(dict(torch.cpu.get_capabilities()).items()),
        inspect.getsource(between),
    )
    return root / "steps" / hashlib.sha256(repr(made_from).encode()).hexdigest()[:24]


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
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    try:
        # in a process of its own: the compiler leaves threads behind, and this one may want to fork
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as other:
            other.submit(_compile_all, shape, aside).result()
        try:
            aside.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was as quick
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _compile_all(shape: Shape, folder: Path) -> None:
    for name, stretch in STRETCHES.items():
        _compile(stretch(shape).eval(), example_arguments(shape)[name], folder / f"{name}.pt2")


def _compile(stretch: Stretch, example: tuple[Any, ...], path: Path) -> None:
    from torch._inductor import aoti_compile_and_package  # noqa: PLC0415 - seconds, and for this alone
    from torch._inductor.exc import InductorError, InvalidCxxCompiler  # noqa: PLC0415

    n_rowwise = sum(isinstance(argument, Tensor) for argument in example)
    of_rows = [{0: torch.export.Dim("N", min=LEAST_ROWS, max=MOST_ROWS)}] * n_rowwise
    of_weights = torch.utils._pytree.tree_map(lambda _: None, example[n_rowwise:])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's, of its own functions
            program = torch.export.export(stretch, example, dynamic_shapes=(*of_rows, *of_weights))
            aoti_compile_and_package(program, package_path=str(path), inductor_configs={"cpp.threads": 1})
    except InductorError as error:
        if isinstance(error.inner_exception, InvalidCxxCompiler):
            raise ConfigError("nmt compile: no C++ compiler is found; install g++, or go without") from None
        *_, last = str(error.inner_exception).strip().splitlines()
        raise ConfigError(
            f"nmt compile: compiling fails ({last}); go without, or mend the compiler"
        ) from error


def load_step(shape: Shape) -> dict[str, Run] | None:
    """The stretches by name; None where this machine has no step for ``shape``.

    Raises:
        ConfigError: what is there cannot be loaded.
    """
    folder = folder_of(shape)
    if not folder.is_dir():
        return None
    load = torch._C._aoti.AOTIModelPackageLoader  # what wraps it imports the compiler, which takes seconds
    try:
        packages = {name: load(str(folder / f"{name}.pt2"), "model", True, 1, -1) for name in STRETCHES}
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(
            f"{folder}: the compiled step cannot be loaded ({reason}); remove the folder, then nmt compile"
        ) from None
    return {name: package.boxed_run for name, package in packages.items()}


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
        self._enter, *norms = _norms(model, layers)
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


def _norms(model: Transformer, layers: Sequence[DecoderLayer]) -> list[tuple[Tensor, ...]]:
    """That before all sub-layers, empty in a post-norm model, and those after each residual addition."""
    residuals = [
        residual
        for layer in layers
        for residual in (layer.around_self_attention, layer.around_cross_attention, layer.around_feed_forward)
    ]
    norms = [Norm.of(residual.norm) for residual in residuals]
    return [*norms, Norm.of(model.decoder_norm)] if residuals[0].pre else [(), *norms]
