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
"""For more, a library's products in bfloat16 are as good or better; others never are."""
PART_TOKENS = 256
"""So many are encoded at once (not in bfloat16): what one product leaves is in the cache for the next."""


class EncoderCall:
    """An encoder with what the decoder attends to; in bfloat16 for so few tokens that it pays.

    Args:
        run: the function.
        attention: in what attention computes.
    """

    def __init__(self, run: Run, attention: torch.dtype) -> None:
        self._run = run
        self._attention = attention
        self._in_parts = attention != torch.bfloat16

    def takes(self, x_MD: Tensor) -> bool:
        """Whether it pays."""
        n_tokens, d_model = x_MD.shape
        return self._in_parts or n_tokens <= (MOST_TOKENS if d_model <= NARROW else MOST_TOKENS_IF_WIDE)

    def __call__(self, x_MD: Tensor, tokens: Tokens, mask_BS: Tensor) -> tuple[Tensor, Layers]:
        """Embeddings of ``tokens`` -> memory_MD, and keys_BHSE and values_BHSE for each decoder layer."""
        if not self._in_parts or len(x_MD) <= PART_TOKENS:
            return self._encode(x_MD, tokens)
        lengths = mask_BS.sum(dim=1).tolist()
        parts = list(_parts(lengths))
        encoded = [
            self._encode(part_MD, Tokens.of(mask_BS[part, : max(lengths[part])], self._attention))
            for part_MD, part in zip(
                torch.split(x_MD, [sum(lengths[part]) for part in parts]), parts, strict=True
            )
        ]
        layers = []
        for layer in zip(*(own for _, own in encoded), strict=True):
            keys, values = zip(*layer, strict=True)
            layers.append((_joined(keys, mask_BS.size(1)), _joined(values, mask_BS.size(1))))
        return torch.cat([part_MD for part_MD, _ in encoded]), layers

    def _encode(self, x_MD: Tensor, tokens: Tokens) -> tuple[Tensor, Layers]:
        B, S = tokens.size
        places_M, rows_BS, mask_B11S = tokens.places_M, tokens.rows_BS, tokens.mask_B11S
        if places_M is None or rows_BS is None or mask_B11S is None:
            places_M = rows_BS = torch.arange(B * S)
            mask_B11S = torch.zeros(B, 1, 1, S, dtype=self._attention)
        memory_MD, *kept = self._run([x_MD, places_M, rows_BS.view(B, S), mask_B11S])
        return memory_MD, list(zip(kept[::2], kept[1::2], strict=True))


def _joined(parts: Sequence[Tensor], length: int) -> Tensor:
    """(B, H, S, E) of all sentences, from that of some each; zeros up to ``length`` positions."""
    n_sentences = [len(part) for part in parts]
    _, H, _, E = parts[0].shape
    whole_BHSE = parts[0].new_zeros(sum(n_sentences), H, length, E)
    for own_BHSE, part in zip(torch.split(whole_BHSE, n_sentences), parts, strict=True):
        own_BHSE[:, :, : part.size(2)] = part
    return whole_BHSE


def _parts(lengths: Sequence[int]) -> Iterator[slice]:
    """Neighbouring sentences, of PART_TOKENS together or little more."""
    first = n_tokens = 0
    for place, length in enumerate(lengths):
        n_tokens += length
        if n_tokens >= PART_TOKENS or place == len(lengths) - 1:
            yield slice(first, place + 1)
            first, n_tokens = place + 1, 0
