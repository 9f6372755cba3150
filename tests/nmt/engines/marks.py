"""CPUs that engines are chosen for, and what a test needs of this one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
import torch

from nmt.engines.cpu import CpuFeatures
from nmt.engines.kernels import Precision

AMX = CpuFeatures(int8=True, bfloat16=True, matrix_units=True)
VNNI = CpuFeatures(int8=True, bfloat16=False, matrix_units=False, pairs=True)
AVX2 = CpuFeatures(int8=False, bfloat16=False, matrix_units=False, pairs=True)
OLD = CpuFeatures(int8=False, bfloat16=False, matrix_units=False)
HERE = CpuFeatures.here()
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
LAYERS_HERE: Precision = "bfloat16" if HERE.matrix_units else "int8"
"""As the int8 engine has them on this machine."""


def slow_beside_better(test: FunctionT) -> FunctionT:
    """For minutes of compiling what CPUs with AVX2 alone take; with better units it is run with -m slow."""
    return test if HERE.only_pairs else pytest.mark.slow(test)


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler on this machine")
needs_int8_units = pytest.mark.skipif(
    not HERE.int8, reason="this CPU has neither AVX-512 VNNI nor matrix units (AMX)"
)
needs_avx2 = pytest.mark.skipif(not HERE.avx2, reason="this CPU has no AVX2")
needs_fbgemm = pytest.mark.skipif(not HERE.pairs, reason="this CPU has no AVX2, or torch no fbgemm")
needs_bfloat16 = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="oneDNN has no bfloat16 on this CPU (AVX-512)"
)
