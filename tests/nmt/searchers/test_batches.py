"""How a call is cut for workers: every sentence once, costs even, no more batches than pay."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from nmt.searchers.batches import ENCODER_ROWS, STEP_ROWS, StepCost, cut, even_shares

BEST_TOKENS = 16_000


@pytest.fixture(autouse=True)
def large_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.searchers.batches.BEST_TOKENS", BEST_TOKENS)


def costs(batches: Sequence[Sequence[int]], lengths: Sequence[int], cost: StepCost) -> list[int]:
    return [cost.batch([lengths[place] for place in batch]) for batch in batches]


def test_a_batch_costs_its_source_its_steps_and_the_rows_that_are_left_at_each() -> None:
    cost = StepCost(beam_size=2)
    assert cost.step(3) == STEP_ROWS + 6
    assert cost.batch([9]) == ENCODER_ROWS * 9 + 9 * (STEP_ROWS + 2)
    # three steps with two sentences, two more with one
    assert cost.batch([5, 3]) == ENCODER_ROWS * (5 + 3) + 3 * (STEP_ROWS + 4) + 2 * (STEP_ROWS + 2)
    assert cost.batch([]) == 0


def test_one_worker_gets_batches_of_the_best_size_or_what_it_may() -> None:
    of_beam = BEST_TOKENS // 6 // 20
    assert [len(batch) for batch in cut([20] * 64, 4096, 1)] == [64]
    assert [len(batch) for batch in cut([20] * 150, 10**5, 5)] == [of_beam, 150 - of_beam]
    assert [len(batch) for batch in cut([20] * 64, 4000, 5)] == [40, 24]
    assert cut([], 4096, 5) == []


@pytest.mark.parametrize("n_workers", [2, 3])
@pytest.mark.parametrize("beam_size", [1, 5])
def test_workers_get_equally_many_batches_of_even_costs(beam_size: int, n_workers: int) -> None:
    draw = random.Random(beam_size)
    for n_sentences in (32, 64, 500):
        lengths = [draw.randrange(2, 70) for _ in range(n_sentences)]
        batches = cut(lengths, 4096, beam_size, n_workers)
        assert len(batches) % n_workers == 0
        assert sorted(place for batch in batches for place in batch) == list(range(n_sentences))
        assert all(
            max(lengths[place] for place in batch) * len(batch) * beam_size <= 4096 for batch in batches
        )
        spent = costs(batches, lengths, StepCost(beam_size))
        assert max(spent) <= 1.5 * sorted(spent)[len(spent) // 2]


def test_sixteen_sentences_that_just_fill_two_batches_are_shared_out_evenly() -> None:
    lengths = [72, 70, 55, 51, 48, 44, 40, 36, 31, 28, 21, 18, 15, 11, 10, 9]
    full, shared = cut(lengths, 4096, 5), cut(lengths, 4096, 5, n_workers=2)
    assert [len(batch) for batch in full] == [11, 5]
    assert max(costs(shared, lengths, StepCost(5))) < 0.75 * max(costs(full, lengths, StepCost(5)))


def test_what_fills_three_batches_is_four_for_two_workers() -> None:
    assert [len(batch) for batch in cut([40] * 60, 4096, 5)] == [20, 20, 20]
    assert [len(batch) for batch in cut([40] * 60, 4096, 5, n_workers=2)] == [15, 15, 15, 15]


@pytest.mark.parametrize("beam_size", [1, 5])
@pytest.mark.parametrize("n_workers", [2, 3])
def test_batches_are_of_the_best_size_or_fuller_where_that_makes_fewer(
    beam_size: int, n_workers: int
) -> None:
    length = 30
    best = BEST_TOKENS / (1 + beam_size) / length
    for of_each in (1, 2, 10):
        for filled in (0.8, 1.2):  # of best
            lengths = [length] * round(n_workers * (of_each + filled - 1) * best)
            batches = cut(lengths, 4 * BEST_TOKENS, beam_size, n_workers)
            assert len(batches) == n_workers * of_each
            limit = round(beam_size * length * best / 2)
            assert all(
                beam_size * length * len(batch) <= limit
                for batch in cut(lengths, limit, beam_size, n_workers)
            )


def test_each_worker_gets_a_sentence_where_there_are_enough() -> None:
    assert [len(batch) for batch in cut([12], 4096, 5, n_workers=2)] == [1]
    assert [len(batch) for batch in cut([4, 3], 4096, 1, n_workers=2)] == [1, 1]
    assert cut([], 4096, 5, n_workers=2) == []


def test_shares_hold_every_sentence_once_and_cost_the_least_that_such_shares_can() -> None:
    draw = random.Random(0)
    for _ in range(100):
        lengths = [draw.randrange(1, 70) for _ in range(draw.randrange(2, 9))]
        cost = StepCost(draw.choice([1, 5, 20]))
        n_shares = draw.randrange(2, 4)
        shares = even_shares(lengths, 10**6, cost, n_shares)
        assert sorted(place for batch in shares for place in batch) == list(range(len(lengths)))
        assert len(shares) <= n_shares
        order = [place for batch in shares for place in batch]
        assert [lengths[place] for place in order] == sorted(lengths, reverse=True)
        least = min(
            max(costs([order[a:b] for a, b in itertools.pairwise((0, *inner, len(order)))], lengths, cost))
            for inner in itertools.combinations_with_replacement(range(len(order) + 1), n_shares - 1)
        )
        assert max(costs(shares, lengths, cost)) == least


def test_the_longest_sentences_are_few_in_their_share() -> None:
    first, second = even_shares([60, 50, 40, *[20] * 29], 4096, StepCost(1), 2)
    assert len(first) < len(second)


def test_a_sentence_too_long_for_a_batch_is_alone() -> None:
    assert [len(batch) for batch in cut([900, 10, 10], 4096, 5, n_workers=2)] == [1, 2]
