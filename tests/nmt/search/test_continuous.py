"""Sentences that join and leave a running batch get what they would get alone: doubles and real models."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from nmt.batch import Batch
from nmt.config import (
    DecoderOnlyConfig,
    GenerationConfig,
    ModelConfig,
    RnnConfig,
    SamplingConfig,
    TransformerConfig,
)
from nmt.errors import ConfigError, NumericalError
from nmt.models.build import build_model
from nmt.models.interface import Step
from nmt.search import Required, beam, search
from nmt.search.continuous import ContinuousSearch, Outcome, Sentence, length_class
from nmt.search.hypothesis import Hypothesis
from tests.doubles import SPECIAL, Ids, ScriptedDecoder, ScriptedState, hash_attention, hash_log_probs
from tests.nmt.search.oracle import batch_of

VOCAB = 24
PLACEHOLDERS = (20, 21)
BEAM = GenerationConfig(beam_size=4, n_best=3, max_length_ratio=1.5, max_length_offset=6)
GREEDY = GenerationConfig(beam_size=1, max_length_ratio=1.5, max_length_offset=6)
WAYS = [
    BEAM,
    GREEDY,
    BEAM.model_copy(update={"n_best": 1, "length_penalty": 1.0}),
    BEAM.model_copy(update={"coverage_penalty": 0.4, "no_repeat_ngram_size": 2}),
    BEAM.model_copy(update={"no_repeat_ngram_size": 3, "beam_size": 3}),
    GenerationConfig(beam_size=2, n_best=2, sampling=SamplingConfig(seed=3)),
]
MODELS: dict[str, ModelConfig] = {
    "transformer": TransformerConfig(
        vocab_size=VOCAB, d_model=16, d_ff=32, n_heads=2, n_encoder_layers=1, n_decoder_layers=2
    ),
    "transformer_learned": TransformerConfig(
        vocab_size=VOCAB,
        d_model=16,
        d_ff=32,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=1,
        positions="learned",
        norm="post",
        max_positions=128,
    ),
    "transformer_rotary": TransformerConfig(
        vocab_size=VOCAB,
        d_model=16,
        d_ff=32,
        n_heads=2,
        n_encoder_layers=1,
        n_decoder_layers=1,
        positions="rotary",
    ),
    "rnn_attention": RnnConfig(vocab_size=VOCAB, d_embedding=16, d_hidden=16),
    "rnn_copying": RnnConfig(vocab_size=VOCAB, d_embedding=16, d_hidden=16, pointer="source"),
    "rnn_pointing": RnnConfig(vocab_size=VOCAB, d_embedding=16, d_hidden=16, pointer="written"),
    "rnn_monotonic": RnnConfig(vocab_size=VOCAB, d_embedding=16, d_hidden=16, attention="monotonic"),
    "decoder_only": DecoderOnlyConfig(vocab_size=VOCAB, d_model=16, d_ff=32, n_heads=2, n_layers=2),
    "rnn_plain": RnnConfig(vocab_size=VOCAB, d_embedding=16, d_hidden=16, attention="none"),
}


class JoinableDecoder(ScriptedDecoder):
    """The double with rows that may have read differently much: -1 tokens means not even BOS."""

    def start(self, source: Batch, beam_size: int) -> ScriptedState:
        self.starts = getattr(self, "starts", 0) + 1
        return replace(super().start(source, beam_size), n_read=0)

    def step(self, state: ScriptedState, tokens_N: Tensor) -> tuple[Step, ScriptedState]:
        fresh = [token == SPECIAL.bos for token in tokens_N.tolist()]
        histories = tuple(
            () if new else (*history, token)
            for new, history, token in zip(fresh, state.histories, tokens_N.tolist(), strict=True)
        )
        self.rows_in_steps.append(len(histories))
        rows = list(zip(state.sources, histories, strict=True))
        attention_NS = None
        if self.attention is not None:
            attention_NS = torch.zeros(len(rows), state.source_width)
            for row, (source, history) in enumerate(rows):
                attention_NS[row, : len(source) + 1] = self.attention(source, history)
        log_probs_NV = torch.stack([self.next_log_probs(*row) for row in rows])
        return Step(log_probs_NV, attention_NS), replace(state, histories=histories)

    def merge(self, first: ScriptedState, second: ScriptedState) -> ScriptedState:
        places = tuple(place + 1 + max(first.places) for place in second.places)
        return replace(
            first,
            sources=first.sources + second.sources,
            places=first.places + places,
            histories=first.histories + second.histories,
            source_width=max(first.source_width, second.source_width),
        )


def joinable(**options: Any) -> JoinableDecoder:
    return JoinableDecoder(hash_log_probs(VOCAB, **options), hash_attention())


def real_model(name: str) -> Any:
    torch.manual_seed(1)
    model = build_model(MODELS[name]).eval().requires_grad_(False).double()
    for parameter in model.parameters():
        parameter.mul_(3)  # so that the history matters
    return model


def sentences(n: int, ways: list[GenerationConfig], *, longest: int = 40, seed: int = 0) -> list[Sentence]:
    chance = random.Random(seed)
    return [
        Sentence(
            key,
            tuple(chance.randrange(4, 20) for _ in range(chance.randrange(1, longest))),
            chance.choice(ways),
            tuple(chance.sample(PLACEHOLDERS, chance.choice([0, 0, 1, 2]))),
        )
        for key in range(n)
    ]


def alone(decoder: Any, sentence: Sentence) -> list[Hypothesis]:
    required = Required(PLACEHOLDERS, (sentence.required,))
    (found,) = search(decoder, batch_of(sentence.source_ids), sentence.options, SPECIAL, required=required)
    return found


def run(
    decoder: Any,
    waiting: list[Sentence],
    *,
    seed: int = 0,
    cancel: Callable[[int], list[int]] = lambda step: [],
    failures: list[Exception] | None = None,
) -> dict[Any, Outcome]:
    """Let a few join at random moments until all have ended."""
    chance = random.Random(seed)
    running = ContinuousSearch(
        decoder,
        SPECIAL,
        placeholders=PLACEHOLDERS,
        on_failure=(failures if failures is not None else []).append,
    )
    waiting = list(waiting)
    ended: dict[Any, Outcome] = {}
    for step in range(10_000):
        if not waiting and not running.running:
            return ended
        if chance.random() < 0.4 or not running.running:
            n = chance.randrange(1, 4)
            running.add(waiting[:n])
            del waiting[:n]
        running.cancel(cancel(step))
        for outcome in running.step():
            assert outcome.key not in ended, "each ends once"
            ended[outcome.key] = outcome
    raise AssertionError("the batch never emptied")


def assert_same(outcome: Outcome, expected: list[Hypothesis]) -> None:
    assert outcome.error is None
    assert [entry.tokens for entry in outcome.hypotheses] == [entry.tokens for entry in expected]
    assert [entry.finished for entry in outcome.hypotheses] == [entry.finished for entry in expected]
    for entry, other in zip(outcome.hypotheses, expected, strict=True):
        assert entry.score == pytest.approx(other.score, abs=1e-4)
        assert entry.log_prob == pytest.approx(other.log_prob, abs=1e-4)
        assert entry.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_sentence_that_joins_a_running_batch_gets_what_it_gets_alone(seed: int) -> None:
    decoder = JoinableDecoder(hash_log_probs(VOCAB, seed=seed), hash_attention())
    given = sentences(20, WAYS, seed=seed)
    ended = run(decoder, given, seed=seed)
    assert set(ended) == set(range(20))
    for sentence in given:
        assert_same(
            ended[sentence.key], alone(ScriptedDecoder(decoder.next_log_probs, decoder.attention), sentence)
        )


@pytest.mark.parametrize("name", MODELS)
def test_real_models_translate_in_a_running_batch_as_alone(name: str) -> None:
    model = real_model(name)
    ways = [way for way in WAYS if not way.coverage_penalty or name != "rnn_plain"]
    given = sentences(14, ways, seed=5, longest=24)
    ended = run(model, given, seed=5)
    for sentence in given:
        assert_same(ended[sentence.key], alone(model, sentence))


def test_sentences_of_one_beam_size_share_each_step_of_the_decoder() -> None:
    decoder = joinable(eos_bias=-torch.inf)
    running = ContinuousSearch(decoder, SPECIAL)
    running.add([Sentence("a", (5, 6), GREEDY)])
    running.step()
    running.add([Sentence("b", (7,), GREEDY), Sentence("c", (9,) * 12, GREEDY)])
    decoder.rows_in_steps.clear()
    running.step()
    assert decoder.rows_in_steps == [3]
    running.add([Sentence("long", (9,) * 40, GREEDY), Sentence("wide", (5,), BEAM)])
    decoder.rows_in_steps.clear()
    running.step()
    assert sorted(decoder.rows_in_steps) == [4, 4]
    assert {sentence.key for sentence in running.running} == {"a", "b", "c", "long", "wide"}


def test_equal_options_are_ranked_in_one_pass_however_much_each_has_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranked: list[tuple[int, ...]] = []
    rank = beam.rank_candidates

    def counted(beams: beam.Beams, *others: Any) -> beam.Candidates:
        ranked.append(beams.lengths)
        return rank(beams, *others)

    monkeypatch.setattr(beam, "rank_candidates", counted)
    running = ContinuousSearch(joinable(eos_bias=-torch.inf), SPECIAL)
    for key, way in enumerate([BEAM, BEAM, BEAM, WAYS[2], BEAM]):
        running.add([Sentence(key, (5, 6, 7), way)])
        running.step()
    assert ranked[-3:] == [(4, 3, 2), (1,), (0,)], "rows of one ranking lie side by side"


@pytest.mark.parametrize("ngram", [0, 1, 2, 4])
def test_pieces_that_some_require_stay_theirs_whoever_joins(ngram: int) -> None:
    decoder = joinable(seed=6, eos_bias=0.5)
    way = BEAM.model_copy(update={"no_repeat_ngram_size": ngram, "max_length_offset": 12})
    chance = random.Random(6)
    given = [
        replace(sentence, required=chance.choice([(), (), (6,), (20, 7), (21, 20), (9, 6)]))
        for sentence in sentences(16, [way], seed=6, longest=12)
    ]
    ended = run(decoder, given, seed=6)
    for sentence in given:
        outcome = ended[sentence.key]
        assert_same(outcome, alone(ScriptedDecoder(decoder.next_log_probs, decoder.attention), sentence))
        for hypothesis in outcome.hypotheses:
            assert not hypothesis.finished or set(sentence.required) <= set(hypothesis.tokens)


def test_a_loop_ends_when_it_would_alone_whatever_others_have_read() -> None:
    steady = hash_log_probs(VOCAB, seed=7, eos_bias=-3.0)

    def next_log_probs(source: Ids, history: Ids) -> Tensor:
        log_probs_V = steady(source, history).clone()
        if source[0] >= 12:
            log_probs_V[4 + len(history) % (source[0] - 10)] = 9.0
        return log_probs_V

    decoder = JoinableDecoder(next_log_probs, None)
    way = GenerationConfig(beam_size=3, max_length_ratio=1.0, max_length_offset=70)
    given = [Sentence(key, (8 + key % 8, 5, *(6,) * (key % 4)), way) for key in range(16)]
    ended = run(decoder, given, seed=8)
    for sentence in given:
        found = ended[sentence.key].hypotheses
        assert_same(ended[sentence.key], alone(ScriptedDecoder(next_log_probs, None), sentence))
        if sentence.source_ids[0] >= 12:
            assert not found[0].finished
            assert len(found[0].tokens) < 40


def test_a_cancelled_sentence_leaves_the_batch_with_the_next_step_and_has_no_outcome() -> None:
    decoder = joinable(seed=1)
    given = sentences(12, [BEAM, GREEDY], seed=1)
    asked: list[int] = []

    def cancel(step: int) -> list[int]:
        asked.extend([1, 2, 7] if step == 9 else [])
        return [1, 2, 7] if step == 9 else []

    reference = run(decoder, given, seed=1)
    ended = run(decoder, given, seed=1, cancel=cancel)
    assert asked
    assert set(range(12)).difference(ended) <= {1, 2, 7}
    for key, outcome in ended.items():
        assert_same(outcome, reference[key].hypotheses)

    running = ContinuousSearch(joinable(eos_bias=-torch.inf), SPECIAL)
    running.add([Sentence("a", (5, 6), BEAM), Sentence("b", (5, 7), BEAM)])
    running.step()
    running.cancel(["a"])
    assert [sentence.key for sentence in running.running] == ["b"]
    running.step()
    running.cancel(["b"])
    assert running.running == []
    assert running.step() == []


@pytest.mark.parametrize("gone", ["a", "b", "c"])
def test_who_leaves_does_not_shift_those_it_joined_with(gone: str) -> None:
    decoder = joinable(seed=4, eos_bias=-3.0)
    given = [Sentence(key, (5, 6, 7, place), BEAM) for place, key in enumerate("abc", start=8)]
    running = ContinuousSearch(decoder, SPECIAL)
    running.add(given)
    outcomes = running.step() + running.step()
    assert not outcomes
    running.cancel([gone])
    while running.running:
        outcomes += running.step()
    assert {outcome.key for outcome in outcomes} == set("abc") - {gone}
    for outcome in outcomes:
        (sentence,) = (entry for entry in given if entry.key == outcome.key)
        assert_same(outcome, search(decoder, batch_of(sentence.source_ids), BEAM, SPECIAL)[0])


def test_who_was_cancelled_leaves_though_others_join_before_the_next_step() -> None:
    decoder = joinable(seed=4, eos_bias=-3.0)
    given = [Sentence(key, (5, 6, 7, place), BEAM) for place, key in enumerate("abcd", start=8)]
    running = ContinuousSearch(decoder, SPECIAL)
    running.add(given[:3])
    outcomes = running.step()
    running.cancel(["b"])
    running.add(given[3:])
    assert [sentence.key for sentence in running.running] == ["a", "c", "d"]
    while running.running:
        outcomes += running.step()
    assert {outcome.key for outcome in outcomes} == {"a", "c", "d"}
    for outcome in outcomes:
        (sentence,) = (entry for entry in given if entry.key == outcome.key)
        assert_same(outcome, search(decoder, batch_of(sentence.source_ids), BEAM, SPECIAL)[0])


class Sick(JoinableDecoder):
    """Goes wrong over sources that begin with 13, at their third step."""

    error: Exception | None = None

    def step(self, state: ScriptedState, tokens_N: Tensor) -> tuple[Step, ScriptedState]:
        step, state = super().step(state, tokens_N)
        for row, (source, history) in enumerate(zip(state.sources, state.histories, strict=True)):
            if source[0] == 13 and len(history) == 2:
                if self.error is not None:
                    raise self.error
                step.log_probs_NV[row, 5] = torch.nan
        return step, state


@pytest.mark.parametrize("error", [None, RuntimeError("out of memory"), MemoryError()])
def test_a_fault_over_one_sentence_leaves_the_others_unchanged(error: Exception | None) -> None:
    healthy = joinable(seed=2)
    sick = Sick(healthy.next_log_probs, healthy.attention)
    sick.error = error
    given = [
        replace(sentence, source_ids=((13 if sentence.key in (3, 4) else 5), *sentence.source_ids))
        for sentence in sentences(8, [BEAM, GREEDY], seed=2, longest=12)
    ]
    failures: list[Exception] = []
    ended = run(sick, given, seed=2, failures=failures)
    assert set(ended) == set(range(8))
    for sentence in given:
        outcome = ended[sentence.key]
        if sentence.key in (3, 4):
            assert outcome.hypotheses == []
            assert isinstance(outcome.error, NumericalError if error is None else type(error))
        else:
            assert_same(outcome, alone(healthy, sentence))
    assert bool(failures) == (error is not None)


def test_what_cannot_be_asked_of_a_model_is_an_error_of_the_sentence_that_asks() -> None:
    decoder = JoinableDecoder(hash_log_probs(VOCAB))
    given = [Sentence("plain", (5, 6), BEAM), Sentence("covered", (5, 7), WAYS[3])]
    ended = run(decoder, given)
    assert isinstance(ended["covered"].error, ConfigError)
    assert_same(ended["plain"], alone(decoder, given[0]))


def test_length_classes_double() -> None:
    assert [length_class(n) for n in (1, 16, 63, 64, 128, 255)] == [64, 64, 64, 128, 256, 256]
