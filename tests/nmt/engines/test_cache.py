"""The cache of what rows have read: it holds what a list of plain tensors would, wherever it puts it."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from nmt.engines.cache import LARGER_BY, ROOM, Cache
from nmt.engines.keeping import KeptIn, empty, kept, restored
from nmt.engines.places import FEW

HEADS = [(2, 8), (1, 4)]
"""Of layers that differ."""


def new_numbers(n_rows: int) -> list[Tensor]:
    """Of keys and values of each layer, (N, H, E)."""
    return [torch.randn(n_rows, *heads) for heads in HEADS for _ in range(2)]


def in_order(cache: Cache) -> list[Tensor]:
    return [part for layer in range(len(HEADS)) for part in cache.in_order(layer)]


def where_it_stands(cache: Cache) -> list[Tensor]:
    """Read as a step that is one call does."""
    times_T = torch.arange(cache.n_tokens)
    readers_NT, places_N1 = cache.readers_NC[:, : cache.n_tokens], cache.places_N.unsqueeze(1)
    found = []
    for parts in (parts for layer in cache.layers for parts in layer):
        read = tuple(part.transpose(1, 2)[places_N1, times_T, :, readers_NT] for part in parts)
        found.append(restored(read).transpose(1, 2))
    return found


def write_where_it_stands(cache: Cache, new: list[Tensor], kept_in: KeptIn) -> None:
    """As a step that is one call does."""
    now_N = cache.n_tokens - 1 - cache.behind_N
    everything = [parts for layer in cache.layers for parts in layer]
    for parts, own_NHE in zip(everything, new, strict=True):
        for part, own in zip(parts, kept(own_NHE, kept_in), strict=True):
            part[cache.places_N, :, now_N, cache.readers_NC[torch.arange(cache.n_rows), now_N]] = own


def all_equal(one: list[Tensor], other: list[Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("kept_in", ["float32", "int8", "int8x4"])
@pytest.mark.parametrize("may_stay", [True, False])
@pytest.mark.parametrize("beam_size", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_it_holds_what_each_row_has_read(seed: int, beam_size: int, may_stay: bool, kept_in: KeptIn) -> None:
    """Whether steps that are one call read and write it, or others, or now these and now those."""
    chance = random.Random(f"{seed} {beam_size}")
    torch.manual_seed(seed)
    n_sentences = 2 * FEW if seed == 0 else 9  # of few nothing is moved together
    expected_tokens = chance.choice([1, ROOM, 2 * ROOM + 1])
    cache = Cache(n_sentences, beam_size, HEADS, kept_in, may_stay=may_stay, expected=expected_tokens)
    expected = [numbers.unsqueeze(2)[:, :, :0] for numbers in new_numbers(cache.n_rows)]
    for _ in range(3 * ROOM + 5):
        cache.grow()
        new = new_numbers(cache.n_rows)
        as_kept = [restored(kept(own, kept_in)).unsqueeze(2) for own in new]
        expected = [torch.cat(pair, dim=2) for pair in zip(expected, as_kept, strict=True)]
        if chance.random() < 0.5:
            for layer in range(len(HEADS)):
                cache.write(layer, *new[2 * layer : 2 * layer + 2])
        else:
            write_where_it_stands(cache, new, kept_in)
        assert all_equal(where_it_stands(cache), expected)
        assert all_equal(in_order(cache), expected)
        if chance.random() < 0.7:
            n_leaving = max(1, n_sentences // 4) if chance.random() < 0.2 else 0
            staying = sorted(chance.sample(range(n_sentences), n_sentences - n_leaving))
            n_sentences = max(1, len(staying))
            rows_N = torch.tensor(
                [
                    place * beam_size + chance.randrange(beam_size)
                    for place in staying or [0]
                    for _ in range(beam_size)
                ]
            )
            cache.select(rows_N)
            expected = [part[rows_N] for part in expected]
            assert cache.n_rows == len(rows_N)
            assert all_equal(where_it_stands(cache), expected)
    assert n_sentences < 9
    ((keys, *_), _), _ = cache.layers
    if seed == 0 and may_stay:
        assert keys.size(0) < 2 * FEW, "half of them have left: the others have moved"


@pytest.mark.parametrize("kept_in", ["float32", "int8", "int8x4"])
@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_sentences_that_started_at_different_times_share_one(
    seed: int, beam_size: int, kept_in: KeptIn
) -> None:
    """Others join at any time, and any may leave: each row has what it has read, and zeros after that."""
    chance = random.Random(f"{seed} {beam_size}")
    torch.manual_seed(seed)
    cache = Cache(2, beam_size, HEADS, kept_in)

    def nothing_read(n_rows: int) -> list[list[Tensor]]:
        return [[numbers[:0] for numbers in new_numbers(0)] for _ in range(n_rows)]

    def read(own: Cache, rows: list[list[Tensor]]) -> list[list[Tensor]]:
        own.grow()
        new = new_numbers(own.n_rows)
        write_where_it_stands(own, new, kept_in)
        as_kept = [restored(kept(numbers, kept_in)) for numbers in new]
        return [
            [torch.cat([before, after[row][None]]) for before, after in zip(parts, as_kept, strict=True)]
            for row, parts in enumerate(rows)
        ]

    expected, longest = nothing_read(cache.n_rows), 0
    for number in range(4 * ROOM):
        expected = read(cache, expected)
        if chance.random() < 0.2:
            room = 3 * ROOM if number % 2 else 1
            other = Cache(chance.randrange(1, 4), beam_size, HEADS, kept_in, expected=room)
            others = nothing_read(other.n_rows)
            for _ in range(chance.choice([0, 0, 1, 30])):
                others = read(other, others)
            if chance.random() < 0.5:
                cache, other, expected, others = other, cache, others, expected
            cache.join(other)
            expected = [*expected, *others]
        n_sentences = cache.n_rows // beam_size
        if n_sentences > 1 and chance.random() < 0.3:
            staying = sorted(chance.sample(range(n_sentences), chance.randrange(1, n_sentences)))
            rows = [
                place * beam_size + chance.randrange(beam_size) for place in staying for _ in range(beam_size)
            ]
            cache.select(torch.tensor(rows))
            expected = [expected[row] for row in rows]
        n_read = [len(parts[0]) for parts in expected]
        longest = max(longest, *n_read)
        assert cache.n_rows == len(expected)
        assert (cache.n_tokens - cache.behind_N).tolist() == n_read
        assert cache.n_tokens == max(n_read)
        for found, of_rows in zip(where_it_stands(cache), zip(*expected, strict=True), strict=True):
            for found_HTE, own_THE in zip(found, of_rows, strict=True):
                assert torch.equal(found_HTE[:, : len(own_THE)], own_THE.transpose(0, 1))
                assert bool(found_HTE[:, len(own_THE) :].eq(0).all())
    assert longest > 2 * ROOM


def test_what_has_joined_at_the_same_time_is_read_as_ever() -> None:
    one, other = Cache(2, 2, HEADS, "float32"), Cache(1, 2, HEADS, "float32")
    expected = []
    for cache in (one, other):
        cache.grow()
        for layer in range(len(HEADS)):
            cache.write(layer, *new_numbers(cache.n_rows)[2 * layer : 2 * layer + 2])
        expected.append([part.clone() for part in in_order(cache)])
    one.join(other)
    assert one.behind_N.tolist() == [0] * 6
    together = [torch.cat(pair) for pair in zip(*expected, strict=True)]
    assert all_equal(in_order(one), together)


def test_who_joins_takes_the_place_of_who_has_left() -> None:
    """Nobody else moves, and nothing is seen of who was there."""
    one, other = Cache(4, 2, HEADS, "float32"), Cache(1, 2, HEADS, "float32")
    for _ in range(5):
        one.grow()
        write_where_it_stands(one, new_numbers(8), "float32")
    ((keys,), _), _ = one.layers
    before, expected = keys.data_ptr(), [part[[0, 1, 4, 5, 6, 7]] for part in where_it_stands(one)]
    one.select(torch.tensor([0, 1, 4, 5, 6, 7]))
    one.join(other)
    ((keys,), _), _ = one.layers
    assert keys.data_ptr() == before
    assert one.places_N.tolist() == [0, 0, 2, 2, 3, 3, 1, 1]
    found = where_it_stands(one)
    assert all_equal([part[:6] for part in found], expected)
    assert all(bool(part[6:].eq(0).all()) for part in found)


def test_who_is_behind_has_nothing_at_times_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is not cleared by itself, and what attention multiplies with zero must be a number."""
    monkeypatch.setattr(
        "nmt.engines.cache.empty", lambda *given: tuple(part.fill_(torch.nan) for part in empty(*given))
    )
    for n_sentences in (2, 3):  # who joins has no place yet, or one
        one, other = Cache(n_sentences, 1, HEADS, "float32"), Cache(1, 1, HEADS, "float32")
        one.select(torch.tensor([0, 1]))
        for _ in range(9):
            other.grow()
            write_where_it_stands(other, new_numbers(1), "float32")
        one.join(other)
        assert len(where_it_stands(one)[0]) == 3
        assert all(bool(part[:2].eq(0).all()) for part in where_it_stands(one))


def test_room_for_a_long_sentence_is_given_up_when_it_has_left() -> None:
    cache = Cache(1, 1, HEADS, "float32")
    for _ in range(10 * ROOM):
        cache.grow()
        write_where_it_stands(cache, new_numbers(1), "float32")
    cache.join(Cache(4, 1, HEADS, "float32"))
    cache.select(torch.tensor([1, 2, 3, 4]))
    assert cache.n_tokens == 0
    assert cache.readers_NC.size(1) > 10 * ROOM, "there is a place for who joins"
    cache.join(Cache(1, 1, HEADS, "float32"))
    ((keys,), _), _ = cache.layers
    assert keys.size(2) == cache.readers_NC.size(1) == ROOM


def test_who_joins_has_room_for_what_is_expected_as_long_as_that_is_there() -> None:
    """And nobody moves for it who has just been given room."""
    cache = Cache(1, 1, HEADS, "float32", expected=5 * ROOM)
    cache.grow()
    cache.join(Cache(2, 1, HEADS, "float32"))
    assert cache.readers_NC.size(1) == 5 * ROOM
    cache.select(torch.tensor([1, 2]))
    cache.join(Cache(1, 1, HEADS, "float32"))
    assert cache.readers_NC.size(1) == ROOM, "the long one has left"
    cache.join(Cache(1, 1, HEADS, "float32", expected=3 * ROOM + 1))
    ((keys,), _), _ = cache.layers
    assert keys.size(2) == cache.readers_NC.size(1) == 4 * ROOM
    cache.select(torch.tensor([0, 1, 3]))
    before = keys.data_ptr()
    cache.join(Cache(1, 1, HEADS, "float32", expected=2 * ROOM))
    ((keys,), _), _ = cache.layers
    assert keys.data_ptr() == before


def test_where_a_row_is_behind_no_other_step_reads_or_writes() -> None:
    one, other = Cache(1, 1, HEADS, "float32"), Cache(1, 1, HEADS, "float32")
    one.grow()
    write_where_it_stands(one, new_numbers(1), "float32")
    one.join(other)
    one.grow()
    with pytest.raises(AssertionError):
        one.in_order(0)
    with pytest.raises(AssertionError):
        one.write(0, *new_numbers(2)[:2])


def test_nothing_moves_until_half_of_many_have_left() -> None:
    n_sentences = FEW + 2
    cache = Cache(n_sentences, 2, HEADS, "float32")
    for _ in range(4):
        cache.grow()
        new = new_numbers(2 * n_sentences)
        for layer in range(len(HEADS)):
            cache.write(layer, *new[2 * layer : 2 * layer + 2])
    ((keys,), _), _ = cache.layers
    before = keys.data_ptr()
    last = 2 * n_sentences - 1
    cache.select(torch.tensor([1, 1, *range(4, last - 1), last, last - 1]))  # the second sentence leaves
    cache.grow()
    ((keys,), _), _ = cache.layers
    assert keys.shape == (n_sentences, 2, ROOM, 2, 8)
    assert keys.data_ptr() == before
    assert cache.places_N.tolist() == [place for place in range(n_sentences) for _ in "ab" if place != 1]
    own = [1, 1, *[0, 1] * (n_sentences - 3), 1, 0]
    assert cache.readers_NC[:, :5].tolist() == [[read] * 4 + [row % 2] for row, read in enumerate(own)]
    cache.select(torch.arange(2 * (n_sentences // 2)))
    ((keys,), _), _ = cache.layers
    assert keys.shape == (n_sentences // 2, 2, ROOM, 2, 8)
    assert cache.places_N.tolist() == [place for place in range(n_sentences // 2) for _ in "ab"]


def test_few_stay_where_they_are_until_one_is_left_alone() -> None:
    """Whose step knows of one place."""
    cache = Cache(FEW, 1, HEADS, "float32")
    cache.grow()
    for layer in range(len(HEADS)):
        cache.write(layer, *new_numbers(FEW)[2 * layer : 2 * layer + 2])
    before = [part.data_ptr() for layer in cache.layers for (part,) in layer]
    cache.select(torch.tensor([3, FEW - 1]))
    assert [part.data_ptr() for layer in cache.layers for (part,) in layer] == before
    assert cache.places_N.tolist() == [3, FEW - 1]
    read = [part[FEW - 1].clone() for layer in cache.layers for (part,) in layer]
    cache.select(torch.tensor([1]))
    assert cache.places_N.tolist() == [0]
    for (own,), right in zip((part for layer in cache.layers for (part,) in layer), read, strict=True):
        assert torch.equal(own, right)


def test_there_is_room_for_what_is_expected() -> None:
    cache = Cache(1, 1, HEADS, "float32", expected=ROOM + 1)
    for n_tokens in range(1, 2 * ROOM + 2):
        cache.grow()
        room = 2 * ROOM if n_tokens <= 2 * ROOM else 3 * ROOM
        assert {part.size(2) for layer in cache.layers for (part,) in layer} == {room}
        assert cache.readers_NC.size(1) == room


def test_room_is_made_for_a_few_tokens_and_then_for_a_part_of_them() -> None:
    """What is read together stands close together, and little is copied."""
    cache, capacities = Cache(1, 1, HEADS, "float32"), [ROOM]
    for _ in range(12 * ROOM):
        cache.grow()
        ((keys,), _), _ = cache.layers
        if keys.size(2) != capacities[-1]:
            capacities.append(keys.size(2))
        assert cache.readers_NC.size(1) == keys.size(2)
    for before, after in pairwise(capacities):
        assert after % ROOM == 0
        assert ROOM <= after - before <= max(ROOM, before // LARGER_BY)
    assert capacities[-1] - capacities[-2] > ROOM


def test_sentences_may_leave_before_anything_is_read() -> None:
    for may_stay in (True, False):
        cache = Cache(8, 1, HEADS, "float32", may_stay=may_stay)
        cache.select(torch.tensor([2, 3, 4, 5, 6]))
        cache.grow()
        for layer, heads in enumerate(HEADS):
            cache.write(layer, torch.ones(5, *heads), torch.ones(5, *heads))
        assert all(bool(part.eq(1.0).all()) for part in in_order(cache))
        assert [len(part) for part in in_order(cache)] == [5] * 4
