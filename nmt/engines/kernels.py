"""Linear maps whose weights are laid out once for the kernel that multiplies by them.

    float32   oneDNN on its own layout, ReLU and residual addition fused, for a few rows or a large weight;
              otherwise addmm on the transposed weight
    bfloat16  oneDNN on its own layout, fused as well; sums in float32 (AMX, AVX-512)
    int8      a scale for each output channel of the weight and for each row of the input, so what a row
              becomes does not depend on the rows beside it; sums in int32. oneDNN with AMX, else fbgemm; for
              a CPU that adds products in pairs of 16 bits (AVX2 without VNNI) the scale of a channel is such
              that no pair is too large

All are in torch itself.

Dimensions: N rows, D inputs, F outputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines.cpu import CpuFeatures

Precision = Literal["float32", "bfloat16", "int8"]
INT8_MOST = 127
MOST_OF_TWO = 127.5
"""Sizes of two neighbouring weights together before they are rounded; 128 times 255, of an input without a
sign, fit 16 bits."""
FEW_ROWS = 32
"""Up to so many rows a product in float32 takes as long as reading its weight."""
LARGE_WEIGHT = 1 << 19
"""Numbers of a weight that oneDNN multiplies faster in float32 for any number of rows but one."""


class Linear(Protocol):
    """y = x W' + b, and optionally ReLU of it, or it and ``add`` (the residual), which may be overwritten."""

    dtype: torch.dtype
    """Of inputs and outputs."""

    def __call__(self, x_ND: Tensor, *, relu: bool = False, add_NF: Tensor | None = None) -> Tensor:
        """(N, D) -> (N, F)."""
        ...


def dtype_of(precision: Precision) -> torch.dtype:
    """Of activations between products: int8 is that of weights alone."""
    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def padded_rows(n_rows: int, precision: Precision) -> int:
    """How many rows to compute with so that ``n_rows`` fit, at most a third more.

    oneDNN generates code for every new number of rows, which takes as long as tens of products; the rows of
    a running batch have many.
    """
    if n_rows <= 8 or (precision == "float32" and n_rows > FEW_ROWS):
        return n_rows
    step = max(4, 1 << (n_rows.bit_length() - 3))
    return -(-n_rows // step) * step


class OneDnnLinear:
    """oneDNN's linear map on a weight in its own layout."""

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight_FD.to(dtype).contiguous())
        self._bias_F = None if bias_F is None else bias_F.to(dtype)
        self._plain = torch.ops.mkldnn._linear_pointwise.default
        self._binary = torch.ops.mkldnn._linear_pointwise.binary

    def __call__(self, x_ND: Tensor, *, relu: bool = False, add_NF: Tensor | None = None) -> Tensor:
        """See ``Linear``."""
        y_NF: Tensor
        if add_NF is not None:
            assert not relu, "no layer does both"
            y_NF = self._binary(x_ND, add_NF, self._weight, self._bias_F, "add")
        else:
            y_NF = self._plain(x_ND, self._weight, self._bias_F, "relu" if relu else "none", [], "")
        return y_NF


class Float32Linear:
    """``addmm`` or oneDNN, whichever is faster; the sums are those of ``nn.Linear``, in another order.

    The weights of a step do not fit a core's cache, so each is read from memory. For that ``addmm`` takes
    half as long again from two rows on, until there is more to multiply than to read.
    """

    dtype = torch.float32

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        self._weight_DF = weight_FD.t().contiguous()
        self._bias_F = bias_F
        self._is_large = weight_FD.numel() >= LARGE_WEIGHT
        has_onednn = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
        self._onednn = OneDnnLinear(weight_FD, bias_F, torch.float32) if has_onednn else None

    def __call__(self, x_ND: Tensor, *, relu: bool = False, add_NF: Tensor | None = None) -> Tensor:
        """See ``Linear``."""
        n_rows = x_ND.size(0)
        if self._onednn is not None and n_rows > 1 and (n_rows <= FEW_ROWS or self._is_large):
            return self._onednn(x_ND, relu=relu, add_NF=add_NF)
        if self._bias_F is None:
            y_NF = x_ND @ self._weight_DF
        else:
            y_NF = torch.addmm(self._bias_F, x_ND, self._weight_DF)
        if add_NF is not None:
            y_NF.add_(add_NF)
        return y_NF.relu_() if relu else y_NF


def int8_rows(weight_FD: Tensor, *, in_pairs: bool = False) -> tuple[Tensor, Tensor]:
    """Each row of a weight in int8, and the scale_F that gives it back.

    Args:
        weight_FD: float32.
        in_pairs: products of inputs 0 and 1, 2 and 3, and so on are added in 16 bits, without a sign of the
            input; no pair is then too large.
    """
    sizes_FD = weight_FD.abs()
    scale_F = sizes_FD.amax(dim=1).div_(INT8_MOST)
    if in_pairs:
        even_FD = F.pad(sizes_FD, (0, sizes_FD.size(1) % 2))
        pairs_FD = even_FD[:, ::2] + even_FD[:, 1::2]
        scale_F = torch.maximum(scale_F, pairs_FD.amax(dim=1).div_(MOST_OF_TWO))
    scale_F = scale_F.clamp_(min=torch.finfo(torch.float32).tiny)
    return weight_FD.div(scale_F.unsqueeze(1)).round_().to(torch.int8), scale_F


class Int8Linear:
    """Symmetric int8 weights and activations; the output in float32 has both scales applied."""

    dtype = torch.float32

    def __init__(self, weight_FD: Tensor, bias_F: Tensor | None) -> None:
        self._product = int8_product(weight_FD, CpuFeatures.here())
        self._bias_F = bias_F

    def unscaled(self, x_ND: Tensor) -> tuple[Tensor, Tensor]:
        """The product without bias and the scales_N1 that its rows are still to be multiplied by."""
        x_ND = x_ND.float()
        scale_N1 = x_ND.abs().amax(dim=1, keepdim=True).div_(INT8_MOST).clamp_(min=1e-30)
        return self._product(x_ND / scale_N1), scale_N1

    def __call__(self, x_ND: Tensor, *, relu: bool = False, add_NF: Tensor | None = None) -> Tensor:
        """See ``Linear``."""
        y_NF, scale_N1 = self.unscaled(x_ND)
        y_NF = y_NF.mul_(scale_N1) if self._bias_F is None else torch.addcmul(self._bias_F, y_NF, scale_N1)
        if add_NF is not None:
            y_NF.add_(add_NF)
        return y_NF.relu_() if relu else y_NF


class Int8Product(Protocol):
    """A product with int8 weights, of which the scales are applied."""

    def __call__(self, x_ND: Tensor) -> Tensor:
        """(N, D) up to INT8_MOST, changed, is rounded and multiplied -> (N, F)."""
        ...


def int8_product(weight_FD: Tensor, features: CpuFeatures) -> Int8Product:
    """The product that is fast on a CPU.

    Without matrix units oneDNN has none for inputs with a sign, and takes thousands of times as long.
    """
    if features.matrix_units:
        return OneDnnProduct(weight_FD)
    return FbgemmProduct(weight_FD, in_pairs=features.only_pairs)


class OneDnnProduct:
    """By oneDNN, for matrix units."""

    def __init__(self, weight_FD: Tensor) -> None:
        rounded_FD, self._scale_F = int8_rows(weight_FD)
        self._weight = torch.ops.onednn.qlinear_prepack(rounded_FD, None)
        self._zero_F = torch.zeros(weight_FD.size(0), dtype=torch.int32)
        self._linear = torch.ops.onednn.qlinear_pointwise.default

    def __call__(self, x_ND: Tensor) -> Tensor:
        """See ``Int8Product``."""
        rounded_ND = x_ND.round_().to(torch.int8)
        n_rows = len(rounded_ND)
        if n_rows == 1:  # two cost no more; for one of 256 numbers oneDNN has code that is 200 times slower
            rounded_ND = rounded_ND.repeat(2, 1)
        weight = (self._weight, self._scale_F, self._zero_F)
        y_NF: Tensor = self._linear(rounded_ND, 1.0, 0, *weight, None, 1.0, 0, torch.float32, "none", [], "")
        return y_NF[:n_rows]


class FbgemmProduct:
    """By fbgemm, which rounds by itself and takes numbers without a sign, INT8_MOST + 1 being none."""

    def __init__(self, weight_FD: Tensor, *, in_pairs: bool) -> None:
        rounded_FD, scale_F = int8_rows(weight_FD, in_pairs=in_pairs)
        zeros_F = torch.zeros(len(scale_F), dtype=torch.long)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*quantized tensor.* are deprecated")
            weight = torch._make_per_channel_quantized_tensor(rounded_FD, scale_F, zeros_F, 0)
        self._weight = torch.ops.quantized.linear_prepack(weight, None)
        self._linear = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default

    def __call__(self, x_ND: Tensor) -> Tensor:
        """See ``Int8Product``."""
        y_NF: Tensor = self._linear(x_ND, 1.0, INT8_MOST + 1, self._weight)
        return y_NF


def side_by_side(linears: Sequence[nn.Linear]) -> tuple[Tensor, Tensor]:
    """Weight_FD and bias_F, in float32, of one map that does several on the same input."""
    weight_FD = torch.cat([linear.weight.detach() for linear in linears]).float()
    return weight_FD, torch.cat([linear.bias.detach() for linear in linears]).float()


def pack(linears: Sequence[nn.Linear], precision: Precision) -> Linear:
    """One map that does several on the same input, outputs side by side."""
    weight_FD, bias_F = side_by_side(linears)
    if precision == "float32":
        return Float32Linear(weight_FD, bias_F)
    if precision == "bfloat16":
        return OneDnnLinear(weight_FD, bias_F, torch.bfloat16)
    return Int8Linear(weight_FD, bias_F)
