"""What rows of a beam have written, read backwards and as tables, against lists copied at each step."""

from __future__ import annotations

import random

import pytest
import torch

from nmt.search.backpointers import BackPointers

BOS, PAD = 2, 0
Written = list[tuple[list[int], list[float]]]
"""Tokens of each row, and its sums, one more."""


def started(n_rows: int) -> tuple[BackPointers, Written]:
    sums_N1 = torch.arange(n_rows).float().unsqueeze(1)
    backpointers = BackPointers.of_tables(torch.full((n_rows, 1), BOS), sums_N1)
    return backpointers, [([], [float(row)]) for row in range(n_rows)]


def extended(
    backpointers: BackPointers, written: Written, n_rows: int, chance: random.Random
) -> tuple[BackPointers, Written]:
    rows = [chance.randrange(len(written)) for _ in range(n_rows)]
    tokens = [chance.randrange(4, 50) for _ in rows]
    sums = [float(chance.randrange(-50, 0)) for _ in rows]
    after = [
        ([*written[row][0], token], [*written[row][1], total])
        for row, token, total in zip(rows, tokens, sums, strict=True)
    ]
    return backpointers.extended(torch.tensor(rows), torch.tensor(tokens), torch.tensor(sums)), after


def assert_written(backpointers: BackPointers, written: Written) -> None:
    assert backpointers.tokens_N.tolist() == [[BOS, *tokens][-1] for tokens, _ in written]
    assert backpointers.sums_N.tolist() == [sums[-1] for _, sums in written]
    for row, (tokens, sums) in enumerate(written):
        assert backpointers.hypothesis_of(row, len(tokens)) == (tokens, sums)
        for fewer in range(len(tokens)):
            few = backpointers.hypothesis_of(row, fewer)
            assert few == (tokens[len(tokens) - fewer :], sums[len(tokens) - fewer :])
    tokens_NT, sums_NT = backpointers.table("tokens"), backpointers.table("sums")
    for row, (tokens, sums) in enumerate(written):
        assert tokens_NT[row, tokens_NT.size(1) - len(tokens) - 1 :].tolist() == [BOS, *tokens]
        assert sums_NT[row, sums_NT.size(1) - len(sums) :].tolist() == sums


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_read_as_they_were_written(seed: int) -> None:
    chance = random.Random(seed)
    backpointers, written = started(6)
    for _ in range(12):
        before, had = backpointers, written
        backpointers, written = extended(backpointers, written, chance.randrange(1, 9), chance)
        if chance.random() < 0.4:
            assert_written(backpointers, written)  # from here on there are tables
        assert_written(before, had)
    assert_written(backpointers, written)


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_began_at_different_times_end_in_one_column(seed: int) -> None:
    chance = random.Random(seed)
    mine, others = started(4), started(3)
    for _ in range(7):
        mine = extended(*mine, 4, chance)
    for _ in range(chance.randrange(10)):
        others = extended(*others, 3, chance)
    length, shorter = sorted([7, len(others[1][0][0])], reverse=True)
    joined = mine[0].joined(others[0], length + 1, PAD), [*mine[1], *others[1]]
    assert_written(*joined)
    table = joined[0].table("tokens")
    assert table.size(1) == length + 1
    ahead = table[4:] if len(others[1][0][0]) == shorter else table[:4]
    assert bool(ahead[:, : length - shorter].eq(PAD).all())
    for _ in range(3):
        joined = extended(*joined, 7, chance)
        assert_written(*joined)
    staying = [5, 0, 5]
    assert_written(joined[0].select(torch.tensor(staying)), [joined[1][row] for row in staying])


def test_a_table_is_made_of_what_is_newer_than_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(0)
    rows = extended(*started(3), 3, chance)
    rows[0].table("tokens")
    rows = extended(*extended(*rows, 3, chance), 3, chance)
    stacked = list[int]()
    stack = torch.stack
    monkeypatch.setattr(torch, "stack", lambda parts, dim: stacked.append(len(parts)) or stack(parts, dim))
    assert rows[0].table("tokens").size(1) == 4
    assert rows[0].table("tokens") is rows[0].table("tokens")
    assert stacked == [2]
