"""A decoder that leaves out tokens itself is asked to where no rule forbids more, and changes no search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.config import GenerationConfig, SamplingConfig
from nmt.errors import NumericalError
from nmt.extensions import block_maxima
from nmt.models.interface import Best, Living, Step
from nmt.search import Required, search
from tests.doubles import SPECIAL, ScriptedDecoder, hash_decoder, hash_log_probs
from tests.nmt.search.oracle import SOURCES, assert_same, batch_of

OPTIONS = GenerationConfig(max_length_ratio=1.0, max_length_offset=9, repair_loops=False)
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"beam_size": 1},
    "beam": {"beam_size": 3, "n_best": 2},
    "sampling": {"beam_size": 1, "n_best": 2, "sampling": SamplingConfig(seed=3)},
}
in_each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


class Forbidding:
    """A decoder that does, except at ``unwilling`` steps; ``asked``: which steps were such."""

    def __init__(self, decoder: ScriptedDecoder, unwilling: Sequence[int] = ()) -> None:
        self._decoder, self._unwilling = decoder, unwilling
        self.start, self.reorder = decoder.start, decoder.reorder
        self.asked: list[bool] = []

    def step(self, state: Any, tokens_N: Tensor) -> tuple[Step, Any]:
        self.asked.append(False)
        step, state = self._decoder.step(state, tokens_N)
        return step._replace(best=Best(*step.logits_NV.max(dim=1))), state

    def step_without(
        self, state: Any, tokens_N: Tensor, forbidden: tuple[int, ...], living: Living | None = None
    ) -> tuple[Step, Any] | None:
        if len(self.asked) in self._unwilling:
            return None
        self.asked.append(True)
        step, state = self._decoder.step(state, tokens_N)
        return leaving_out(step, forbidden), state


def leaving_out(step: Step, forbidden: tuple[int, ...]) -> Step:
    """That of a decoder that does, with scores that are no log-probabilities, as engines give them."""
    largest_N = step.logits_NV.amax(dim=1)
    totals_N = torch.where(largest_N < math.inf, torch.arange(len(largest_N)) + 0.5, largest_N)
    logits_NV = step.logits_NV + totals_N.nan_to_num(0.5, 0.5).unsqueeze(1)
    allowed_NV = logits_NV.clone()
    allowed_NV[:, list(forbidden)] = -torch.inf
    maxima_Nn = block_maxima(allowed_NV)
    best = Best(*allowed_NV.max(dim=1))
    forbidden_V = torch.zeros(logits_NV.size(1))
    forbidden_V[list(forbidden)] = -torch.inf
    return Step(logits_NV, step.attention_NS, totals_N, maxima_Nn, best, forbidden_V)


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
    "coverage": ({"coverage_penalty": 0.2}, {}, FREE),
}
"""Options, arguments of search, and at which steps nothing else is forbidden."""


@in_each_way
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_decoder_leaves_tokens_out_where_no_rule_forbids_more(
    rule: tuple[dict[str, Any], dict[str, Any], list[bool]], way: dict[str, Any]
) -> None:
    changes, arguments, asked = rule
    options = OPTIONS.model_copy(update={**changes, **way})
    for seed in range(5):
        decoder = hash_decoder(12, seed=seed, eos_bias=-3.0, attention=True)
        forbidding = Forbidding(decoder)
        found = search(forbidding, batch_of(*SOURCES), options, SPECIAL, **arguments)
        expected = search(decoder, batch_of(*SOURCES), options, SPECIAL, **arguments)
        for ours, theirs in zip(found, expected, strict=True):
            assert_same(ours, theirs)
        assert forbidding.asked == asked[: len(forbidding.asked)]
        assert len(forbidding.asked) > 8


@in_each_way
def test_it_does_once_those_whom_a_rule_binds_have_left(way: dict[str, Any]) -> None:
    forbidding = Forbidding(hash_decoder(12, eos_bias=-10.0))
    required = Required((9, 10), ((), (9,), (), (), ()))  # the second source is the shortest
    search(forbidding, batch_of(*SOURCES), OPTIONS.model_copy(update=way), SPECIAL, required=required)
    assert sorted(forbidding.asked) == forbidding.asked
    assert set(forbidding.asked) == {False, True}


@in_each_way
def test_it_may_leave_a_step_to_search(way: dict[str, Any]) -> None:
    decoder = hash_decoder(12, eos_bias=-3.0)
    forbidding, options = Forbidding(decoder, unwilling=[1, 4]), OPTIONS.model_copy(update=way)
    found = search(forbidding, batch_of(*SOURCES), options, SPECIAL)
    for ours, theirs in zip(found, search(decoder, batch_of(*SOURCES), options, SPECIAL), strict=True):
        assert_same(ours, theirs)
    assert forbidding.asked[:6] == [True, False, True, True, False, True]


@in_each_way
@pytest.mark.parametrize("bad_value", [math.nan, math.inf])
def test_what_is_no_number_stops_a_search_so_too(bad_value: float, way: dict[str, Any]) -> None:
    decoder = ScriptedDecoder(
        hash_log_probs(12, eos_bias=-20.0), bad_value=bad_value, bad_step=3, bad_sentence=2
    )
    with pytest.raises(NumericalError, match=r"at step 3 for sentence\(s\) 2 of the batch"):
        search(Forbidding(decoder), batch_of(*SOURCES), OPTIONS.model_copy(update=way), SPECIAL)
