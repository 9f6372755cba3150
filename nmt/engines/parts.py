"""What engines take over from a model as it is: embeddings, norms, and where these stand.

Dimensions: N rows, T tokens, V vocabulary, X positions, D d_model.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt.engines.whole import Words
from nmt.layers.embedding import ScaledEmbedding
from nmt.layers.positional_encoding import LearnedPositionalEncoding, SinusoidalPositionalEncoding
from nmt.models.transformer import Residual


class Embedding:
    """Vectors times a scale, plus positions."""

    def __init__(
        self, embedding: ScaledEmbedding, positions: SinusoidalPositionalEncoding | LearnedPositionalEncoding
    ) -> None:
        self._weight_VD = embedding.weight_VD.detach()
        self._scale = embedding.scale
        self._positions_XD = positions.encoding_TD.detach()
        self.n_positions = self._positions_XD.size(0)

    def check(self, n_positions: int) -> None:
        """Raises ``ValueError`` where the model has fewer positions."""
        if n_positions > self.n_positions:
            raise ValueError(
                f"position {n_positions - 1} is past the model's {self.n_positions} positions (max_positions)"
            )

    def words(self, forbidden: Sequence[int]) -> Words:
        """As a step that is one call reads them; the tokens ``forbidden`` are never next."""
        forbidden_V = torch.zeros(len(self._weight_VD))
        forbidden_V[list(forbidden)] = -torch.inf
        return Words(self._weight_VD, self._positions_XD, forbidden_V, torch.tensor(forbidden or [0]))

    def read(self, tokens: Tensor, positions: range) -> Tensor:
        """(..., T) or (N,) tokens at consecutive positions, or all at one -> (..., D)."""
        self.check(positions.stop)
        encoding = self._positions_XD[positions.start : positions.stop]
        return torch.add(encoding, F.embedding(tokens, self._weight_VD), alpha=self._scale)

    def read_at(self, tokens_N: Tensor, positions_N: Tensor) -> Tensor:
        """Each token at a position of its own."""
        encoding_ND = self._positions_XD[positions_N]
        return torch.add(encoding_ND, F.embedding(tokens_N, self._weight_VD), alpha=self._scale)


class Norm:
    """Layer normalisation with weights in the precision of the layers; nothing where the model has none."""

    def __init__(self, norm: nn.Module, dtype: torch.dtype) -> None:
        self._norm = norm if isinstance(norm, nn.LayerNorm) else None
        if self._norm is not None:
            self._weight_D = self._norm.weight.detach().to(dtype)
            self._bias_D = self._norm.bias.detach().to(dtype)

    def __call__(self, x_ND: Tensor) -> Tensor:
        """Each row by itself."""
        if self._norm is None:
            return x_ND
        return F.layer_norm(x_ND, self._weight_D.shape, self._weight_D, self._bias_D, self._norm.eps)


class Sublayer:
    """Where a sub-layer's normalisation stands: before it, or after the residual addition."""

    def __init__(self, residual: Residual, dtype: torch.dtype) -> None:
        norm, none = Norm(residual.norm, dtype), Norm(nn.Identity(), dtype)
        self.before, self.after = (norm, none) if residual.pre else (none, norm)
