"""The last step's attention as an input of this one's (Cohn et al. 2016, section 3.1, Markov condition).

    e_ij = v' tanh(W s_(i-1) + U h_j + V [a_(i-1, j-k); ...; a_(i-1, j); ...; a_(i-1, j+k)])

Words that stand together are often translated together: where attention was a step ago tells where it may be
now. It has the interface of ``nmt.layers.coverage``, which adds attention up instead.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, M memory size, Q query size, C the window
(2k + 1), A attention size.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import pad

REACH = 5
"""k of the paper: positions to each side."""


class LastAttention(nn.Module):
    """Attention to each source position and its neighbours one step ago; nothing before the first."""

    size = 2 * REACH + 1

    def __init__(self, d_attention: int) -> None:
        super().__init__()
        self.score = nn.Linear(self.size, d_attention, bias=False)

    def prepare(self, memory_BSM: Tensor) -> Tensor:
        """Nothing depends on the source alone: (B, S, 0)."""
        return memory_BSM[..., :0]

    def update(
        self, _coverage_NSC: Tensor, weights_NS: Tensor, prepared_BSP: Tensor, _query_NQ: Tensor
    ) -> Tensor:
        """The window around each position of ``weights_NS``."""
        window_NSC = pad(weights_NS, (REACH, REACH)).unfold(1, self.size, 1)
        return window_NSC.to(prepared_BSP.dtype)
