"""Greedy search against a plain loop, and what it asks of its decoder."""

from __future__ import annotations

import pytest

from nmt.config import GenerationConfig
from nmt.search import greedy_search
from tests.doubles import SPECIAL, hash_decoder, table_decoder
from tests.nmt.search.oracle import SOURCES, batch_of, greedy_by_hand

OPTIONS = GenerationConfig(beam_size=1, max_length_ratio=1.0, max_length_offset=9)


def test_greedy_search_is_arg_max_in_a_loop() -> None:
    kinds = set()
    for seed in range(20):
        decoder = hash_decoder(12, seed=seed, eos_bias=1.0)
        found = greedy_search(decoder, batch_of(*SOURCES), OPTIONS, SPECIAL)
        for source, (best,) in zip(SOURCES, found, strict=True):
            expected = greedy_by_hand(decoder, source, len(source) + 9)
            assert (best.tokens, best.finished) == (expected.tokens, expected.finished)
            assert best.log_prob == pytest.approx(expected.log_prob, abs=1e-5)
            kinds.add(best.finished)
    assert kinds == {True, False}


def test_greedy_search_moves_rows_only_to_let_sentences_leave() -> None:
    decoder = hash_decoder(12, eos_bias=float("-inf"))
    sources = [(5,) * length for length in (1, 4, 4, 2, 7)]
    options = GenerationConfig(beam_size=1, max_length_ratio=1.0, max_length_offset=1)
    found = greedy_search(decoder, batch_of(*sources), options, SPECIAL)
    assert [len(best.tokens) for (best,) in found] == [2, 5, 5, 3, 8]
    assert decoder.reorders == [[1, 2, 3, 4], [0, 1, 3], [2]]
    assert decoder.rows_in_steps == [5, 5, 5, 4, 3, 3, 1, 1, 1]


def test_a_batch_that_ends_together_is_never_moved() -> None:
    decoder = table_decoder(6, {(): {4: 1.0}, (4,): {5: 1.0}})
    greedy_search(decoder, batch_of((4,), (5, 5), (4, 5, 4)), OPTIONS, SPECIAL)
    assert decoder.reorders == []
    assert decoder.rows_in_steps == [3, 3, 3]
