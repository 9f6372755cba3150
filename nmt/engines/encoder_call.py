"""An encoder that is one call (``nmt.engines.bound_encoder``), as an engine takes it.

Dimensions: M tokens of B sentences, S source length, K and L the same in fours and in whole registers, H
heads, E per head, D d_model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import torch
from torch import Tensor

from nmt.engines.arithmetic import rounded_up
from nmt.engines.bound_encoder import EncoderShape
from nmt.engines.bound_maps import MANY_ROWS
from nmt.engines.encoder_attention import BESIDE
from nmt.engines.keeping import empty
from nmt.engines.memory import Memory
from nmt.engines.packages import Run
from nmt.engines.single_calls import filled_up
from nmt.extensions import LANES

NARROW = 384
"""d_model up to which products are small beside the calls around them, for all but many tokens."""
MOST_TOKENS, MOST_TOKENS_IF_WIDE = 384, 48
"""For more, a library's products in bfloat16 are as good or better; others never are."""
PART_TOKENS, PART_TOKENS_OF_MANY = 256, 512
"""So many are encoded at once (not in bfloat16): what one product leaves is in the cache for the next.

More where there is a function for many, whose products lay out the weight at each call.
"""


class EncoderCall:
    """An encoder with what the decoder attends to; in bfloat16 for so few tokens that it pays.

    Args:
        shape: of the function.
        run: the function.
        many: the same for MANY_ROWS tokens at least; None: there is no other.
    """

    def __init__(self, shape: EncoderShape, run: Run, many: Run | None = None) -> None:
        self._run, self._many, self._beside = run, many, shape.rows_beside
        self._heads = [(n_heads, width // n_heads) for n_heads, width in shape.memory_widths]
        self._attention, self._kept = getattr(torch, shape.attention), shape.kept
        self._in_parts = self._attention != torch.bfloat16
        self._part_tokens = PART_TOKENS if many is None else PART_TOKENS_OF_MANY

    def takes(self, x_MD: Tensor) -> bool:
        """Whether it pays."""
        n_tokens, d_model = x_MD.shape
        return self._in_parts or n_tokens <= (MOST_TOKENS if d_model <= NARROW else MOST_TOKENS_IF_WIDE)

    def __call__(self, x_MD: Tensor, mask_BS: Tensor) -> tuple[Tensor, Memory]:
        """Embeddings of the tokens that ``mask_BS`` tells from padding -> memory_MD, and what is kept."""
        lengths_B = mask_BS.sum(dim=1)
        lengths: list[int] = lengths_B.tolist()
        B, longest = len(lengths), max(lengths)
        L = rounded_up(longest, LANES)
        sizes = [(B, H, L, E) for H, E in self._heads]
        layers = [(empty(size, self._kept, beneath=True), empty(size, self._kept)) for size in sizes]
        places_L, last_B1 = torch.arange(L), (lengths_B - 1).unsqueeze(1)
        is_token_BL = places_L <= last_B1
        mask_BL = torch.zeros(B, L, dtype=self._attention).masked_fill_(~is_token_BL, -torch.inf)
        own_BL = torch.minimum(places_L, last_B1)  # the last again where there is none
        memory = []
        first = 0
        for part in _parts(lengths, self._part_tokens) if self._in_parts else [slice(0, B)]:
            n_tokens, most = sum(lengths[part]), max(lengths[part])
            first_B1 = (lengths_B[part].cumsum(0) - lengths_B[part]).unsqueeze(1)
            rows_BL, K = own_BL[part] + first_B1, rounded_up(most, BESIDE)
            own = [x_MD[first : first + n_tokens], is_token_BL[part, :K].flatten().nonzero().squeeze(1)]
            n_rows, run = rounded_up(n_tokens, self._beside), self._run
            if self._many is not None and n_tokens >= MANY_ROWS:
                n_rows, run = n_tokens, self._many
            if n_tokens < n_rows:  # what fills up is the first token again, which nobody reads there
                own = [part.index_select(0, filled_up(n_tokens, n_rows)) for part in own]
            (own_MD,) = run(
                [
                    *own,
                    rows_BL[:, : rounded_up(most, LANES)].contiguous(),
                    mask_BL[part, None, None, :K].contiguous(),
                    rows_BL,
                    torch.arange(part.start, part.stop),
                    *(part for layer in layers for part in chain(*layer)),
                ]
            )
            memory.append(own_MD[:n_tokens])
            first += n_tokens
        kept = Memory.of_laid_out(layers, mask_BL[:, None, None].float(), longest, self._attention)
        return memory[0] if len(memory) == 1 else torch.cat(memory), kept


def _parts(lengths: Sequence[int], part_tokens: int) -> Iterator[slice]:
    """Neighbouring sentences, of ``part_tokens`` together or little more."""
    first = n_tokens = 0
    for place, length in enumerate(lengths):
        n_tokens += length
        if n_tokens >= part_tokens or place == len(lengths) - 1:
            yield slice(first, place + 1)
            first, n_tokens = place + 1, 0
