"""How a call is cut for workers: every sentence once, costs even, no more batches than pay."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from nmt.shares import (
    BEST_TOKENS,
    ENCODER_ROWS,
    GAIN_BY_THREADS,
    HANDING_ROWS,
    STEP_ROWS,
    StepCost,
    cut,
    even_shares,
)


def costs(batches: Sequence[Sequence[int]], lengths: Sequence[int], cost: StepCost) -> list[int]:
    sizes = ([lengths[place] for place in batch] for batch in batches)
    return [cost.batch(batch, batch) for batch in sizes]


def test_a_batch_costs_its_source_its_steps_and_the_rows_that_are_left_at_each() -> None:
    cost = StepCost(beam_size=2)
    assert cost.step(3) == STEP_ROWS + 6
    assert cost.batch([9], [5]) == ENCODER_ROWS * 9 + 5 * (STEP_ROWS + 2)
    # three steps with two sentences, two more with one
    steps = 3 * (STEP_ROWS + 4) + 2 * (STEP_ROWS + 2)
    assert cost.batch([9, 8], [5, 3]) == ENCODER_ROWS * (9 + 8) + steps
    assert cost.batch([], []) == 0


def test_a_step_of_few_rows_costs_less_before_its_first() -> None:
    cost = StepCost(beam_size=2, few_rows=4, few_step_rows=3)
    assert [cost.step(n) for n in (0, 2, 3)] == [0, 3 + 4, STEP_ROWS + 6]
    # as its sentences end, a batch comes down to few rows
    assert cost.batch([7, 4, 4], [7, 4, 4]) == ENCODER_ROWS * 15 + 4 * (STEP_ROWS + 6) + 3 * (3 + 2)


def test_the_less_a_step_takes_before_its_first_row_the_more_long_sentences_are_together() -> None:
    """Two shares of 16 sentences, the longer of which has as many steps as its longest."""
    lengths = [60, 50, 45, 40, 36, 32, 30, 28, 25, 22, 20, 18, 16, 14, 12, 10]
    shares = [
        even_shares(lengths, lengths, 4096, StepCost(1, few_rows=99, few_step_rows=before_first), 2)
        for before_first in (2, 14, 40)
    ]
    assert [len(first) for first, _ in shares] == [5, 3, 2]


def test_one_worker_gets_batches_of_the_best_size_or_what_it_may() -> None:
    of_beam = BEST_TOKENS // 6 // 20
    assert [len(batch) for batch in cut([20] * 64, [20] * 64, 4096, StepCost(1))] == [64]
    assert [len(batch) for batch in cut([20] * 150, [20] * 150, 10**5, StepCost(5))] == [
        of_beam,
        150 - of_beam,
    ]
    assert [len(batch) for batch in cut([20] * 64, [20] * 64, 4000, StepCost(5))] == [40, 24]
    assert cut([], [], 4096, StepCost(5)) == []


@pytest.mark.parametrize("n_workers", [2, 3])
@pytest.mark.parametrize("beam_size", [1, 5])
def test_workers_get_equally_many_batches_of_even_costs(beam_size: int, n_workers: int) -> None:
    draw = random.Random(beam_size)
    for n_sentences in (32, 64, 500):
        lengths = [draw.randrange(2, 70) for _ in range(n_sentences)]
        cost = StepCost(beam_size, few_rows=8, few_step_rows=4)
        batches = cut(lengths, lengths, 4096, cost, n_workers)
        assert len(batches) % n_workers == 0
        assert sorted(place for batch in batches for place in batch) == list(range(n_sentences))
        assert all(
            max(lengths[place] for place in batch) * len(batch) * beam_size <= 4096 for batch in batches
        )
        spent = costs(batches, lengths, cost)
        assert max(spent) <= 1.5 * sorted(spent)[len(spent) // 2]


def test_sixteen_sentences_that_just_fill_two_batches_are_shared_out_evenly() -> None:
    lengths = [72, 70, 55, 51, 48, 44, 40, 36, 31, 28, 21, 18, 15, 11, 10, 9]
    full = cut(lengths, lengths, 4096, StepCost(5))
    shared = cut(lengths, lengths, 4096, StepCost(5), n_workers=2)
    assert [len(batch) for batch in full] == [11, 5]
    assert max(costs(shared, lengths, StepCost(5))) < 0.75 * max(costs(full, lengths, StepCost(5)))


def test_what_fills_three_batches_is_four_for_two_workers() -> None:
    lengths = [40] * 60
    assert [len(batch) for batch in cut(lengths, lengths, 4096, StepCost(5))] == [20, 20, 20]
    assert [len(batch) for batch in cut(lengths, lengths, 4096, StepCost(5), n_workers=2)] == [15, 15, 15, 15]


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
            batches = cut(lengths, lengths, 4 * BEST_TOKENS, StepCost(beam_size), n_workers)
            assert len(batches) == n_workers * of_each
            limit = round(beam_size * length * best / 2)
            assert all(
                beam_size * length * len(batch) <= limit
                for batch in cut(lengths, lengths, limit, StepCost(beam_size), n_workers)
            )


def test_a_small_call_is_one_batch_on_all_cores() -> None:
    assert len(cut([12], [12], 4096, StepCost(5), n_workers=2)) == 1
    assert len(cut([4, 3], [4, 3], 4096, StepCost(1), n_workers=2)) == 1
    assert cut([], [], 4096, StepCost(5), n_workers=2) == []


def test_a_call_is_cut_where_the_last_worker_is_ready_sooner() -> None:
    for lengths in ([3] * 2, [9] * 4, [9] * 12, [9] * 30, [40, 3, 3]):
        for cost in (StepCost(1), StepCost(5), StepCost(5, few_rows=8, few_step_rows=4)):
            batches = cut(lengths, lengths, 4096, cost, n_workers=2)
            last = max(costs(even_shares(lengths, lengths, 4096, cost, 2), lengths, cost))
            sooner = GAIN_BY_THREADS * (last + HANDING_ROWS) < cost.batch(lengths, lengths)
            assert len(batches) == (2 if sooner else 1)


def test_the_more_threads_gain_the_more_sentences_are_one_batch() -> None:
    for gain, most in ((1.1, 1), (1.45, 4), (1.9, 50)):
        cost = StepCost(1, few_rows=99, few_step_rows=4, gain_by_threads=gain)
        calls = ([30] * n_sentences for n_sentences in (1, *range(2, 80, 2)))
        alone = [len(call) for call in calls if len(cut(call, call, 10**6, cost, n_workers=2)) == 1]
        assert max(alone) == most


def test_shares_hold_every_sentence_once_and_cost_the_least_that_such_shares_can() -> None:
    draw = random.Random(0)
    for _ in range(100):
        lengths = [draw.randrange(1, 70) for _ in range(draw.randrange(2, 9))]
        cost = StepCost(draw.choice([1, 5, 20]), draw.choice([0, 3, 8]), draw.choice([2, 14]))
        n_shares = draw.randrange(2, 4)
        shares = even_shares(lengths, lengths, 10**6, cost, n_shares)
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
    lengths = [60, 50, 40, *[20] * 29]
    first, second = even_shares(lengths, lengths, 4096, StepCost(1), 2)
    assert len(first) < len(second)


def test_a_sentence_too_long_for_a_batch_is_alone() -> None:
    lengths = [900, 10, 10]
    assert [len(batch) for batch in cut(lengths, lengths, 4096, StepCost(5), n_workers=2)] == [1, 2]


def test_what_counts_are_steps_and_what_must_have_room_are_source_tokens() -> None:
    lengths, steps = [80, 70, 60, 50, 40, 30, 20, 20], [20] * 8
    assert [len(batch) for batch in even_shares(lengths, lengths, 4096, StepCost(5), 2)] == [2, 6]
    assert [len(batch) for batch in even_shares(lengths, steps, 4096, StepCost(5), 2)] == [4, 4]
    assert [len(batch) for batch in even_shares(lengths, steps, 1300, StepCost(5), 2)] == [3, 5]
