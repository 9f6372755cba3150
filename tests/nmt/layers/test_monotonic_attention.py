"""Monotonic attention: the closed form against walks that are really walked."""

from __future__ import annotations

import random

import torch

from nmt.layers.monotonic_attention import MonotonicAttention, walk

MASK_BS = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def attention() -> MonotonicAttention:
    torch.manual_seed(3)
    return MonotonicAttention(4, 6, 7)


def test_the_expectation_is_the_share_of_walks_that_stop_there():
    stop, last = [0.3, 0.6, 0.2, 1.0], [0.5, 0.25, 0.25, 0.0]
    generator, counts, n = random.Random(1), [0] * 4, 50_000
    for _ in range(n):
        place = generator.choices(range(4), last)[0]
        while generator.random() >= stop[place]:
            place += 1
        counts[place] += 1
    stop_1S = torch.tensor([stop])
    found_1S = walk(stop_1S, (1 - stop_1S).clamp_min(1e-30).log(), torch.tensor([last]))
    torch.testing.assert_close(found_1S[0], torch.tensor(counts) / n, atol=0.01, rtol=0)


def test_the_expectation_equals_the_papers_recurrence():
    """q_ij = (1 - p_i,j-1) q_i,j-1 + a_i-1,j; a_ij = p_ij q_ij (Raffel et al. 2017, eqs. 10 and 11)."""
    torch.manual_seed(1)
    stop_NS, last_NS = torch.rand(3, 8), torch.rand(3, 8).softmax(-1)
    q_N, expected = torch.zeros(3), []
    for j in range(8):
        q_N = (1 - stop_NS[:, j - 1]) * q_N + last_NS[:, j] if j else last_NS[:, 0]
        expected.append(stop_NS[:, j] * q_N)
    torch.testing.assert_close(walk(stop_NS, (1 - stop_NS).log(), last_NS), torch.stack(expected, 1))


def test_decoding_stops_at_the_first_position_whose_energy_is_above_zero_and_never_goes_back():
    layer = attention().eval()
    memory_BSM = torch.randn(2, 5, 6)
    last_NS, query_NQ = layer.begin(MASK_BS), torch.randn(2, 4)
    for _ in range(4):
        keys_BSA = layer.project_keys(memory_BSM)
        direction = layer.score.weight[0] / layer.score.weight.norm()
        energy_BS = (
            torch.tanh(layer.query(query_NQ)[:, None] + keys_BSA) @ direction * layer.gain + layer.offset
        )
        context_NM, weights_NS = layer(query_NQ, keys_BSA, memory_BSM, MASK_BS, last_NS)
        for row in range(2):
            place, last_place = int(last_NS[row].argmax()), int(MASK_BS[row].sum()) - 1
            while place < last_place and energy_BS[row, place] <= 0:
                place += 1
            assert weights_NS[row].tolist() == [float(j == place) for j in range(5)]
            torch.testing.assert_close(context_NM[row], memory_BSM[row, place])
        last_NS, query_NQ = weights_NS, torch.randn(2, 4) * 3


def test_training_weights_sum_to_one_over_real_positions_and_noise_makes_them_differ():
    layer = attention().train()
    memory_BSM, query_NQ = torch.randn(2, 5, 6), torch.randn(2, 4)
    reads = (query_NQ, layer.project_keys(memory_BSM), memory_BSM, MASK_BS, layer.begin(MASK_BS))
    _, weights_NS = layer(*reads)
    torch.testing.assert_close(weights_NS.sum(1), torch.ones(2))
    assert not weights_NS[~MASK_BS].any()
    assert (weights_NS - layer(*reads)[1]).abs().max() > 1e-3
