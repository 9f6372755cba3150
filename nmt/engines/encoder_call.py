"""An encoder that is one call (``nmt.engines.bound_encoder``), as an engine takes it.

Dimensions: B sentences, S source length, M tokens of all sentences, D d_model, H heads, E per head.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nmt.engines.packages import Run
from nmt.engines.packed_layers import Tokens

NARROW = 384
"""d_model up to which products are small beside the calls around them, for all but many tokens."""
MOST_TOKENS, MOST_TOKENS_IF_WIDE = 384, 48
"""For more, a library's products in bfloat16 are as good or better; those in int8 never are."""


class EncoderCall:
    """An encoder with what the decoder attends to, in bfloat16 for so few tokens that it pays.

    Args:
        run: the function.
        attention: in what attention computes.
    """

    def __init__(self, run: Run, attention: torch.dtype) -> None:
        self._run = run
        self._attention = attention

    def takes(self, x_MD: Tensor) -> bool:
        """Whether it pays."""
        n_tokens, d_model = x_MD.shape
        if self._attention == torch.float32:  # products in int8
            return True
        return n_tokens <= (MOST_TOKENS if d_model <= NARROW else MOST_TOKENS_IF_WIDE)

    def __call__(self, x_MD: Tensor, tokens: Tokens) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """Embeddings -> memory_MD, and keys_BHSE and values_BHSE of the source for each decoder layer."""
        B, S = tokens.size
        places_M, rows_BS, mask_B11S = tokens.places_M, tokens.rows_BS, tokens.mask_B11S
        if places_M is None or rows_BS is None or mask_B11S is None:
            places_M = rows_BS = torch.arange(B * S)
            mask_B11S = torch.zeros(B, 1, 1, S, dtype=self._attention)
        memory_MD, *kept = self._run([x_MD, places_M, rows_BS.view(B, S), mask_B11S])
        return memory_MD, list(zip(kept[::2], kept[1::2], strict=True))
