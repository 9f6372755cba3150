"""The sentences before, read by the encoder (Miculicich et al. 2018, section 3; Yang et al. 2016).

    d_t = FFN(attention over the words of each sentence before, then over these sentences)     (eqs. 2 to 5)
    h_t <- g h_t + (1 - g) d_t,   g = sigmoid(W h_t + U d_t)                                   (eqs. 6 and 7)

Each sentence is encoded by itself; then every word of the last one, which is to be translated, looks back.
The decoder sees that sentence alone. A sentence without any before it stays as it is.

Dimensions: B sentences, S words of the document part, K its sentences, D d_model.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.layers.feed_forward import FeedForward
from nmt.layers.hierarchical_attention import HierarchicalAttention


class DocumentContext(nn.Module):
    """Hierarchical attention to the sentences before, let in by a gate."""

    def __init__(self, attention: HierarchicalAttention, feed_forward: FeedForward, d_model: int) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.gate = nn.Linear(2 * d_model, d_model)

    def forward(self, memory_BSD: Tensor, before_B1KS: Tensor) -> Tensor:
        """The memory with what the sentences before tell; ``before_B1KS`` is True at their words."""
        context_BSD = self.attention(memory_BSD, self.attention.project(memory_BSD), before_B1KS)
        context_BSD = self.feed_forward(context_BSD)
        gate_BSD = torch.sigmoid(self.gate(torch.cat((memory_BSD, context_BSD), dim=-1)))
        has_any_B11 = before_B1KS.flatten(1).any(dim=1)[:, None, None]
        return torch.where(has_any_B11, gate_BSD * memory_BSD + (1 - gate_BSD) * context_BSD, memory_BSD)
