"""An encoder that is one call (``nmt.engines.bound_encoder``), as an engine takes it.

Dimensions: B sentences, S source length, M tokens of all sentences, D d_model, H heads, E per head.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from nmt.engines.memory import Layers
from nmt.engines.packages import Run
from nmt.engines.packed_layers import Tokens

NARROW = 384
"""d_model up to which products are small beside the calls around them, for all but many tokens."""
MOST_TOKENS, MOST_TOKENS_IF_WIDE = 384, 48
"""For more, a library's products in bfloat16 are as good or better; those in int8 never are."""
PART_TOKENS = 256
"""So many tokens are encoded at once in int8: what one product leaves is still in the cache for the next."""


class EncoderCall:
    """An encoder with what the decoder attends to: in int8, or in bfloat16 for so few tokens that it pays.

    Args:
        run: the function.
        attention: in what attention computes.
    """

    def __init__(self, run: Run, attention: torch.dtype) -> None:
        self._run = run
        self._attention = attention
        self._in_int8 = attention == torch.float32

    def takes(self, x_MD: Tensor) -> bool:
        """Whether it pays."""
        n_tokens, d_model = x_MD.shape
        return self._in_int8 or n_tokens <= (MOST_TOKENS if d_model <= NARROW else MOST_TOKENS_IF_WIDE)

    def __call__(self, x_MD: Tensor, mask_BS: Tensor) -> tuple[Tensor, Layers]:
        """Embeddings -> memory_MD, and keys_BHSE and values_BHSE of the source for each decoder layer."""
        lengths = mask_BS.sum(dim=1).tolist()
        parts = list(_parts(lengths)) if self._in_int8 else [slice(0, len(lengths))]
        longest = [max(lengths[part]) for part in parts]
        n_tokens = [sum(lengths[part]) for part in parts]
        encoded = [
            self._encode(part_MD, mask_BS[part, :length])
            for part_MD, part, length in zip(torch.split(x_MD, n_tokens), parts, longest, strict=True)
        ]
        if len(parts) == 1:
            return encoded[0]
        memory_MD = torch.cat([part_MD for part_MD, _ in encoded])
        layers = [
            tuple(kept.new_zeros(len(mask_BS), kept.size(1), mask_BS.size(1), kept.size(3)) for kept in layer)
            for layer in encoded[0][1]
        ]
        for part, length, (_, own) in zip(parts, longest, encoded, strict=True):
            for layer, own_layer in zip(layers, own, strict=True):
                for kept, own_kept in zip(layer, own_layer, strict=True):
                    kept[part, :, :length] = own_kept
        return memory_MD, [(key, value) for key, value in layers]

    def _encode(self, x_MD: Tensor, mask_BS: Tensor) -> tuple[Tensor, Layers]:
        tokens = Tokens.of(mask_BS, self._attention)
        B, S = tokens.size
        places_M, rows_BS, mask_B11S = tokens.places_M, tokens.rows_BS, tokens.mask_B11S
        if places_M is None or rows_BS is None or mask_B11S is None:
            places_M = rows_BS = torch.arange(B * S)
            mask_B11S = torch.zeros(B, 1, 1, S, dtype=self._attention)
        memory_MD, *kept = self._run([x_MD, places_M, rows_BS.view(B, S), mask_B11S])
        return memory_MD, list(zip(kept[::2], kept[1::2], strict=True))


def _parts(lengths: Sequence[int]) -> Iterator[slice]:
    """Neighbouring sentences, of PART_TOKENS together or little more."""
    first = n_tokens = 0
    for place, length in enumerate(lengths):
        n_tokens += length
        if n_tokens >= PART_TOKENS or place == len(lengths) - 1:
            yield slice(first, place + 1)
            first, n_tokens = place + 1, 0
