"""Coverage of the source, on numbers worked by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nmt.config import RnnConfig
from nmt.layers.additive_attention import AdditiveAttention
from nmt.layers.coverage import LinguisticCoverage, NeuralCoverage, build_coverage

B, K, S, Q, M, A = 2, 3, 4, 5, 6, 7


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def test_linguistic_coverage_adds_up_attention_over_fertility() -> None:
    coverage = LinguisticCoverage(M, A)
    memory_BSM, query_NQ = torch.randn(B, S, M), torch.randn(B * K, Q)
    weights = [torch.rand(B * K, S).softmax(-1) for _ in range(2)]
    prepared = coverage.prepare(memory_BSM)
    fertility_BS = 2 / (1 + torch.exp(-(memory_BSM @ coverage.fertility.weight[0])))
    state = torch.zeros(B * K, S, 1)
    for weights_NS in weights:
        state = coverage.update(state, weights_NS, prepared, query_NQ)
    expected_NS = (weights[0] + weights[1]) / fertility_BS.repeat_interleave(K, 0)
    torch.testing.assert_close(state.squeeze(-1), expected_NS)
    assert ((prepared > 0) & (prepared < 2)).all()


def test_neural_coverage_is_a_gated_unit_at_each_position() -> None:
    coverage = NeuralCoverage(Q, M, A)
    memory_BSM, query_NQ, before = torch.randn(B, S, M), torch.randn(B * K, Q), torch.randn(B * K, S, 10)
    weights_NS = torch.rand(B * K, S).softmax(-1)
    after = coverage.update(before, weights_NS, coverage.prepare(memory_BSM), query_NQ)

    def at(row: int, place: int) -> Tensor:
        read = (
            coverage.from_weight(weights_NS[row, place].view(1))
            + coverage.from_memory(memory_BSM[row // K, place])
            + coverage.from_query(query_NQ[row])
        )
        old = before[row, place]
        update, reset = torch.sigmoid(read[:20] + coverage.gates(old)).split(10)
        new = torch.tanh(read[20:] + coverage.candidate(reset * old))
        return update * old + (1 - update) * new

    for row, place in ((0, 0), (2, 3), (5, 1)):
        torch.testing.assert_close(after[row, place], at(row, place))


def test_the_last_attention_is_a_window_around_each_position() -> None:
    coverage = build_coverage("last_attention", Q, M, A)
    weights_NS = torch.tensor([[0.0, 0.1, 0.2, 0.7]]).expand(B * K, S)
    prepared = coverage.prepare(torch.randn(B, S, M))
    window_NSC = coverage.update(torch.zeros(B * K, S, 11), weights_NS, prepared, torch.randn(B * K, Q))
    left, right = [0.0] * 5, [0.0] * 5
    padded = [*left, 0.0, 0.1, 0.2, 0.7, *right]
    expected = torch.tensor([padded[place : place + 11] for place in range(S)])
    torch.testing.assert_close(window_NSC, expected.expand(B * K, S, 11))


def test_attention_scores_have_coverage_as_a_third_term() -> None:
    attention = AdditiveAttention(Q, M, A)
    memory_BSM, query_NQ = torch.randn(B, S, M), torch.randn(B * K, Q)
    extra_NSA, mask_BS = torch.randn(B * K, S, A), torch.ones(B, S, dtype=torch.bool)
    keys = attention.project_keys(memory_BSM)
    _, weights_NS = attention(query_NQ, keys, memory_BSM, mask_BS, extra_NSA)
    for row in (0, 4):
        inner = attention.query(query_NQ[row]) + keys[row // K] + extra_NSA[row]
        torch.testing.assert_close(weights_NS[row], attention.score(torch.tanh(inner)).squeeze(-1).softmax(0))
    _, without = attention(query_NQ, keys, memory_BSM, mask_BS)
    _, nothing = attention(query_NQ, keys, memory_BSM, mask_BS, torch.zeros(B * K, S, A))
    torch.testing.assert_close(without, nothing)


def test_coverage_without_additive_attention_and_unknown_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="coverage neural needs attention additive, this is dot"):
        RnnConfig(vocab_size=40, attention="dot", coverage="neural")
    with pytest.raises(ValueError, match="choose linguistic, neural or last_attention"):
        build_coverage("fertility", Q, M, A)
