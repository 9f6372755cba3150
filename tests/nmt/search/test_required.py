"""Pieces that must be written exactly once, on decoders that would rather not."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
import torch

from nmt.config import GenerationConfig, SamplingConfig
from nmt.search import Prefixes, Required, search
from nmt.search.constraints import Constraints
from nmt.search.required import deadline
from tests.doubles import SPECIAL, Ids, ScriptedDecoder, hash_decoder, table_decoder
from tests.nmt.search.oracle import SOURCES, all_finished, assert_same, batch_of, log_prob_of

WAYS: list[dict[str, Any]] = [
    {"beam_size": 1},
    {"beam_size": 4, "n_best": 4},
    {"beam_size": 4, "n_best": 3, "sampling": SamplingConfig(temperature=1.5, seed=3)},
]
WAY_NAMES = ["greedy", "beam", "sampling"]
PLACEHOLDERS = (9, 10, 11)
NEEDED: tuple[Ids, ...] = ((9,), (), (11, 9, 10), (10,), (9, 11))
LIMITS = GenerationConfig(max_length_ratio=1.5, max_length_offset=8)


def reluctant(unwanted: Ids, loss: float = 30.0) -> ScriptedDecoder:
    """A hash decoder whose ``unwanted`` tokens are all but impossible."""
    base = hash_decoder(12, sharpness=1.0)

    def next_log_probs(source: Ids, history: Ids) -> torch.Tensor:
        logits_V = base.next_log_probs(source, history).clone()
        logits_V[list(unwanted)] -= loss
        return logits_V.log_softmax(dim=0)

    return ScriptedDecoder(next_log_probs)


@pytest.mark.parametrize("unwanted", [(), PLACEHOLDERS, (SPECIAL.eos,)], ids=["fair", "placeholders", "eos"])
@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_each_sentence_holds_its_own_placeholders_once_and_no_others(
    way: dict[str, Any], unwanted: Ids
) -> None:
    decoder = reluctant(unwanted)
    options = LIMITS.model_copy(update=way)
    found = search(decoder, batch_of(*SOURCES), options, SPECIAL, required=Required(PLACEHOLDERS, NEEDED))
    for source, needed, hypotheses in zip(SOURCES, NEEDED, found, strict=True):
        assert hypotheses
        for entry in hypotheses:
            written = Counter(token for token in entry.tokens if token in PLACEHOLDERS)
            assert written == Counter(needed)
            log_prob = log_prob_of(decoder, source, entry.tokens, finished=entry.finished)
            assert entry.log_prob == pytest.approx(log_prob, abs=1e-3)
    if way == WAYS[1] and SPECIAL.eos not in unwanted:
        assert all(hypotheses[0].finished for hypotheses in found)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_what_others_require_changes_nothing(way: dict[str, Any]) -> None:
    options = LIMITS.model_copy(update=way)
    together = search(
        hash_decoder(12), batch_of(*SOURCES), options, SPECIAL, required=Required(PLACEHOLDERS, NEEDED)
    )
    for source, needed, hypotheses in zip(SOURCES, NEEDED, together, strict=True):
        required = Required(PLACEHOLDERS, (needed,))
        (alone,) = search(hash_decoder(12), batch_of(source), options, SPECIAL, required=required)
        assert_same(hypotheses, alone)


def test_without_placeholders_in_the_vocabulary_nothing_changes() -> None:
    options = GenerationConfig(beam_size=4, n_best=4)
    free = search(hash_decoder(12), batch_of(*SOURCES), options, SPECIAL)
    none = Required((), ((),) * len(SOURCES))
    for found, expected in zip(
        search(hash_decoder(12), batch_of(*SOURCES), options, SPECIAL, required=none), free, strict=True
    ):
        assert_same(found, expected)
    assert Constraints.for_batch(batch_of(*SOURCES), options, SPECIAL, required=none).required is None


def test_where_the_limit_alone_presses_a_wide_beam_finds_the_best_of_all_that_hold_the_pieces() -> None:
    def next_log_probs(source: Ids, history: Ids) -> torch.Tensor:
        logits_V = base.next_log_probs(source, history).clone()
        logits_V[SPECIAL.eos] = -9.0  # never the most probable: the search is pressed only at the limit
        return logits_V.log_softmax(dim=0)

    base = hash_decoder(7, sharpness=1.0)
    decoder = ScriptedDecoder(next_log_probs)
    options = GenerationConfig(beam_size=64, n_best=20, max_length_ratio=1e-9, max_length_offset=2)
    required = Required((5, 6), ((5,),))
    (found,) = search(decoder, batch_of((4,)), options, SPECIAL, required=required)
    expected = all_finished(decoder, (4,), [1, 4, 5], 3, options, allowed=lambda tokens: tokens.count(5) == 1)
    assert len(expected) == 1 + 4 + 12
    assert_same(found, expected)


def test_a_hypothesis_that_wants_to_end_writes_the_missing_piece_that_is_most_probable() -> None:
    table: dict[Ids, dict[int, float]] = {
        (): {4: 0.9, 5: 0.1},
        (4,): {SPECIAL.eos: 0.6, 4: 0.3, 6: 0.06, 5: 0.04},
        (4, 6): {SPECIAL.eos: 0.5, 4: 0.4, 5: 0.1},
        (4, 6, 5): {SPECIAL.eos: 0.5, 4: 0.4, 5: 0.1},
    }
    for needed, tokens in (((5, 6), (4, 6, 5)), ((6,), (4, 6)), ((), (4,))):
        required = Required((5, 6), (needed,))
        (found,) = search(
            table_decoder(7, table),
            batch_of((4,)),
            GenerationConfig(beam_size=1),
            SPECIAL,
            required=required,
        )
        assert (found[0].tokens, found[0].finished) == (tokens, True)


@pytest.mark.parametrize("beam_size", [1, 5])
def test_a_loop_ends_at_the_deadline(beam_size: int) -> None:
    def loop(source: Ids, history: Ids) -> torch.Tensor:
        logits_V = torch.full((12,), -20.0)
        if set(history).issuperset((9, 10)):
            logits_V[SPECIAL.eos] = 5.0
        else:
            logits_V[[4, 5]] = torch.tensor([5.0, 4.0])
        return logits_V.log_softmax(dim=0)

    options = GenerationConfig(beam_size=beam_size, max_length_ratio=10, max_length_offset=1000)
    required = Required(PLACEHOLDERS, ((9, 10),))
    (found,) = search(ScriptedDecoder(loop), batch_of((4, 4, 4)), options, SPECIAL, required=required)
    assert found[0].finished
    assert len(found[0].tokens) == deadline(3) + 2 == 12
    assert set(found[0].tokens[-2:]) == {9, 10}


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_pieces_fit_into_a_maximum_length_that_is_less_than_their_number(way: dict[str, Any]) -> None:
    options = GenerationConfig(max_length_ratio=1e-9, max_length_offset=1, **way)
    required = Required(PLACEHOLDERS, (PLACEHOLDERS,))
    (found,) = search(hash_decoder(12, eos_bias=-50), batch_of((4,)), options, SPECIAL, required=required)
    for entry in found:
        assert sorted(entry.tokens) == [9, 10, 11]


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_forced_prefix_counts_as_written(way: dict[str, Any]) -> None:
    options = LIMITS.model_copy(update=way)
    (found,) = search(
        hash_decoder(12),
        batch_of((4, 5)),
        options,
        SPECIAL,
        Prefixes([(4, 9)]),
        Required(PLACEHOLDERS, ((9, 10),)),
    )
    for entry in found:
        assert entry.tokens[:2] == (4, 9)
        assert Counter(token for token in entry.tokens if token in PLACEHOLDERS) == {9: 1, 10: 1}


def test_a_piece_that_the_model_cannot_write_leaves_the_hypothesis_unfinished() -> None:
    table: dict[Ids, dict[int, float]] = {(): {4: 0.9, 5: 0.1}, (4,): {SPECIAL.eos: 1.0}}
    for beam_size in (1, 4):
        (found,) = search(
            table_decoder(7, table),
            batch_of((4,)),
            GenerationConfig(beam_size=beam_size),
            SPECIAL,
            required=Required((6,), ((6,),)),
        )
        assert found
        assert not any(entry.finished for entry in found)
        assert all(math.isfinite(entry.log_prob) for entry in found)


def test_requirements_that_cannot_be_meant_are_refused() -> None:
    for sentences, message in ((((9,),), "1 sets"), (((9, 9), ()), "not all different")):
        with pytest.raises(ValueError, match=message):
            search(
                hash_decoder(),
                batch_of((4,), (5,)),
                GenerationConfig(),
                SPECIAL,
                required=Required(PLACEHOLDERS, sentences),
            )


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_an_ordinary_token_that_one_sentence_requires_stays_free_for_the_others(way: dict[str, Any]) -> None:
    options = LIMITS.model_copy(update=way)
    needed: tuple[Ids, ...] = ((4,), (), (5, 9), (), (9,))
    together = search(
        hash_decoder(12), batch_of(*SOURCES), options, SPECIAL, required=Required((9, 10), needed)
    )
    for source, ids, hypotheses in zip(SOURCES, needed, together, strict=True):
        for entry in hypotheses:
            assert Counter(token for token in entry.tokens if token in (9, 10, *ids)) == Counter(ids)
        (alone,) = search(
            hash_decoder(12), batch_of(source), options, SPECIAL, required=Required((9, 10), (ids,))
        )
        assert_same(hypotheses, alone)
    others = {token for place in (1, 3) for entry in together[place] for token in entry.tokens}
    assert others & {4, 5}
