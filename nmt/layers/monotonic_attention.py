"""Monotonic attention (Raffel et al. 2017): read on from where the last word was, stop where the next one is.

At each source position j from the last one on, the model stops with probability p_ij = sigmoid(e_ij) or goes
on. (Yu et al. 2016 sum over the same left-to-right paths; here one path is followed when decoding.)

    training    a_ij = p_ij  sum over k <= j of  a_(i-1,k)  product over k <= l < j of (1 - p_il)      (eq. 9)
    decoding    the first j >= the last one with p_ij > 1/2: the same sum with p_ij 0 or 1      (algorithm 1)

Training reads the expectation of h under a; noise before the sigmoid drives the p_ij to 0 or 1 (section 2.5),
so that the two agree. Energies have a gain and an offset (section 2.4), the offset below 0: at first most
positions are passed.

Here we differ: the last position, EOS, always stops. No weight is lost and rows sum to 1; in the paper a row
that stops nowhere reads a vector of zeros.

Dimensions: B sentences, K beam size, N = B*K rows, S source length, M memory size, Q query size, A attention
size. Rows of one sentence stand together. Masks are True at real source positions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

FIRST_OFFSET = -1.0
STOPPED = -1e4
"""The logarithm of going on past a stop: 0 after exp, and exact when some are added up."""


class MonotonicAttention(nn.Module):
    """Additive energies, one way through the source."""

    def __init__(self, d_query: int, d_memory: int, d_attention: int) -> None:
        super().__init__()
        self.query = nn.Linear(d_query, d_attention, bias=False)
        self.key = nn.Linear(d_memory, d_attention)
        self.score = nn.Linear(d_attention, 1, bias=False)
        self.gain = nn.Parameter(torch.tensor(1.0))
        self.offset = nn.Parameter(torch.tensor(FIRST_OFFSET))

    def project_keys(self, memory_BSM: Tensor) -> Tensor:
        """U h, computed once for each sentence."""
        keys_BSA: Tensor = self.key(memory_BSM)
        return keys_BSA

    def begin(self, mask_BS: Tensor) -> Tensor:
        """Before the first word all weight is on the first position."""
        first_BS = torch.zeros(mask_BS.shape, device=mask_BS.device)
        first_BS[:, 0] = 1.0
        return first_BS

    def forward(
        self, query_NQ: Tensor, keys_BSA: Tensor, memory_BSM: Tensor, mask_BS: Tensor, last_NS: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return context_NM and weights_NS; ``last_NS`` are those of the step before, or ``begin``."""
        B, S, A = keys_BSA.shape
        sum_BKSA = self.query(query_NQ).view(B, -1, 1, A) + keys_BSA.unsqueeze(1)
        direction_1A = self.score.weight / self.score.weight.norm()
        energy_BKS = (torch.tanh(sum_BKSA) @ (self.gain * direction_1A).t()).squeeze(-1) + self.offset
        energy_BKS = energy_BKS.float()
        if self.training:
            energy_BKS = energy_BKS + torch.randn_like(energy_BKS)
            stop_BKS, log_pass_BKS = torch.sigmoid(energy_BKS), logsigmoid(-energy_BKS)
        else:
            stop_BKS = (energy_BKS > 0).float()
            log_pass_BKS = STOPPED * stop_BKS
        is_last_B1S = mask_BS & (
            mask_BS.sum(dim=1, keepdim=True) == torch.arange(1, S + 1, device=mask_BS.device)
        )
        is_last_B1S = is_last_B1S.unsqueeze(1)
        stop_BKS = stop_BKS.masked_fill(is_last_B1S, 1.0).masked_fill(~mask_BS.unsqueeze(1), 0.0)
        weights_NS = walk(stop_BKS.flatten(0, 1), log_pass_BKS.flatten(0, 1), last_NS)
        context_BKM = weights_NS.view(B, -1, S).to(memory_BSM.dtype) @ memory_BSM
        return context_BKM.flatten(0, 1), weights_NS


def walk(stop_NS: Tensor, log_pass_NS: Tensor, last_NS: Tensor) -> Tensor:
    """Weights_NS of a step (eq. 9): where a walk that began at ``last_NS`` stops.

    Args:
        stop_NS: the probability of stopping at each position, if the walk comes there.
        log_pass_NS: the logarithm of the probability of going on.
        last_NS: where it begins.
    """
    S = stop_NS.size(1)
    passed_NS = log_pass_NS.cumsum(dim=1) - log_pass_NS  # of all positions before each
    passed_NKS = passed_NS.unsqueeze(1) - passed_NS.unsqueeze(2)  # from k on, up to j
    is_behind_KS = torch.ones(S, S, dtype=torch.bool, device=stop_NS.device).tril(-1)
    reach_NKS = passed_NKS.masked_fill(is_behind_KS, -math.inf).exp()
    return stop_NS * (last_NS.unsqueeze(1) @ reach_NKS).squeeze(1)
