"""What a test needs of the machine."""

from __future__ import annotations

import shutil

import pytest
import torch

from nmt.engines.cpu import CpuFeatures

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler on this machine")
needs_int8_units = pytest.mark.skipif(
    not CpuFeatures.here().int8, reason="this CPU has neither AVX-512 VNNI nor matrix units (AMX)"
)
needs_bfloat16 = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="oneDNN has no bfloat16 on this CPU (AVX-512)"
)
