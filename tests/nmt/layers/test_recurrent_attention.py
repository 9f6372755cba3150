import math

import pytest
import torch

from nmt.layers.additive_attention import AdditiveAttention
from nmt.layers.multiplicative_attention import (
    DotAttention,
    GeneralAttention,
    build_recurrent_attention,
)

B, K, S, Q, M, A = 2, 3, 5, 4, 6, 7
SCORES = ["additive", "dot", "scaled_dot", "general"]


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def build(score: str) -> tuple[torch.nn.Module, int]:
    d_memory = Q if score in ("dot", "scaled_dot") else M
    return build_recurrent_attention(score, Q, d_memory, A), d_memory


def test_additive_attention_matches_the_papers_formula():
    attention = AdditiveAttention(Q, M, A)
    query_BQ, memory_BSM = torch.randn(B, Q), torch.randn(B, S, M)
    mask_BS = torch.ones(B, S, dtype=torch.bool)
    context, weights = attention(query_BQ, attention.project_keys(memory_BSM), memory_BSM, mask_BS)
    W, U, b, v = attention.query.weight, attention.key.weight, attention.key.bias, attention.score.weight[0]
    for sentence in range(B):
        scores = torch.stack(
            [v @ torch.tanh(W @ query_BQ[sentence] + U @ memory_BSM[sentence, j] + b) for j in range(S)]
        )
        torch.testing.assert_close(weights[sentence], scores.softmax(0))
        torch.testing.assert_close(context[sentence], scores.softmax(0) @ memory_BSM[sentence])


@pytest.mark.parametrize("scaled", [False, True])
def test_dot_attention_matches_its_formula(scaled: bool):
    attention = DotAttention(Q, Q, scaled=scaled)
    query_BQ, memory_BSQ = torch.randn(B, Q), torch.randn(B, S, Q)
    _, weights = attention(query_BQ, memory_BSQ, memory_BSQ, torch.ones(B, S, dtype=torch.bool))
    expected = torch.einsum("bq,bsq->bs", query_BQ, memory_BSQ) / (math.sqrt(Q) if scaled else 1)
    torch.testing.assert_close(weights, expected.softmax(-1))


def test_general_attention_matches_its_formula():
    attention = GeneralAttention(Q, M)
    query_BQ, memory_BSM = torch.randn(B, Q), torch.randn(B, S, M)
    _, weights = attention(
        query_BQ, attention.project_keys(memory_BSM), memory_BSM, torch.ones(B, S, dtype=torch.bool)
    )
    expected = torch.einsum("bq,qm,bsm->bs", query_BQ, attention.key.weight, memory_BSM)
    torch.testing.assert_close(weights, expected.softmax(-1))


@pytest.mark.parametrize("score", SCORES)
def test_beams_share_the_memory_of_their_sentence(score: str):
    attention, d_memory = build(score)
    query_NQ, memory_BSM = torch.randn(B * K, Q), torch.randn(B, S, d_memory)
    mask_BS = torch.ones(B, S, dtype=torch.bool)
    mask_BS[0, 3:] = False
    together = attention(query_NQ, attention.project_keys(memory_BSM), memory_BSM, mask_BS)
    repeated = memory_BSM.repeat_interleave(K, 0)
    alone = attention(query_NQ, attention.project_keys(repeated), repeated, mask_BS.repeat_interleave(K, 0))
    for shared, single in zip(together, alone, strict=True):
        torch.testing.assert_close(shared, single)
    assert together[1][:K, 3:].eq(0).all()


def test_an_unknown_score_and_unequal_sizes_are_named():
    with pytest.raises(ValueError, match=r"'cosine'.*additive, dot"):
        build_recurrent_attention("cosine", Q, M, A)
    with pytest.raises(ValueError, match=r"query \(4\) as large as the memory \(6\)"):
        DotAttention(Q, M, scaled=False)
