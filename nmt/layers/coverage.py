"""Coverage of the source in additive attention (Tu et al. 2016, "Modeling Coverage for NMT", section 4).

    e_ij = v' tanh(W s_(i-1) + U h_j + V C_(i-1,j))

Each source position j keeps a vector C_j of what has been read of it, so that attention may leave what is
done and look for what is not. Two kinds:

    linguistic   C_ij = C_(i-1,j) + a_ij / phi_j,  phi_j = 2 sigmoid(U_f h_j)          C = 1; phi: fertility
    neural       C_ij = GRU([a_ij; h_j; s_(i-1)], C_(i-1,j))                           C = 10 as in the paper

What depends on h alone is computed once for each sentence (``prepare``).

Dimensions: B sentences, K beam size, N = B*K rows, S source length, M memory size, Q query size, C coverage
size, P size of what ``prepare`` gives, A attention size. Rows of one sentence stand together.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nmt.layers.last_attention import LastAttention

MAX_FERTILITY = 2.0
"""N of the paper: the most target words that a source word is expected to become."""
D_NEURAL = 10
"""Size of the neural coverage; the paper found no gain beyond."""


class LinguisticCoverage(nn.Module):
    """The attention so far, as a share of what the word is expected to receive (section 4.1.1)."""

    size = 1

    def __init__(self, d_memory: int, d_attention: int) -> None:
        super().__init__()
        self.fertility = nn.Linear(d_memory, 1, bias=False)
        self.score = nn.Linear(self.size, d_attention, bias=False)

    def prepare(self, memory_BSM: Tensor) -> Tensor:
        """Fertility phi_BS1, between 0 and 2."""
        return MAX_FERTILITY * torch.sigmoid(self.fertility(memory_BSM))

    def update(
        self, coverage_NSC: Tensor, weights_NS: Tensor, prepared_BSP: Tensor, _query_NQ: Tensor
    ) -> Tensor:
        """Coverage after attention ``weights_NS`` has been paid."""
        B, S, _ = prepared_BSP.shape
        share_BKS = weights_NS.view(B, -1, S) / prepared_BSP.view(B, 1, S)
        return coverage_NSC + share_BKS.view(-1, S, 1)


class NeuralCoverage(nn.Module):
    """A gated recurrent unit for each source position, its weights shared (section 4.1.2)."""

    size = D_NEURAL

    def __init__(self, d_query: int, d_memory: int, d_attention: int) -> None:
        super().__init__()
        self.from_weight = nn.Linear(1, 3 * self.size, bias=False)
        self.from_memory = nn.Linear(d_memory, 3 * self.size)
        self.from_query = nn.Linear(d_query, 3 * self.size, bias=False)
        self.gates = nn.Linear(self.size, 2 * self.size, bias=False)
        self.candidate = nn.Linear(self.size, self.size, bias=False)
        self.score = nn.Linear(self.size, d_attention, bias=False)

    def prepare(self, memory_BSM: Tensor) -> Tensor:
        """Input of the gates from h, (B, S, 3C)."""
        prepared_BSP: Tensor = self.from_memory(memory_BSM)
        return prepared_BSP

    def update(
        self, coverage_NSC: Tensor, weights_NS: Tensor, prepared_BSP: Tensor, query_NQ: Tensor
    ) -> Tensor:
        """Coverage after the state ``query_NQ`` has paid attention ``weights_NS``."""
        B, S, P = prepared_BSP.shape
        read_NSP = (
            (prepared_BSP.unsqueeze(1) + self.from_query(query_NQ).view(B, -1, 1, P)).view(-1, S, P)
        ) + self.from_weight(weights_NS.to(prepared_BSP.dtype).unsqueeze(-1))
        gates_NSg, new_NSC = read_NSP.split((2 * self.size, self.size), dim=-1)
        update_NSC, reset_NSC = torch.sigmoid(gates_NSg + self.gates(coverage_NSC)).chunk(2, dim=-1)
        new_NSC = torch.tanh(new_NSC + self.candidate(reset_NSC * coverage_NSC))
        return update_NSC * coverage_NSC + (1 - update_NSC) * new_NSC


Coverage = LinguisticCoverage | NeuralCoverage | LastAttention


def build_coverage(kind: str, d_query: int, d_memory: int, d_attention: int) -> Coverage:
    """Coverage by name: ``linguistic``, ``neural`` or ``last_attention``."""
    if kind == "linguistic":
        return LinguisticCoverage(d_memory, d_attention)
    if kind == "neural":
        return NeuralCoverage(d_query, d_memory, d_attention)
    if kind == "last_attention":
        return LastAttention(d_attention)
    raise ValueError(f"unknown coverage '{kind}'; choose linguistic, neural or last_attention")
