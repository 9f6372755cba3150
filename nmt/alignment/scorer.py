"""The link scorer: which target position translates which source position, from a frozen model's states.

In the spirit of SHIFT-AET (Chen et al. 2020) and of Garg et al. (2019): the translation model stays as it is;
beside it one bidirectional Transformer layer reads the encoder's output and one the decoder's, with the whole
translation in view and shifted, so that a target position has read its own word. Bilinear scores of all
pairs, with what spelling says, pass two convolutions, through which a pair sees its neighbours as in the HMM
of Vogel et al. (1996), and a softmax in each direction, with a null position, gives the shares.

Dimensions: B sentences, S source pieces, T target pieces (EOS in neither), D d_model, L d_link, C n_scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.alignment.scorer_config import AlignerConfig, ScorerConfig
from nmt.layers.attention import MultiHeadAttention
from nmt.layers.dropout import Dropout
from nmt.layers.feed_forward import FeedForward
from nmt.models.transformer import EncoderLayer, Residual

DROPOUT = 0.1


class States(NamedTuple):
    """States of the frozen model that the scorer reads."""

    memory_BSD: Tensor
    """Encoder output."""
    source_BSD: Tensor
    """Embeddings of the source pieces."""
    predicting_BTD: Tensor
    """Decoder output where the piece is predicted."""
    read_BTD: Tensor
    """Decoder output where the piece has been read."""
    target_BTD: Tensor
    """Embeddings of the target pieces."""
    source_ids_BS: Tensor
    target_ids_BT: Tensor
    source_mask_BS: Tensor
    target_mask_BT: Tensor
    """True at real pieces."""


class LinkLogProbs(NamedTuple):
    """Log-shares of both directions; the last entry is the null position."""

    forward_BTS: Tensor
    """(B, T, S+1): of each target piece over the source pieces; rows sum to 1."""
    backward_BTS: Tensor
    """(B, T+1, S): of each source piece over the target pieces; columns sum to 1."""


class Reader(nn.Module):
    """One side: its states side by side, projected, then one bidirectional layer."""

    def __init__(self, n_states: int, config: ScorerConfig) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(config.d_model) for _ in range(n_states))
        self.project = nn.Linear(n_states * config.d_model, config.d_link)
        self.layer = EncoderLayer(
            MultiHeadAttention(config.d_link, config.n_heads),
            FeedForward(config.d_link, config.d_ff),
            [Residual(config.d_link, DROPOUT, "pre") for _ in range(2)],
        )
        self.norm = nn.LayerNorm(config.d_link)
        self.dropout = Dropout(DROPOUT)

    def forward(self, states: tuple[Tensor, ...], mask_BX: Tensor) -> Tensor:
        """Each (B, X, D) -> (B, X, L)."""
        joined = torch.cat([norm(state) for norm, state in zip(self.norms, states, strict=True)], dim=2)
        read_BXL: Tensor = self.norm(self.layer(self.project(self.dropout(joined)), mask_BX[:, None, None]))
        return read_BXL


class LinkScorer(nn.Module):
    """Scores of all pairs of positions, and shares in both directions."""

    def __init__(self, config: ScorerConfig) -> None:
        super().__init__()
        self.n_scores = config.n_scores
        self.source = Reader(2, config)
        self.target = Reader(3, config)
        self.query = nn.Linear(config.d_link, config.d_link)
        self.key = nn.Linear(config.d_link, config.d_link)
        n_features = config.n_scores + 3
        self.near = nn.Conv2d(n_features, config.d_neighbours, 3, padding=1)
        self.far = nn.Conv2d(config.d_neighbours, config.d_neighbours, 3, padding=1)
        self.score = nn.Conv2d(n_features + config.d_neighbours, 1, 1)
        self.null_source = nn.Linear(config.d_link, 1)
        self.null_target = nn.Linear(config.d_link, 1)
        self.spelling_V: Tensor
        self.stem_V: Tensor
        for name in ("spelling_V", "stem_V"):  # of nmt.alignment.spelling
            self.register_buffer(name, torch.zeros(config.vocab_size, dtype=torch.int32))
        # begin as the plain mean of the bilinear scores
        nn.init.zeros_(self.score.weight)
        nn.init.constant_(self.score.weight[:, : config.n_scores], 1 / math.sqrt(config.n_scores))

    def forward(self, states: States) -> LinkLogProbs:
        """States -> log-shares in float32; at padding they mean nothing."""
        source_mask_BS, target_mask_BT = states.source_mask_BS, states.target_mask_BT
        source_BSL = self.source((states.memory_BSD, states.source_BSD), source_mask_BS)
        target_BTL = self.target((states.predicting_BTD, states.read_BTD, states.target_BTD), target_mask_BT)
        scores_BTS = self._scores(target_BTL, source_BSL, states)
        null_BT1 = self.null_source(target_BTL).float()
        null_B1S = self.null_target(source_BSL).float().transpose(1, 2)
        forward_BTS = torch.cat([scores_BTS.masked_fill(~source_mask_BS[:, None], -1e9), null_BT1], dim=2)
        backward_BTS = torch.cat([scores_BTS.masked_fill(~target_mask_BT[..., None], -1e9), null_B1S], dim=1)
        return LinkLogProbs(forward_BTS.log_softmax(dim=2), backward_BTS.log_softmax(dim=1))

    def _scores(self, target_BTL: Tensor, source_BSL: Tensor, states: States) -> Tensor:
        """Bilinear scores, spelling and the distance from the diagonal, with what the neighbours add."""
        target_mask_BT, source_mask_BS = states.target_mask_BT, states.source_mask_BS
        query_BCTE = self.query(target_BTL).unflatten(2, (self.n_scores, -1)).transpose(1, 2)
        key_BCES = self.key(source_BSL).unflatten(2, (self.n_scores, -1)).permute(0, 2, 3, 1)
        bilinear_BCTS = query_BCTE @ key_BCES / math.sqrt(query_BCTE.size(3))
        others_B3TS = torch.stack(
            [
                _distance_from_diagonal(target_mask_BT, source_mask_BS),
                _equal(self.spelling_V, states.target_ids_BT, states.source_ids_BS),
                _equal(self.stem_V, states.target_ids_BT, states.source_ids_BS),
            ],
            dim=1,
        )
        real_B1TS = target_mask_BT[:, None, :, None] & source_mask_BS[:, None, None, :]
        features_BFTS = torch.cat([bilinear_BCTS.float(), others_B3TS], dim=1) * real_B1TS
        near = functional.gelu(self.near(features_BFTS)) * real_B1TS
        far = functional.gelu(self.far(near))
        # the weighted sum of a 1x1 convolution
        weight, n_features = self.score.weight.flatten(), features_BFTS.size(1)
        assert self.score.bias is not None
        of_features_BP = weight[:n_features] @ features_BFTS.flatten(2)
        score_BP: Tensor = of_features_BP + weight[n_features:] @ far.flatten(2) + self.score.bias
        return score_BP.view(-1, *features_BFTS.shape[2:]).float()


@dataclass(frozen=True)
class TrainedAligner:
    """A link scorer, and how it came about and when it links."""

    config: AlignerConfig
    scorer: LinkScorer


def _equal(number_V: Tensor, target_ids_BT: Tensor, source_ids_BS: Tensor) -> Tensor:
    """1 where two pieces have the same number, which is not 0: (B, T, S)."""
    target_BT1, source_B1S = number_V[target_ids_BT].unsqueeze(2), number_V[source_ids_BS].unsqueeze(1)
    return ((target_BT1 == source_B1S) & (target_BT1 > 0)).float()


def _distance_from_diagonal(target_mask_BT: Tensor, source_mask_BS: Tensor) -> Tensor:
    """|t/T - s/S| for each pair of positions: (B, T, S)."""
    target_BT, source_BS = (
        torch.arange(mask.size(1), device=mask.device) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        for mask in (target_mask_BT, source_mask_BS)
    )
    return (target_BT[:, :, None] - source_BS[:, None, :]).abs()
