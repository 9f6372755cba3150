"""The projection to the vocabulary, and what normalises it: half of a decoding step of a small model.

Rows are projected a few at a time, so that their logits are still in the core's own memory when their
exponentials are summed. Exponentials cost more than the product itself on a CPU; where the product is not in
float32 either, they are taken of bfloat16 numbers, differences from the row's maximum: an error of less than
0.01 in the sum's logarithm for the tokens that make it up, and a third of the time.

Dimensions: N rows, D d_model, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.engines.kernels import BFloat16Linear, Float32Linear, Int8Linear, Precision

ROWS_AT_ONCE = 80


class Projection:
    """h_ND -> logits_NV and the logarithm of each row's sum of exponentials."""

    def __init__(self, weight_VD: Tensor, precision: Precision) -> None:
        self._exact = precision == "float32"
        self._vocab_size = weight_VD.size(0)
        self._linear: Float32Linear | BFloat16Linear | Int8Linear
        if precision == "float32":
            self._linear = Float32Linear(weight_VD, torch.zeros(self._vocab_size))
        elif precision == "bfloat16":
            self._linear = BFloat16Linear(weight_VD, None)
        else:
            self._linear = Int8Linear(weight_VD, None)

    def __call__(self, h_ND: Tensor) -> tuple[Tensor, Tensor]:
        """Both in float32."""
        if h_ND.size(0) <= ROWS_AT_ONCE:
            logits_NV = self._linear(h_ND.to(self._linear.dtype)).float()
            return logits_NV, self._log_totals(logits_NV)
        logits_NV = h_ND.new_empty(h_ND.size(0), self._vocab_size, dtype=torch.float32)
        log_totals = []
        for rows_nD, logits_nV in zip(
            torch.split(h_ND, ROWS_AT_ONCE), torch.split(logits_NV, ROWS_AT_ONCE), strict=True
        ):
            if isinstance(self._linear, Int8Linear):
                self._linear(rows_nD, out_NF=logits_nV)
            else:
                logits_nV.copy_(self._linear(rows_nD.to(self._linear.dtype)))
            log_totals.append(self._log_totals(logits_nV))
        return logits_NV, torch.cat(log_totals)

    def _log_totals(self, logits_nV: Tensor) -> Tensor:
        if self._exact:
            return logits_nV.logsumexp(dim=1)
        largest_n1 = logits_nV.amax(dim=1, keepdim=True)
        below_nV = (logits_nV - largest_n1).bfloat16()
        # the sum from one token's share of it: log p = below - log(sum)
        log_p_nV = below_nV.log_softmax(dim=1, dtype=torch.float32)
        return (below_nV[:, 0].float() - log_p_nV[:, 0]).add_(largest_n1.squeeze(1))
