"""Beam search against enumeration, against itself in other company, and on models that misbehave."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nmt.config import GenerationConfig
from nmt.errors import ConfigError
from nmt.search import beam_search, greedy_search, search
from tests.doubles import SPECIAL, ForgetfulDecoder, hash_decoder, hash_log_probs, table_decoder
from tests.nmt.search.oracle import (
    SOURCES,
    all_finished,
    assert_same,
    batch_of,
    coverage,
    log_prob_of,
    normalised,
)

NORMALISATIONS = [
    {"length_normalization": "none"},
    {"length_normalization": "mean"},
    {"length_normalization": "gnmt", "length_penalty": 0.0},
    {"length_normalization": "gnmt", "length_penalty": 0.6},
    {"length_normalization": "gnmt", "length_penalty": 1.7},
]


def options_for(**values: Any) -> GenerationConfig:
    """Short limits: at most 8 tokens plus half the source's."""
    return GenerationConfig(**{"max_length_ratio": 0.5, "max_length_offset": 8, **values})


@pytest.mark.parametrize("normalisation", NORMALISATIONS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_as_wide_as_the_space_finds_the_true_optimum(normalisation: dict[str, Any], seed: int) -> None:
    # Three tokens beside PAD, BOS and EOS, at most 3 of them: 40 hypotheses, and the beam holds 64.
    decoder = hash_decoder(6, seed=seed, sharpness=1.0)
    options = GenerationConfig(
        beam_size=64, n_best=5, max_length_ratio=1e-9, max_length_offset=2, **normalisation
    )
    found = beam_search(decoder, batch_of((5, 5), (4,)), options, SPECIAL)
    for source, hypotheses in zip(((5, 5), (4,)), found, strict=True):
        assert_same(hypotheses, all_finished(decoder, source, [1, 4, 5], 3, options)[:5])


@pytest.mark.parametrize("beta", [0.2, 1.5])
def test_a_beam_as_wide_as_the_space_finds_the_optimum_with_coverage_penalty(beta: float) -> None:
    decoder = hash_decoder(6, sharpness=1.0, attention=True)
    options = GenerationConfig(
        beam_size=64, n_best=5, coverage_penalty=beta, max_length_ratio=1e-9, max_length_offset=2
    )
    sources = ((5, 5), (4,), (4, 5, 4, 5))
    found = beam_search(decoder, batch_of(*sources), options, SPECIAL)
    plain = beam_search(
        decoder, batch_of(*sources), options.model_copy(update={"coverage_penalty": 0.0}), SPECIAL
    )
    assert [entry[0].tokens for entry in found] != [entry[0].tokens for entry in plain]
    for source, hypotheses in zip(sources, found, strict=True):
        assert_same(hypotheses, all_finished(decoder, source, [1, 4, 5], 3, options)[:5])


def test_beam_of_one_is_greedy_search() -> None:
    for seed in range(20):
        decoder = hash_decoder(12, seed=seed, eos_bias=1.0, attention=True)
        options = options_for(beam_size=1, coverage_penalty=0.3 * (seed % 2))
        beam = beam_search(decoder, batch_of(*SOURCES), options, SPECIAL)
        greedy = greedy_search(decoder, batch_of(*SOURCES), options, SPECIAL)
        for found, expected in zip(beam, greedy, strict=True):
            assert_same(found, expected)


def test_a_wider_beam_finds_what_greedy_search_misses() -> None:
    decoder = table_decoder(
        8, {(): {4: 0.6, 5: 0.4}, (4,): {6: 0.5, 7: 0.5}, (5,): {3: 1.0}, (4, 6): {3: 0.9, 4: 0.1}}
    )
    options = GenerationConfig(beam_size=2, length_normalization="none")
    (beam,) = beam_search(decoder, batch_of((4,)), options, SPECIAL)
    (greedy,) = greedy_search(decoder, batch_of((4,)), options, SPECIAL)
    assert beam[0].tokens == (5,)
    assert greedy[0].tokens[0] == 4


@pytest.mark.parametrize("beta", [0.0, 0.4])
def test_a_sentence_is_translated_alone_as_in_a_batch(beta: float) -> None:
    for seed in range(5):
        decoder = hash_decoder(20, seed=seed, eos_bias=2.0, attention=True)
        options = options_for(beam_size=4, n_best=4, coverage_penalty=beta, no_repeat_ngram_size=2)
        together = beam_search(decoder, batch_of(*SOURCES), options, SPECIAL)
        for source, found in zip(SOURCES, together, strict=True):
            assert_same(found, beam_search(decoder, batch_of(source), options, SPECIAL)[0])


def test_results_come_in_input_order_whatever_that_is() -> None:
    decoder = hash_decoder(20, eos_bias=1.5)
    options = options_for(beam_size=3, n_best=2)
    by_source = dict(zip(SOURCES, beam_search(decoder, batch_of(*SOURCES), options, SPECIAL), strict=True))
    shuffled = list(SOURCES)
    random.Random(3).shuffle(shuffled)
    assert shuffled != list(SOURCES)
    found = beam_search(decoder, batch_of(*shuffled), options, SPECIAL)
    assert found == [by_source[source] for source in shuffled]


def test_the_log_probability_reported_is_that_of_the_tokens_reported() -> None:
    for seed in range(5):
        decoder = hash_decoder(15, seed=seed, eos_bias=1.0)
        options = options_for(beam_size=5, n_best=5)
        for source, found in zip(
            SOURCES, beam_search(decoder, batch_of(*SOURCES), options, SPECIAL), strict=True
        ):
            for entry in found:
                log_prob = log_prob_of(decoder, source, entry.tokens, finished=entry.finished)
                length = len(entry.tokens) + entry.finished
                assert entry.log_prob == pytest.approx(log_prob, abs=1e-4)
                assert entry.score == pytest.approx(normalised(log_prob, length, options), abs=1e-4)


def test_a_reorder_that_moves_nothing_is_noticed() -> None:
    log_probs = hash_log_probs(12, eos_bias=1.0)
    options = options_for(beam_size=4)
    found = beam_search(ForgetfulDecoder(log_probs), batch_of(*SOURCES), options, SPECIAL)
    disagreeing = [
        source
        for source, (best, *_) in zip(SOURCES, found, strict=True)
        if best.log_prob
        != pytest.approx(log_prob_of(ForgetfulDecoder(log_probs), source, best.tokens), abs=1e-4)
    ]
    assert disagreeing


@pytest.mark.parametrize("normalisation", NORMALISATIONS, ids=str)
@pytest.mark.parametrize("n_best", [1, 3])
def test_early_stop_changes_nothing_but_the_work(normalisation: dict[str, Any], n_best: int) -> None:
    steps = {True: 0, False: 0}
    for seed in range(8):
        results = {}
        for early_stop in (True, False):
            decoder = hash_decoder(10, seed=seed, sharpness=1 + seed % 4, eos_bias=seed % 3, attention=True)
            options = options_for(
                beam_size=4, n_best=n_best, coverage_penalty=0.2 * (seed % 2), **normalisation
            )
            results[early_stop] = beam_search(
                decoder, batch_of(*SOURCES), options, SPECIAL, early_stop=early_stop
            )
            steps[early_stop] += sum(decoder.rows_in_steps)
        assert results[True] == results[False]
    if n_best == 1:  # with more, K hypotheses have often finished before the bound has proven anything
        assert steps[True] < steps[False]


def test_the_bound_looks_as_far_as_the_maximum_length() -> None:
    # "4 EOS" scores log(.7)/2 = -.178 by the mean, "5 6 6 6 6 6 EOS" log(.3)/7 = -.172; but one token after 5
    # the latter still stands at log(.3)/3 = -.401.
    table = {(): {4: 0.7, 5: 0.3}, (5,): {6: 1.0}, (5, 6, 6, 6, 6, 6): {3: 1.0}}
    table |= {(5, *[6] * n): {6: 1.0} for n in range(1, 5)}
    options = GenerationConfig(
        beam_size=3, length_normalization="mean", max_length_ratio=1, max_length_offset=5
    )
    ((best,),) = beam_search(table_decoder(7, table), batch_of((4,)), options, SPECIAL)
    assert best.tokens == (5, 6, 6, 6, 6, 6)


def test_n_best_is_distinct_and_sorted_with_finished_hypotheses_first() -> None:
    both_kinds = False
    for seed in range(10):
        decoder = hash_decoder(8, seed=seed, eos_bias=-1.0)
        found = beam_search(decoder, batch_of(*SOURCES), options_for(beam_size=6, n_best=6), SPECIAL)
        for hypotheses in found:
            assert len({entry.tokens for entry in hypotheses}) == len(hypotheses) == 6
            keys = [(entry.finished, entry.score) for entry in hypotheses]
            assert keys == sorted(keys, reverse=True)
            both_kinds |= {True, False} == {entry.finished for entry in hypotheses}
    assert both_kinds


def test_fewer_hypotheses_than_asked_for_when_no_more_are_possible() -> None:
    decoder = table_decoder(6, {(): {4: 0.7, 5: 0.3}})
    (found,) = beam_search(decoder, batch_of((4,)), GenerationConfig(beam_size=5, n_best=5), SPECIAL)
    assert [entry.tokens for entry in found] == [(4,), (5,)]


@pytest.mark.parametrize("beam_size", [1, 4])
def test_with_eos_held_down_every_hypothesis_has_its_own_maximum_length(beam_size: int) -> None:
    decoder = hash_decoder(12, eos_bias=float("-inf"))
    options = options_for(beam_size=beam_size, n_best=beam_size, max_length_ratio=1.5, max_length_offset=3)
    found = search(decoder, batch_of(*SOURCES), options, SPECIAL)
    for length, hypotheses in zip([8, 5, 11, 6, 9], found, strict=True):
        assert [len(entry.tokens) for entry in hypotheses] == [length] * beam_size
        assert not any(entry.finished for entry in hypotheses)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_hypothesis_of_the_maximum_length_may_still_end(beam_size: int) -> None:
    decoder = table_decoder(6, {(): {4: 1.0}, (4,): {5: 1.0}, (4, 5): {3: 1.0}})
    options = GenerationConfig(beam_size=beam_size, max_length_ratio=1, max_length_offset=1)
    ((best,),) = search(decoder, batch_of((4,)), options, SPECIAL)
    assert (best.tokens, best.finished) == ((4, 5), True)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_sentence_without_any_possible_next_token_is_returned_unfinished(beam_size: int) -> None:
    decoder = table_decoder(6, {(): {4: 1.0}, (4,): {SPECIAL.pad: 1.0}})
    options = GenerationConfig(beam_size=beam_size, n_best=beam_size)
    (found,) = search(decoder, batch_of((4,)), options, SPECIAL)
    assert [(entry.tokens, entry.log_prob, entry.finished) for entry in found] == [((4,), 0.0, False)]


def test_hypotheses_that_end_leave_the_beam_as_wide_as_it_was() -> None:
    # Ending is the most probable everywhere; only a beam of 2 that stays 2 wide finds the ends after 4 and 5.
    table = {(): {3: 0.4, 4: 0.31, 5: 0.29}, (4,): {3: 0.9, 4: 0.1}, (5,): {3: 0.9, 4: 0.1}}
    options = GenerationConfig(beam_size=3, n_best=3, length_normalization="none")
    (found,) = beam_search(table_decoder(6, table), batch_of((4,)), options, SPECIAL)
    assert [entry.tokens for entry in found] == [(), (4,), (5,)]


def test_sentences_that_are_done_leave_the_decoder() -> None:
    decoder = hash_decoder(10, eos_bias=1.0)
    beam_search(decoder, batch_of(*SOURCES), options_for(beam_size=3), SPECIAL)
    assert decoder.rows_in_steps[0] == 15
    assert decoder.rows_in_steps[-1] < 15
    assert decoder.rows_in_steps == sorted(decoder.rows_in_steps, reverse=True)


def test_a_coverage_penalty_without_attention_is_refused() -> None:
    options = GenerationConfig(beam_size=2, coverage_penalty=0.2)
    for beam_size in (1, 2):
        with pytest.raises(ConfigError, match=r"coverage_penalty 0\.2 needs .* set coverage_penalty to 0"):
            search(
                hash_decoder(), batch_of((4,)), options.model_copy(update={"beam_size": beam_size}), SPECIAL
            )


def test_an_empty_batch_and_an_empty_source_are_no_special_cases() -> None:
    for options in (GenerationConfig(beam_size=1), GenerationConfig(beam_size=3)):
        assert search(hash_decoder(), batch_of(), options, SPECIAL) == []
        (alone,) = search(hash_decoder(), batch_of(()), options, SPECIAL)
        assert_same(search(hash_decoder(), batch_of((4, 5), ()), options, SPECIAL)[1], alone)


def test_coverage_is_that_of_the_row_a_hypothesis_came_from() -> None:
    decoder = hash_decoder(12, attention=True)
    options = options_for(beam_size=4, n_best=4, coverage_penalty=0.7, max_length_offset=4)
    found = beam_search(decoder, batch_of(*SOURCES), options, SPECIAL)
    assert {entry.finished for hypotheses in found for entry in hypotheses} == {True, False}
    for source, hypotheses in zip(SOURCES, found, strict=True):
        for entry in hypotheses:
            length = len(entry.tokens) + entry.finished
            expected = normalised(entry.log_prob, length, options) + coverage(
                decoder, source, entry.tokens, 0.7, finished=entry.finished
            )
            assert entry.score == pytest.approx(expected, abs=1e-4)
