"""What hypotheses may hold: limits, forced prefixes, n-grams, markers."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from nmt.config import GenerationConfig, SamplingConfig
from nmt.search import Prefixes, search
from nmt.search.constraints import Constraints, max_length, repeating_tokens
from tests.doubles import SPECIAL, ScriptedDecoder, hash_decoder, table_decoder
from tests.nmt.search.oracle import SOURCES, all_finished, assert_same, batch_of, log_prob_of

WAYS: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 4, "n_best": 4},
    {"beam_size": 4, "n_best": 3, "sampling": SamplingConfig(temperature=1.5, seed=3)},
]
WAY_NAMES = ["greedy", "beam", "sampling"]


def test_maximum_length_is_the_source_times_ratio_rounded_up_plus_offset() -> None:
    assert max_length(3, 1.5, 2) == 7
    assert max_length(4, 1.5, 2) == 8
    assert max_length(0, 2.0, 5) == 5
    assert max_length(50, 1.1, 1) == 56  # 1.1 * 50 is 55.00000000000001 in floating point


def test_maximum_length_counts_neither_padding_nor_eos() -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=1)
    assert Constraints.for_batch(batch_of((5, 6, 7), (8,)), options, SPECIAL).max_lengths == (4, 2)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_pad_and_bos_are_never_generated(way: dict[str, Any]) -> None:
    table = {
        (): {SPECIAL.pad: 0.5, SPECIAL.bos: 0.4, 4: 0.1},
        (4,): {SPECIAL.pad: 0.5, SPECIAL.bos: 0.4, 5: 0.1},
    }
    (found,) = search(table_decoder(6, table), batch_of((4,)), GenerationConfig(**way), SPECIAL)
    assert {entry.tokens for entry in found} == {(4, 5)}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_translations_begin_with_their_own_forced_prefix(way: dict[str, Any]) -> None:
    decoder = hash_decoder(12, eos_bias=1.0)
    prefixes = [(4, 5, 6, 7), (), (9,), (8, 8, 8), (10, 1)]
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=6, no_repeat_ngram_size=1, **way)
    options = options.model_copy(update={"no_repeat_ngram_size": 0})
    found = search(decoder, batch_of(*SOURCES), options, SPECIAL, Prefixes(prefixes))
    for source, prefix, hypotheses in zip(SOURCES, prefixes, found, strict=True):
        for entry in hypotheses:
            assert entry.tokens[: len(prefix)] == prefix
            log_prob = log_prob_of(decoder, source, entry.tokens, finished=entry.finished)
            assert entry.log_prob == pytest.approx(log_prob, abs=1e-4)
    free = search(decoder, batch_of(*SOURCES), options, SPECIAL)
    assert_same(found[1], free[1])
    assert any(found[place] != free[place] for place in (0, 2, 3, 4))


def test_after_a_forced_prefix_a_wide_beam_finds_the_best_continuation() -> None:
    decoder = hash_decoder(6, sharpness=1.0)
    options = GenerationConfig(beam_size=64, n_best=4, max_length_ratio=1e-9, max_length_offset=2)
    prefixes: list[tuple[int, ...]] = [(5,), (4, 1)]
    found = search(decoder, batch_of((5, 5), (4,)), options, SPECIAL, Prefixes(prefixes))
    for source, prefix, hypotheses in zip(((5, 5), (4,)), prefixes, found, strict=True):
        expected = all_finished(
            decoder,
            source,
            [1, 4, 5],
            3,
            options,
            allowed=lambda tokens, prefix=prefix: tokens[: len(prefix)] == prefix,  # type: ignore[misc]
        )
        assert_same(hypotheses, expected[:4])


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_prefix_longer_than_the_maximum_length_is_kept_whole(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=1, **way)
    decoder = hash_decoder(12, eos_bias=-50.0)
    found = search(decoder, batch_of((4,), (5,)), options, SPECIAL, Prefixes([(4, 5, 6, 7), ()]))
    assert {(entry.tokens, entry.finished) for entry in found[0]} == {((4, 5, 6, 7), False)}
    assert {len(entry.tokens) for entry in found[1]} == {2}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_prefix_stays_with_its_sentence_when_others_leave(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=1, **way)
    prefixes = [(), (4, 5, 6, 7, 8, 9), (), (9, 8, 7, 6, 5, 4)]
    found = search(hash_decoder(12), batch_of((4,), (5,), (6,), (7,)), options, SPECIAL, Prefixes(prefixes))
    for prefix, hypotheses in zip(prefixes, found, strict=True):
        assert {entry.tokens[: len(prefix)] for entry in hypotheses} == {prefix}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_forced_prefix_may_repeat_what_a_translation_may_not(way: dict[str, Any]) -> None:
    options = GenerationConfig(no_repeat_ngram_size=1, max_length_ratio=1.0, max_length_offset=4, **way)
    (found,) = search(hash_decoder(12), batch_of((4,)), options, SPECIAL, Prefixes([(8, 8, 8)]))
    for entry in found:
        assert entry.tokens[:3] == (8, 8, 8)
        rest = entry.tokens[3:]
        assert 8 not in rest
        assert len(set(rest)) == len(rest)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_what_may_not_follow_a_prefix_does_not_and_may_come_later(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=9, **way)
    decoder = hash_decoder(12, eos_bias=-50.0)
    prefixes = [(4, 5), (), (6,), (7,), (8,)]
    free = search(decoder, batch_of(*SOURCES), options, SPECIAL, Prefixes(prefixes))
    never = [tuple(range(4, 11)), (), (9,), (), tuple(range(5, 12))]
    found = search(decoder, batch_of(*SOURCES), options, SPECIAL, Prefixes(prefixes, never))
    following = [
        {entry.tokens[len(prefix)] for entry in hypotheses if len(entry.tokens) > len(prefix)}
        for prefix, hypotheses in zip(prefixes, found, strict=True)
    ]
    assert following[0] <= {1, 11}
    assert 9 not in following[2]
    assert following[4] <= {1, 4}
    assert_same(found[1], free[1])
    assert_same(found[3], free[3])
    later = {token for entry in found[0] for token in entry.tokens[3:]}
    assert not later.isdisjoint(range(4, 11)), "it is of one place alone"


def test_prefixes_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ValueError, match="1 prefixes for 2 sentences"):
        search(hash_decoder(), batch_of((4,), (5,)), GenerationConfig(), SPECIAL, Prefixes([(4,)]))
    for marker in (SPECIAL.pad, SPECIAL.bos, SPECIAL.eos):
        with pytest.raises(ValueError, match="neither PAD nor BOS nor EOS"):
            search(
                hash_decoder(), batch_of((4,), (5,)), GenerationConfig(), SPECIAL, Prefixes([(4, marker), ()])
            )


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_no_n_gram_repeats(size: int, way: dict[str, Any]) -> None:
    # Few tokens and no end: without the rule every translation repeats itself.
    options = GenerationConfig(max_length_ratio=1.0, max_length_offset=14, **way)
    repeated = 0
    for no_repeat in (0, size):
        decoder = hash_decoder(8, eos_bias=-9.0)
        rules = options.model_copy(update={"no_repeat_ngram_size": no_repeat})
        for hypotheses in search(decoder, batch_of(*SOURCES), rules, SPECIAL):
            for entry in hypotheses:
                ngrams = [entry.tokens[at : at + size] for at in range(len(entry.tokens) - size + 1)]
                repeated += len(ngrams) - len(set(ngrams)) if no_repeat == 0 else 0
                assert no_repeat == 0 or len(ngrams) == len(set(ngrams))
    assert repeated > 0


def test_the_n_gram_rule_forbids_nothing_else() -> None:
    def has_no_repeated_bigram(tokens: tuple[int, ...]) -> bool:
        bigrams = list(itertools.pairwise(tokens))
        return len(bigrams) == len(set(bigrams))

    # Two tokens, at most 4 of them: few enough for the beam, enough for a repeated bigram.
    decoder = ScriptedDecoder(hash_decoder(5, sharpness=0.5).next_log_probs)
    options = GenerationConfig(
        beam_size=64, n_best=31, no_repeat_ngram_size=2, max_length_ratio=1e-9, max_length_offset=3
    )
    (found,) = search(decoder, batch_of((4,)), options, SPECIAL)
    expected = all_finished(decoder, (4,), [1, 4], 4, options, allowed=has_no_repeated_bigram)
    assert len(expected) < 31
    assert_same([entry for entry in found if entry.finished], expected)


def test_repeating_tokens_worked_by_hand() -> None:
    history_NT = torch.tensor([[5, 6, 7, 5, 6], [5, 5, 5, 5, 5], [4, 5, 6, 7, 8]])
    assert repeating_tokens(history_NT, 3, none=0).tolist() == [[7, 0, 0], [5, 5, 5], [0, 0, 0]]
    assert repeating_tokens(history_NT, 1, none=0).tolist() == history_NT.tolist()
