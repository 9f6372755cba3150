"""What a test needs of the machine."""

from __future__ import annotations

import pytest
import torch

needs_bfloat16 = pytest.mark.skipif(
    not torch.ops.mkldnn._is_mkldnn_bf16_supported(), reason="oneDNN has no bfloat16 on this CPU (AVX-512)"
)
