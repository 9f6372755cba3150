"""The whole step of any number of rows, compiled ahead of time with the weights of one model in it.

A product of a few rows with int8 or bfloat16 weights takes a matrix unit microseconds, and a call into a
library ten times as long. The compiler has such products of its own, inside the function that it makes, but
only with weights that it knows: it lays them out for the matrix unit. So what is compiled belongs to one
model, and is found by its weights.

With int8 weights, layers are multiplied with activations in bfloat16; the projection to the vocabulary, half
of all weights and in no residual stream, is int8 with int8, each row of activations with a scale of its own.

Dimensions: N rows, M of them that are rows of sentences, B sentences, T tokens of the target with the one
being read, S source length, D inputs of a linear map, F outputs.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import cast

import safetensors.torch
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines import between, whole
from nmt.engines.between import Int8Weights
from nmt.engines.kernels import Precision, int8_rows
from nmt.engines.packages import Program, Run, compile_packages, folder_for, load_packages
from nmt.engines.single_calls import LENGTHS, example_arguments, open_sizes
from nmt.engines.whole import StepWeights, WholeShape, WholeStep
from nmt.errors import ConfigError
from nmt.models.transformer import Transformer

NAME = "step"
EXAMPLE_ROWS, MOST_ROWS = 16, 1 << 16
WIDTH = 16
"""Inputs of a product are a multiple of it."""
OPTIONS = {
    "cpp.dynamic_threads": True,  # those that torch has when it is called
    "cpp.enable_floating_point_contract_flag": "fast",  # a product and its addition are one instruction
    "freezing": True,  # weights are constants, laid out beforehand
    "max_autotune_gemm": True,
    "max_autotune_gemm_backends": "CPP",  # products of the compiler's own, not calls
}


class _Map(nn.Module):
    """A linear map with its weights, x_ND -> y_NF, from and to float32."""

    bias_F: Tensor

    def __init__(self, n_out: int, bias_F: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("bias_F", torch.zeros(n_out) if bias_F is None else bias_F.float())


class _Half(_Map):
    """Weights and activations in bfloat16, sums in float32."""

    weight_FD: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        self.register_buffer("weight_FD", weight_FD.bfloat16())

    def forward(self, x_ND: Tensor) -> Tensor:
        return F.linear(x_ND.bfloat16(), self.weight_FD).float() + self.bias_F


class _Mixed(_Map):
    """Weights in int8, a scale for each output; activations in bfloat16, sums in float32."""

    weight_FD: Tensor
    scale_F: Tensor
    ones_F: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        rounded_FD, scale_F = int8_rows(weight_FD.float())
        self.register_buffer("weight_FD", rounded_FD)
        self.register_buffer("scale_F", scale_F)
        self.register_buffer("ones_F", torch.ones(len(scale_F), dtype=torch.bfloat16))

    def forward(self, x_ND: Tensor) -> Tensor:
        # its own scales would be in bfloat16, and of every weight of an output too large or too small
        sums_NF = torch.ops.aten._weight_int8pack_mm(x_ND.bfloat16(), self.weight_FD, self.ones_F)
        return cast(Tensor, sums_NF).float() * self.scale_F + self.bias_F


class _Int8(_Map):
    """Weights and activations in int8, a scale for each output and each row; sums are exact."""

    weight_DF: Tensor
    scale_F: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        rounded_FD, scale_F = int8_rows(weight_FD.float())
        self.register_buffer("weight_DF", rounded_FD.t().contiguous())
        self.register_buffer("scale_F", scale_F)

    def forward(self, x_ND: Tensor) -> Tensor:
        return between.linear(x_ND, Int8Weights(self.weight_DF, self.scale_F, self.bias_F))


def _lay_out(precision: Precision, weight_FD: Tensor, bias_F: Tensor | None, is_projection: bool) -> _Map:
    if precision == "bfloat16":
        return _Half(weight_FD, bias_F)
    assert precision == "int8"
    return (_Int8 if is_projection else _Mixed)(weight_FD, bias_F)


class BoundStep(WholeStep[_Map]):
    """The function with its weights; arguments and results are those of ``WholeStep``, less the weights."""

    def __init__(self, shape: WholeShape, weights: StepWeights[_Map]) -> None:
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
        return cls(shape, StepWeights.of(model, partial(_lay_out, shape.weights))).eval()

    @classmethod
    def saved(cls, shape: WholeShape, weights: bytes) -> BoundStep:
        """From the safetensors of its weights."""
        step = cls(shape, StepWeights.zeros(shape, partial(_lay_out, shape.weights))).eval()
        step.load_state_dict(safetensors.torch.load(weights))
        return step

    def forward(  # type: ignore[override]
        self,
        x_ND: Tensor,
        past_TMW: Tensor,
        memory: list[tuple[Tensor, Tensor]],
        mask_B11S: Tensor,
        places: tuple[Tensor, Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        """See ``WholeStep``."""
        leaves = [getattr(self, name) for name in self._names]
        weights = torch.utils._pytree.tree_unflatten(leaves, self._structure)
        return super().forward(x_ND, past_TMW, memory, mask_B11S, places, weights)

    def linear(self, x_ND: Tensor, weights: _Map, n_out: int) -> Tensor:
        """See ``WholeStep``."""
        y_NF: Tensor = weights(x_ND.contiguous())
        assert y_NF.size(1) == n_out
        return y_NF


def can_bind(shape: WholeShape) -> bool:
    """Whether there is such a step: in float32 calls are as fast, and int8 is for layers in bfloat16.

    Of widths that are no multiples of WIDTH torch's product of int8 and bfloat16 reads past the end.
    """
    widths = (shape.d_model, shape.d_inner, shape.d_ff)
    is_even = all(width % WIDTH == 0 for width in widths)
    return is_even and shape.weights != "float32" and shape.attention == "bfloat16"


def folder_of(shape: WholeShape, model: Transformer) -> Path:
    """Where the step of ``model`` stands on this machine, or would."""
    sources = map(inspect.getsource, (sys.modules[__name__], between, whole))
    return folder_for("bound", sorted(asdict(shape).items()), _digest(model), LENGTHS, OPTIONS, *sources)


def _digest(model: Transformer) -> str:
    """Of the weights that a step reads."""
    digest = hashlib.sha256()
    parts = (model.decoder_layers, model.decoder_norm, model.output)
    for tensor in (tensor for part in parts for tensor in part.state_dict().values()):
        digest.update(tensor.detach().contiguous().numpy().data)
    return digest.hexdigest()


def compile_bound(shape: WholeShape, model: Transformer) -> Path:
    """Compile the step of ``model``, unless it is there.

    Returns:
        Where it stands.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    folder = folder_of(shape, model)
    if not folder.is_dir():
        # as bytes: to hand tensors to another process torch starts a thread that stays
        weights = safetensors.torch.save(BoundStep.of(shape, model).state_dict())
        compile_packages(folder, partial(_programs, shape, weights))
    return folder


def _programs(shape: WholeShape, weights: bytes) -> dict[str, Program]:
    example = example_arguments(shape, EXAMPLE_ROWS)
    step = BoundStep.saved(shape, weights)
    return {NAME: Program(step, example, open_sizes(shape, None, MOST_ROWS), OPTIONS)}


def load_bound(folder: Path) -> Run | None:
    """The step; None where this machine has none there.

    Raises:
        ConfigError: what is there cannot be loaded, or the system does not let it run.
    """
    runs = load_packages(folder, [NAME])
    if runs is None:
        return None
    # Linux lets a process use matrix units once it has asked to; what is compiled does not ask, and would die
    if not torch.cpu._init_amx():
        raise ConfigError(f"{folder}: this system refuses its matrix units (AMX); remove the folder")
    return runs[NAME]
