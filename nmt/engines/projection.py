"""The projection to the vocabulary, and what normalises it: half of a decoding step of a small model.

All logits of a step do not fit into a core's own memory, and reading them once more costs more than computing
with them. So what follows the product is done for a few rows at a time, all of it before the next rows.

Dimensions: N rows, D d_model, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.engines.kernels import BFloat16Linear, Float32Linear, Int8Linear, Precision

ROWS_AT_ONCE = 8
"""Their logits, in float32, and exponentials stay under 1 MiB where V is 12,000."""


class Projection:
    """h_ND -> logits_NV and the logarithm of each row's sum of exponentials, both in float32."""

    def __init__(self, weight_VD: Tensor, precision: Precision) -> None:
        self._linear: Float32Linear | BFloat16Linear | Int8Linear
        if precision == "float32":
            self._linear = Float32Linear(weight_VD, weight_VD.new_zeros(weight_VD.size(0)))
        elif precision == "bfloat16":
            self._linear = BFloat16Linear(weight_VD, None)
        else:
            self._linear = Int8Linear(weight_VD, None)

    def __call__(self, h_ND: Tensor) -> tuple[Tensor, Tensor]:
        """Both for N rows."""
        scales: tuple[Tensor, ...] = ()
        if isinstance(self._linear, Int8Linear):
            logits_NV, scale_N1 = self._linear.unscaled(h_ND)
            scales = torch.split(scale_N1, ROWS_AT_ONCE)
        else:
            logits_NV = self._linear(h_ND.to(self._linear.dtype)).float()
        log_totals = []
        for number, logits_nV in enumerate(torch.split(logits_NV, ROWS_AT_ONCE)):
            if scales:
                logits_nV.mul_(scales[number])
            log_totals.append(logits_nV.logsumexp(dim=1))
        return logits_NV, torch.cat(log_totals)
