"""Hypotheses that go round in circles end early; those that repeat what their source repeats do not."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmt.config import GenerationConfig, SamplingConfig
from nmt.search import Prefixes, search
from nmt.search.loops import LONGEST_PERIOD, LoopRule, least_run, longest_runs, looping_rows
from tests.doubles import SPECIAL, ScriptedDecoder, hash_decoder
from tests.nmt.search.oracle import batch_of

WAYS: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 4},
    {"beam_size": 2, "n_best": 2, "sampling": SamplingConfig(seed=3)},
]
LONG = {"max_length_ratio": 1.0, "max_length_offset": 200}


def run_by_hand(tokens: list[int], period: int) -> int:
    run = 0
    while run + period < len(tokens) and tokens[-1 - run] == tokens[-1 - run - period]:
        run += 1
    return run


@given(st.lists(st.integers(4, 6), max_size=8), st.lists(st.integers(4, 6), min_size=1, max_size=60))
def test_a_row_loops_when_its_end_repeats_long_enough(start: list[int], cycle: list[int]) -> None:
    tokens = (start + cycle * 40)[:70]
    expected = any(run_by_hand(tokens, p) >= least_run(p) for p in range(1, LONGEST_PERIOD + 1))
    assert bool(looping_rows(torch.tensor([tokens]), torch.tensor([0]))) == expected


@pytest.mark.parametrize("period", [1, 2, 5, LONGEST_PERIOD])
def test_a_loop_needs_its_full_run_and_what_its_source_repeats(period: int) -> None:
    cycle = list(range(10, 10 + period))
    tokens = (cycle * 30)[: least_run(period) + period]
    assert looping_rows(torch.tensor([tokens]), torch.tensor([0])).tolist() == [True]
    assert looping_rows(torch.tensor([tokens[1:]]), torch.tensor([0])).tolist() == [False]
    assert looping_rows(torch.tensor([tokens]), torch.tensor([1])).tolist() == [False]
    assert looping_rows(torch.tensor([[*tokens, 99]]), torch.tensor([0])).tolist() == [False]


def test_source_runs_count_repeats_but_neither_padding_nor_chance() -> None:
    batch = batch_of((4, 5, 6, 7, 8, 9, 10, 11, 12, 13), (7, 7, 7, 7), (4, 5, 4, 5, 4, 9, 9), (8,))
    assert longest_runs(batch.source_BS, batch.source_mask_BS).tolist() == [0, 3, 3, 0]


@pytest.mark.parametrize("way", WAYS, ids=["greedy", "beam", "sampling"])
def test_a_looping_hypothesis_ends_unfinished_long_before_the_limit(way: dict[str, Any]) -> None:
    def cycle(_source: tuple[int, ...], history: tuple[int, ...]) -> torch.Tensor:
        log_probs_V = torch.full((12,), -40.0)
        log_probs_V[4 + len(history) % 3] = 0.0
        return log_probs_V

    (found,) = search(ScriptedDecoder(cycle), batch_of((5, 6)), GenerationConfig(**way, **LONG), SPECIAL)
    assert found
    assert all(not entry.finished and 14 <= len(entry.tokens) <= 24 for entry in found)


@pytest.mark.parametrize("way", WAYS, ids=["greedy", "beam", "sampling"])
def test_what_the_source_repeats_may_be_repeated(way: dict[str, Any]) -> None:
    source = (5,) * 60

    def copy(source: tuple[int, ...], history: tuple[int, ...]) -> torch.Tensor:
        log_probs_V = torch.full((12,), -40.0)
        log_probs_V[source[len(history)] if len(history) < len(source) else SPECIAL.eos] = 0.0
        return log_probs_V

    (found,) = search(ScriptedDecoder(copy), batch_of(source), GenerationConfig(**way, **LONG), SPECIAL)
    assert (found[0].tokens, found[0].finished) == (source, True)


def test_what_had_finished_before_the_loop_comes_first() -> None:
    """The loop is by far more probable at each step; the other way ends after five tokens."""

    def either(_source: tuple[int, ...], history: tuple[int, ...]) -> torch.Tensor:
        log_probs_V = torch.full((12,), -40.0)
        if not history:
            log_probs_V[4], log_probs_V[5] = -0.1, -2.4
        elif history[0] == 4:
            log_probs_V[4] = -1e-3
        else:
            log_probs_V[5 + len(history) if len(history) < 5 else SPECIAL.eos] = -1e-3
        return log_probs_V

    options = GenerationConfig(beam_size=2, n_best=2, **LONG)
    (found,) = search(ScriptedDecoder(either), batch_of((7, 8, 9)), options, SPECIAL)
    assert (found[0].tokens, found[0].finished) == ((5, 6, 7, 8, 9), True)
    assert not found[1].finished
    assert len(found[1].tokens) <= 16


def test_a_forced_prefix_may_loop() -> None:
    decoder = hash_decoder(12, eos_bias=1.0)
    options = GenerationConfig(beam_size=1, **LONG)
    (found,) = search(decoder, batch_of((5, 6)), options, SPECIAL, Prefixes([(4,) * 16]))
    assert found[0].tokens[:16] == (4,) * 16
    (found,) = search(decoder, batch_of((5, 6)), options, SPECIAL, Prefixes([(4,) * 20]))
    assert found[0].tokens[:20] == (4,) * 20


def test_only_looping_rows_lose_their_next_tokens() -> None:
    rule = LoopRule.for_batch(batch_of((4, 5), (6,) * 30), ranked=False)
    history = torch.tensor([[7] * 16, [4, 5, 6, 7, 8] * 3 + [9], [7] * 16, [7] * 16])
    scores = torch.zeros(4, 10)
    rule.apply(scores, history, (0, 1), (16, 16))
    assert scores.isinf().all(dim=1).tolist() == [True, False, False, False]
    assert not scores[1:].isinf().any()
    scores = torch.zeros(1, 10)
    rule.apply(scores, history[:1, :15], (0,), (15,))
    assert not scores.isinf().any(), "rows are looked at every fourth token"


def test_a_sentence_ends_when_the_best_row_of_its_beam_loops_not_for_another_row() -> None:
    rule = LoopRule.for_batch(batch_of((4, 5), (4, 5)), ranked=True)
    other = [4, 5, 6, 7, 8] * 3 + [9]
    scores = torch.zeros(4, 10)
    rule.apply(scores, torch.tensor([[7] * 16, other, other, [7] * 16]), (0, 1), (16, 16))
    assert scores.isinf().all(dim=1).tolist() == [True, True, False, True]


def test_without_repair_a_loop_runs_to_the_limit() -> None:
    def repeat(_source: tuple[int, ...], _history: tuple[int, ...]) -> torch.Tensor:
        return torch.tensor([-40.0] * 4 + [0.0] + [-40.0] * 7)

    options = GenerationConfig(beam_size=1, repair_loops=False, **LONG)
    (found,) = search(ScriptedDecoder(repeat), batch_of((5, 6)), options, SPECIAL)
    assert len(found[0].tokens) == 202
