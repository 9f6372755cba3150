"""Linear maps that are compiled with their weights (``nmt.engines.bound``, ``nmt.engines.bound_encoder``).

The compiler lays weights out for the CPU's instructions, and multiplies by them inside the function that it
makes: for matrix units (AMX) in bfloat16 or int8, for AVX-512 VNNI in int8, for AVX2 and what came after it
in float32. For int8 with AVX2 alone it has none: for few rows g++ makes them of loops, for many they are
oneDNN's, called from within.

Dimensions: N rows, D inputs of a map, F outputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import safetensors.torch
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.compiler import computed_first
from nmt.engines.arithmetic import scaled
from nmt.engines.cpu import CpuFeatures, Int8Inputs
from nmt.engines.kernels import INT8_MOST, int8_rows
from nmt.engines.packages import CONTRACTION, Program, Run, Threads, compile_packages, load_packages
from nmt.engines.shapes import ROWS_BESIDE, ShapeWithWeights
from nmt.errors import ConfigError

WITH_CALLS = {
    CONTRACTION: "fast",
    "freezing": True,  # weights are constants, laid out beforehand
    "assert_indirect_indexing": False,  # rows and sentences that the engine itself counts
}
OPTIONS = {
    **WITH_CALLS,
    "max_autotune_gemm": True,
    "max_autotune_gemm_backends": "CPP",  # products of the compiler's own, not calls
}


ShapeT = TypeVar("ShapeT", bound=ShapeWithWeights)
FLAGS_IN_FLOAT32 = "-fstack-reuse=named_vars"
"""Without it g++ writes all sums of a product in float32 to memory at each addition, for nobody to read."""
PREFETCHES = (
    "-fprefetch-loop-arrays --param=prefetch-latency=4000 --param=simultaneous-prefetches=1000"
    " --param=min-insn-to-prefetch-ratio=1"
)
"""Asked to, g++ has a product fetch weights some 8 KiB ahead of where it multiplies.

A CPU looks less far ahead by itself, so it would first wait for weights that its caches do not hold and then
multiply, one after the other. The numbers have g++ take what it would find too far ahead, too many at once,
or too many for what is computed (docs/decisions/046).
"""
FAR_BYTES = 8 << 20
"""Weights of so many bytes and more are fetched ahead; fewer stay in caches, where it would take time."""
TUNING = "-mtune=haswell"
"""Tuning for AMD's CPUs, g++ 12 has up to four multiplications by a number read it from memory at each.

A product of the compiler's own, of three rows or four, then has half the speed, and so has what such rows are
left over of more (docs/decisions/040 and 041).
"""
FLAGS_FOR_LOOPS = "-ftree-loop-vectorize -mmove-max=256"
"""The compiler leaves loops of int16 as they are, and tells g++ to; the first is behind that.

It reads a register of int32 by way of memory, where g++ writes it in halves, for which the CPU waits; the
second makes one of them.
"""


class BoundMap(nn.Module):
    """A linear map with its weights, x_ND -> y_NF, from and to float32."""

    bias_F: Tensor

    def __init__(self, n_out: int, bias_F: Tensor | None) -> None:
        super().__init__()
        self.register_buffer("bias_F", torch.zeros(n_out) if bias_F is None else bias_F.float())


class Float32(BoundMap):
    """All in float32."""

    weight_FD: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        self.register_buffer("weight_FD", weight_FD.float().contiguous())

    def forward(self, x_ND: Tensor) -> Tensor:
        """See ``BoundMap``."""
        return F.linear(x_ND, self.weight_FD) + self.bias_F


class Half(BoundMap):
    """Weights and activations in bfloat16, sums in float32."""

    weight_FD: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        self.register_buffer("weight_FD", weight_FD.bfloat16())

    def forward(self, x_ND: Tensor) -> Tensor:
        """See ``BoundMap``."""
        return F.linear(x_ND.bfloat16(), self.weight_FD).float() + self.bias_F


class Int8(BoundMap):
    """Weights and activations in int8, a scale for each output and each row; sums are exact."""

    weight_DF: Tensor
    scale_F: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        rounded_FD, scale_F = int8_rows(weight_FD.float())
        self.register_buffer("weight_DF", rounded_FD.t().contiguous())
        self.register_buffer("scale_F", scale_F)

    def forward(self, x_ND: Tensor) -> Tensor:
        """See ``BoundMap``."""
        scaled_ND, scale_N1 = scaled(x_ND)
        sums_NF = torch._int_mm(scaled_ND.round().to(torch.int8), self.weight_DF)
        return sums_NF.float() * scale_N1 * self.scale_F + self.bias_F


FACTORS = 4
"""Inputs that AVX-512 VNNI multiplies and adds at once; the compiler's products have a multiple of them.

So do oneDNN's with AVX2, which are wrong otherwise.
"""
NO_INPUT = INT8_MOST + 1
"""What an input of 0 is where inputs have no sign."""
MANY_ROWS = 28
"""From so many on all maps of a function are faster as ``PairedInt8`` than as ``LoopedInt8``."""
OF_MANY = "_of_many"
"""Behind the name of the function that takes so many."""


class RowsInInt8(BoundMap):
    """Weights and activations in int8, a scale for each output, whose weights lie together, and each row."""

    weight_FD: Tensor
    scale_F: Tensor
    in_pairs = False
    """Of ``int8_rows``."""

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(len(weight_FD), bias_F)
        rounded_FD, scale_F = int8_rows(weight_FD.float(), in_pairs=self.in_pairs)
        self.register_buffer("weight_FD", rounded_FD.contiguous())
        self.register_buffer("scale_F", scale_F)


class CalledInt8(RowsInInt8):
    """A call of oneDNN's, or what the compiler makes of it; inputs have no sign, 1 to 255, 128 being 0."""

    none_F: Tensor
    """Zeros."""

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(weight_FD, bias_F)
        self.register_buffer("none_F", torch.zeros(len(weight_FD), dtype=torch.int32), persistent=False)

    def product(self, x_ND: Tensor, zero_point: int, scale_F: Tensor) -> Tensor:
        """Of uint8, less ``zero_point``, with the weights; in float32, each output times ``scale_F``."""
        weight = torch.ops.onednn.qlinear_prepack(self.weight_FD, None), scale_F, self.none_F
        y_NF: Tensor = torch.ops.onednn.qlinear_pointwise(
            x_ND, 1.0, zero_point, *weight, None, 1.0, 0, torch.float32, "none", [], ""
        )
        return y_NF


class UnsignedInt8(CalledInt8):
    """For instructions whose inputs have no sign.

    The compiler takes off what that adds to a sum, so sums are exact to a few parts in ten million.
    """

    def forward(self, x_ND: Tensor) -> Tensor:
        """See ``BoundMap``."""
        scaled_ND, scale_N1 = scaled(x_ND)
        y_NF = self.product(_without_a_sign(scaled_ND).to(torch.uint8), NO_INPUT, self.scale_F)
        return y_NF * scale_N1 + self.bias_F


class PairedInt8(CalledInt8):
    """For AVX2 and many rows, or many outputs: an instruction that adds two products in 16 bits.

    For few, oneDNN takes longer to lay out the weight anew, as it does at each call, than to multiply. To
    take off what having no sign adds to a sum it would read all weights once more; here that is a number that
    is known. Up to 1,024 inputs sums are exact.
    """

    in_pairs = True
    one_F: Tensor

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        super().__init__(weight_FD, bias_F)
        self.register_buffer("one_F", torch.ones(len(weight_FD)), persistent=False)

    def forward(self, x_ND: Tensor) -> Tensor:
        """See ``BoundMap``."""
        scaled_ND, scale_N1 = scaled(x_ND)
        # a loop of int16 the compiler leaves to g++, whose vectors are faster here
        raised_ND = _without_a_sign(scaled_ND).to(torch.int16).to(torch.uint8)
        raised_F = (NO_INPUT * self.weight_FD.sum(dim=1)).float()
        sums_NF = self.product(raised_ND, 0, self.one_F) - raised_F
        return sums_NF * scale_N1 * self.scale_F + self.bias_F


def _without_a_sign(scaled_ND: Tensor) -> Tensor:
    """-INT8_MOST to INT8_MOST -> 1 to 255 in int32."""
    return (scaled_ND + (NO_INPUT + 0.5)).to(torch.int32)  # cut off, and so rounded


class LoopedInt8(RowsInInt8):
    """For AVX2 and few rows: g++ makes its instruction for two products of 16 bits, added in 32, of a loop.

    A loop goes over the inputs of an output, for ROWS_BESIDE rows, of which there are a multiple, or for all
    of a number that is fixed. Sums are exact, and those of ``PairedInt8``, which has the same weights.
    """

    in_pairs = True

    def forward(self, x_ND: Tensor) -> Tensor:
        """See ``BoundMap``."""
        N, D = x_ND.shape
        beside = N if isinstance(N, int) and N < 2 * ROWS_BESIDE else ROWS_BESIDE  # an open size is none
        scaled_ND, scale_N1 = scaled(x_ND)
        rounded_ND = computed_first(scaled_ND.round().to(torch.int32).to(torch.int16))
        sums = [
            # the weight is not converted here: the compiler would keep what that gives
            (x_nD.to(torch.int32)[:, None] * self.weight_FD).sum(dim=2, dtype=torch.int32)
            for x_nD in rounded_ND.view(-1, beside, D).unbind(1)
        ]
        sums_NF = computed_first(torch.stack(sums, dim=1)).view(N, -1)
        return sums_NF.float() * scale_N1 * self.scale_F + self.bias_F


def map_of(shape: ShapeWithWeights) -> Callable[[Tensor, Tensor | None], BoundMap]:
    """Weight_FD and bias_F if there is one -> a map.

    In fewer bits it is for matrix units, or as ``shape.inputs`` says.
    """
    if shape.weights == "float32":
        return Float32
    if shape.weights == "bfloat16":
        return Half
    of_int8: dict[Int8Inputs, type[BoundMap]] = {
        "int8": Int8,
        "uint8": UnsignedInt8,
        "int16": LoopedInt8,
        "pairs": PairedInt8,
    }
    return of_int8[shape.inputs]


def can_bind(shape: ShapeWithWeights, features: CpuFeatures) -> bool:
    """Whether the compiler has such products on this CPU."""
    if shape.weights == "float32":
        return features.avx2
    if shape.weights == "bfloat16" or shape.inputs == "int8":
        return features.matrix_units
    if shape.inputs == "int16":
        return features.avx2
    return features.int8 and _has_fours(shape)


def for_many(shape: ShapeT) -> ShapeT | None:
    """Of the function for MANY_ROWS and more, with the same weights; None: it is the same."""
    is_looped = shape.rows_beside > 1
    return replace(shape, inputs="pairs") if is_looped and _has_fours(shape) else None


def _has_fours(shape: ShapeWithWeights) -> bool:
    return all(width % FACTORS == 0 for width in (shape.d_model, shape.d_inner, shape.d_ff))


def digest(*parts: nn.Module) -> str:
    """Of all weights of ``parts``."""
    sums = hashlib.sha256()
    for tensor in (tensor for part in parts for tensor in part.state_dict().values()):
        sums.update(tensor.detach().contiguous().numpy().data)
    return sums.hexdigest()


def program_of(
    function: nn.Module, example: tuple[Any, ...], sizes: tuple[Any, ...], shape: ShapeWithWeights
) -> Program:
    """To be compiled, with the maps of ``shape`` in it.

    In int8, where products take least time beside all else, for one thread too: its weights are there twice.
    """
    weights = function.state_dict().values()
    flags = _flags(shape, sum(weight.nbytes for weight in weights))
    options = WITH_CALLS if shape.has_loops_of_gcc else OPTIONS
    threads: Threads = "both" if shape.weights == "int8" else "all"
    return Program(function, example, sizes, options, threads, flags)


def _flags(shape: ShapeWithWeights, n_bytes: int) -> str:
    """For g++, of a function with weights of ``n_bytes``."""
    if shape.has_loops_of_gcc:
        return FLAGS_FOR_LOOPS
    if shape.weights == "float32":
        flags = [FLAGS_IN_FLOAT32, TUNING]
    elif shape.weights == "int8" and shape.inputs == "uint8":
        flags = [TUNING]
    else:
        return ""
    if n_bytes >= FAR_BYTES:
        flags.append(PREFETCHES)
    return " ".join(flags)


def with_many(name: str, shape: ShapeT, program: Callable[[ShapeT], Program]) -> dict[str, Program]:
    """What is compiled for a function of ``shape``: it, and where that is another the one for many rows."""
    many = for_many(shape)
    return {name: program(shape)} | ({} if many is None else {f"{name}{OF_MANY}": program(many)})


def compile_with_weights(
    folder: Path, function: Callable[[], nn.Module], programs: Callable[[bytes], Mapping[str, Program]]
) -> None:
    """Compile a function with its weights into ``folder``; one that is there already stays as it is.

    Args:
        folder: from ``folder_for``.
        function: makes it.
        programs: the safetensors of its weights -> what is compiled; called in another process.

    Raises:
        ConfigError: there is no C++ compiler, or it fails.
    """
    if not folder.is_dir():
        # as bytes: to hand tensors to another process torch starts a thread that stays
        weights = safetensors.torch.save(function().state_dict())
        compile_packages(folder, partial(_with_shapes, programs, weights))


def _with_shapes(programs: Callable[[bytes], Mapping[str, Program]], weights: bytes) -> Mapping[str, Program]:
    """Before ``programs``, tell torch the shape of a weight that oneDNN has laid out: it has none for it."""
    torch.library.register_fake(
        "onednn::qlinear_prepack", lambda weight_FD, _: weight_FD.new_empty(weight_FD.shape[::-1])
    )
    return programs(weights)


def load_bound(folder: Path, name: str) -> Run | None:
    """What was compiled there; None where this machine has nothing there.

    Raises:
        ConfigError: what is there cannot be loaded, or the system does not let it run.
    """
    runs = load_packages(folder, [name])
    if runs is None:
        return None
    # Linux lets a process use matrix units once it has asked to; what is compiled does not ask, and would die
    if CpuFeatures.here().matrix_units and not torch.cpu._init_amx():
        raise ConfigError(f"{folder}: this system refuses its matrix units (AMX); remove the folder")
    return runs[name]


def load_with_many(folder: Path, name: str, shape: ShapeWithWeights) -> tuple[Run | None, Run | None]:
    """The functions of ``with_many``; None where this machine, or the shape, has none.

    Errors are those of ``load_bound``.
    """
    many = None if for_many(shape) is None else load_bound(folder, f"{name}{OF_MANY}")
    return load_bound(folder, name), many
