"""A decoder that yields NaN or +infinity stops the search, and the message says where."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nmt.config import GenerationConfig, SamplingConfig
from nmt.errors import NumericalError
from nmt.search import search
from nmt.search.prefixes import Prefixes
from tests.doubles import SPECIAL, ScriptedDecoder, hash_attention, hash_log_probs
from tests.nmt.search.oracle import SOURCES, batch_of

WAYS: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 3},
    {"beam_size": 2, "n_best": 2, "sampling": SamplingConfig()},
]


@pytest.mark.parametrize("way", WAYS, ids=["greedy", "beam", "sampling"])
@pytest.mark.parametrize("bad_value", [math.nan, math.inf])
@pytest.mark.parametrize("bad_step", [0, 3])
def test_nan_and_plus_infinity_name_step_and_sentence(
    way: dict[str, Any], bad_value: float, bad_step: int
) -> None:
    decoder = ScriptedDecoder(
        hash_log_probs(12, eos_bias=-20.0), bad_value=bad_value, bad_step=bad_step, bad_sentence=3
    )
    with pytest.raises(NumericalError, match=rf"at step {bad_step} for sentence\(s\) 3 of the batch"):
        search(decoder, batch_of(*SOURCES), GenerationConfig(**way), SPECIAL)


@pytest.mark.parametrize("way", WAYS, ids=["greedy", "beam", "sampling"])
def test_minus_infinity_is_an_honest_probability(way: dict[str, Any]) -> None:
    decoder = ScriptedDecoder(hash_log_probs(12), bad_value=-math.inf, bad_step=0)
    for hypotheses in search(decoder, batch_of(*SOURCES), GenerationConfig(**way), SPECIAL):
        assert all(math.isfinite(entry.log_prob) for entry in hypotheses)


@pytest.mark.parametrize("way", WAYS, ids=["greedy", "beam", "sampling"])
def test_nan_among_the_forbidden_tokens_counts_too(way: dict[str, Any]) -> None:
    decoder = ScriptedDecoder(hash_log_probs(12), bad_step=0)
    with pytest.raises(NumericalError, match="at step 0"):
        search(decoder, batch_of((4,)), GenerationConfig(**way), SPECIAL, Prefixes([(5, 6)]))


def test_sentences_are_named_by_their_place_in_the_batch_given_even_after_others_left() -> None:
    # Sentence 1 has the shortest limit and is gone by step 9; the fault is in sentence 2.
    decoder = ScriptedDecoder(hash_log_probs(12, eos_bias=-50.0), bad_step=9, bad_sentence=2)
    decoder_places = {"max_length_ratio": 2.0, "max_length_offset": 2}
    for beam_size in (1, 3):
        with pytest.raises(NumericalError, match=r"sentence\(s\) 2 of"):
            search(
                decoder, batch_of(*SOURCES), GenerationConfig(beam_size=beam_size, **decoder_places), SPECIAL
            )


def test_nan_in_attention_counts_when_coverage_is_asked_for() -> None:
    attention = hash_attention()
    decoder = ScriptedDecoder(
        hash_log_probs(12, eos_bias=-9.0),
        lambda source, history: attention(source, history) * (math.nan if len(history) == 2 else 1.0),
    )
    for beam_size in (1, 2):
        options = GenerationConfig(beam_size=beam_size, coverage_penalty=0.1)
        with pytest.raises(NumericalError, match="at step 2"):
            search(decoder, batch_of((4,)), options, SPECIAL)
        without = options.model_copy(update={"coverage_penalty": 0.0})
        assert search(decoder, batch_of((4,)), without, SPECIAL)


def test_a_row_that_has_ended_raises_no_alarm() -> None:
    # A sample that has ended stays in the decoder as long as another of its sentence lives; what the decoder
    # yields for it does not matter any more.
    plain = hash_log_probs(8)

    def next_log_probs(source: tuple[int, ...], history: tuple[int, ...]) -> Any:
        return plain(source, history) * (math.nan if SPECIAL.eos in history else 1.0)

    options = GenerationConfig(beam_size=6, n_best=6, sampling=SamplingConfig())
    found = search(ScriptedDecoder(next_log_probs), batch_of((4,), (5, 5)), options, SPECIAL)
    assert found == search(ScriptedDecoder(plain), batch_of((4,), (5, 5)), options, SPECIAL)
    assert len({len(entry.tokens) for entry in found[0]}) > 1
