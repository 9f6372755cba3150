"""Greedy search against a plain loop, and what it asks of its decoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.config import GenerationConfig, SamplingConfig
from nmt.errors import NumericalError
from nmt.models.interface import Chosen, Step
from nmt.search import Required, greedy_search, search
from tests.doubles import (
    SPECIAL,
    ScriptedDecoder,
    hash_attention,
    hash_decoder,
    hash_log_probs,
    table_decoder,
)
from tests.nmt.search.oracle import SOURCES, assert_same, batch_of, greedy_by_hand

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


class Choosing:
    """A decoder that chooses by itself, except at ``unwilling`` steps; ``asked``: which steps were such."""

    def __init__(self, decoder: ScriptedDecoder, unwilling: Sequence[int] = ()) -> None:
        self._decoder, self._unwilling = decoder, unwilling
        self.start, self.reorder = decoder.start, decoder.reorder
        self.asked: list[bool] = []

    def step(self, state: Any, tokens_N: Tensor) -> tuple[Step, Any]:
        self.asked.append(False)
        return self._decoder.step(state, tokens_N)

    def greedy_step(
        self, state: Any, tokens_N: Tensor, forbidden: tuple[int, ...]
    ) -> tuple[Chosen, Any] | None:
        if len(self.asked) in self._unwilling:
            return None
        self.asked.append(True)
        step, state = self._decoder.step(state, tokens_N)
        largest_N = step.logits_NV.amax(dim=1)
        # scores that are no log-probabilities, as engines give them
        totals_N = torch.where(largest_N < math.inf, torch.arange(len(largest_N)) + 0.5, largest_N)
        step.logits_NV[:, list(forbidden)] = -torch.inf
        logits_N, tokens_N = step.logits_NV.max(dim=1)
        return Chosen(tokens_N, logits_N + totals_N, totals_N), state


FREE = [True] * 15
RULES: dict[str, tuple[dict[str, Any], dict[str, Any], list[bool]]] = {
    "none": ({}, {}, FREE),
    "a prefix": ({}, {"prefixes": [(), (4, 5), (), (), (6,)]}, [False] * 2 + FREE[2:]),
    "n-grams": ({"no_repeat_ngram_size": 3}, {}, [True] * 3 + [False] * 12),
    "loops": (
        {"repair_loops": True},
        {},
        [number < 12 or number % 4 > 0 for number in range(15)],
    ),
    "placeholders of all": ({}, {"required": Required((9, 10), ((9,),) * 5)}, [False] * 15),
    "placeholders of none": ({}, {"required": Required((9, 10), ((),) * 5)}, FREE),
    "coverage": ({"coverage_penalty": 0.2}, {}, [False] * 15),
}
"""Options, arguments of search, and at which steps the decoder may choose."""


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_decoder_chooses_where_no_rule_has_a_say(
    rule: tuple[dict[str, Any], dict[str, Any], list[bool]],
) -> None:
    changes, arguments, asked = rule
    options = OPTIONS.model_copy(update={"repair_loops": False, **changes})
    for seed in range(5):
        decoder = hash_decoder(12, seed=seed, eos_bias=-1.0, attention=hash_attention())
        choosing = Choosing(decoder)
        found = greedy_search(choosing, batch_of(*SOURCES), options, SPECIAL, **arguments)
        expected = greedy_search(decoder, batch_of(*SOURCES), options, SPECIAL, **arguments)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(ours, theirs)
        assert choosing.asked == asked[: len(choosing.asked)]
        assert len(choosing.asked) > 8


def test_a_decoder_chooses_once_those_whom_a_rule_binds_have_left() -> None:
    choosing = Choosing(hash_decoder(12, eos_bias=-10.0))
    required = Required((9, 10), ((), (9,), (), (), ()))  # the second source is the shortest
    options = OPTIONS.model_copy(update={"repair_loops": False})
    greedy_search(choosing, batch_of(*SOURCES), options, SPECIAL, required=required)
    assert sorted(choosing.asked) == choosing.asked
    assert set(choosing.asked) == {False, True}


def test_a_decoder_may_leave_a_step_to_search() -> None:
    decoder = hash_decoder(12, eos_bias=-1.0)
    choosing = Choosing(decoder, unwilling=[1, 4])
    found = greedy_search(choosing, batch_of(*SOURCES), OPTIONS, SPECIAL)
    for ours, theirs in zip(found, greedy_search(decoder, batch_of(*SOURCES), OPTIONS, SPECIAL), strict=True):
        assert_same(ours, theirs)
    assert choosing.asked[:6] == [True, False, True, True, False, True]


def test_only_greedy_search_lets_a_decoder_choose() -> None:
    for way in ({"beam_size": 2}, {"beam_size": 1, "sampling": SamplingConfig(seed=3)}):
        choosing = Choosing(hash_decoder(12))
        search(choosing, batch_of(*SOURCES), OPTIONS.model_copy(update=way), SPECIAL)
        assert not any(choosing.asked)


@pytest.mark.parametrize("bad_value", [math.nan, math.inf])
def test_what_is_no_number_stops_a_search_by_choice_too(bad_value: float) -> None:
    decoder = ScriptedDecoder(
        hash_log_probs(12, eos_bias=-20.0), bad_value=bad_value, bad_step=3, bad_sentence=2
    )
    with pytest.raises(NumericalError, match=r"at step 3 for sentence\(s\) 2 of the batch"):
        greedy_search(Choosing(decoder), batch_of(*SOURCES), OPTIONS, SPECIAL)
