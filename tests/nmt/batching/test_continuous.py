"""Requests that come and go: each gets what ``Translator.translate`` gives it, whoever else is there."""

from __future__ import annotations

import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nmt.batching.continuous import FILL_S, PLAN_S, SAVED_S, SMALL_CHARACTERS, ContinuousTranslator
from nmt.batching.events import Event, Failed, Finished, PartFinished, Tokenized
from nmt.batching.running_batch import ANSWER_EVERY, JOIN_EVERY, JOIN_SHARE
from nmt.config import GenerationConfig
from nmt.errors import InputError, UnsupportedLanguageError
from nmt.model_folder.checkpoint import LoadedModel
from nmt.options import TranslationOptions
from nmt.pipeline.requests import search_for
from nmt.translator import Translation, Translator
from tests.nmt.conftest import SENTENCES, tiny_config, tiny_model

SHORT = GenerationConfig(beam_size=3, max_length_ratio=0.5, max_length_offset=8)
GREEDY = GenerationConfig(beam_size=1, max_length_ratio=0.5, max_length_offset=8)
ENGLISH = SENTENCES[::2]


@pytest.fixture(scope="module")
def translator(tokenizer):
    """In double precision: large weights make float32 rounding visible in the scores."""
    config = tiny_config(tokenizer)
    model = tiny_model(config).double()
    return Translator(LoadedModel(config, model, tokenizer, SHORT, Path("x")))


def finish(continuous: ContinuousTranslator, most: int = 5000) -> list[Event]:
    events: list[Event] = []
    for _ in range(most):
        if not continuous.is_busy:
            return events
        events += continuous.step()
    raise AssertionError("it never ended")


def results(events: Sequence[Event]) -> dict[Any, list[Translation]]:
    return {event.request: event.translations for event in events if isinstance(event, Finished)}


def same(found: Sequence[Translation], expected: Sequence[Translation]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=1e-6)
        assert [(s.source, s.target) for s in one.sentences] == [
            (s.source, s.target) for s in other.sentences
        ]
        assert one.target_tokens == other.target_tokens
        assert [(link.source, link.target) for link in one.links or ()] == [
            (link.source, link.target) for link in other.links or ()
        ]
        assert [alternative.text for alternative in one.alternatives] == [
            alternative.text for alternative in other.alternatives
        ]
        assert (one.truncated, one.repaired, one.flags) == (other.truncated, other.repaired, other.flags)


def test_every_request_gets_what_translate_gives_it_whoever_comes_and_goes(translator):
    chance = random.Random(3)
    requests = {}
    for name in range(7):
        texts = [
            " ".join(chance.choices(ENGLISH, k=chance.choice([1, 1, 3, 5])))
            for _ in range(chance.choice([1, 1, 2]))
        ]
        options = TranslationOptions(
            alignment=chance.choice(["none", "links", "soft"]),
            generation=chance.choice([SHORT, GREEDY, SHORT.model_copy(update={"n_best": 2})]),
        )
        requests[name] = (texts, options)
    continuous = ContinuousTranslator(translator, max_batch_tokens=400)
    events: list[Event] = []
    for name, (texts, options) in requests.items():
        continuous.add(name, texts, options, party=name % 3)
        for _ in range(chance.randrange(4)):
            events += continuous.step()
    events += finish(continuous)

    found = results(events)
    assert set(found) == set(requests)
    for name, (texts, options) in requests.items():
        same(found[name], translator.translate(texts, options))
        planned = [
            event.n_tokens for event in events if isinstance(event, Tokenized) and event.request == name
        ]
        assert len(planned) == len(texts)
        sentences = sum(len(translation.sentences) for translation in found[name])
        assert sum(planned) == sum(translation.n_source_tokens for translation in found[name]) + sentences


def test_parts_come_in_order_and_are_together_the_whole(translator):
    text = f"  {ENGLISH[0]}\n\n{ENGLISH[1]} {ENGLISH[2]}  {ENGLISH[3]}\n"
    continuous = ContinuousTranslator(translator, max_batch_tokens=60)
    continuous.add("a", [text, ENGLISH[4]], TranslationOptions(alignment="links"), parts=True)
    events = finish(continuous)

    (whole,) = results(events).values()
    parts = [event for event in events if isinstance(event, PartFinished)]
    assert [(part.text, part.sentence) for part in parts] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
    assert [part.n_sentences for part in parts] == [4, 4, 4, 4, 1]
    assert isinstance(events[-1], Finished)
    assert events.index(parts[0]) < events.index(parts[3]) < len(events) - 1
    for part in parts[:4]:
        sentence = whole[0].sentences[part.sentence]
        assert part.source == sentence.source
        assert part.translation.text == whole[0].text[sentence.target.start : sentence.target.end]
        first = sentence.source_tokens.start
        assert [link.source + first for link in part.translation.links] == [
            link.source
            for link in whole[0].links
            if sentence.target_tokens.start <= link.target < sentence.target_tokens.end
        ]


def test_blank_texts_and_no_texts(translator):
    continuous = ContinuousTranslator(translator)
    continuous.add("blank", ["  \n ", ""], parts=True)
    assert [translation.text for translation in results(finish(continuous))["blank"]] == ["  \n ", ""]
    with pytest.raises(InputError, match="no text"):
        continuous.add("none", [])


def test_an_error_fails_its_own_request_and_says_which_text(translator):
    continuous = ContinuousTranslator(translator)
    continuous.add("good", [ENGLISH[0]])
    continuous.add("half", [ENGLISH[1], "\ud800"])
    continuous.add("german", [ENGLISH[0]], TranslationOptions(source="de"))
    events = finish(continuous)

    errors = {event.request: event.error for event in events if isinstance(event, Failed)}
    assert set(errors) == {"half", "german"}
    assert isinstance(errors["german"], UnsupportedLanguageError)
    assert isinstance(errors["half"], InputError)
    assert str(errors["half"]).startswith("text 2: ")
    same(results(events)["good"], translator.translate([ENGLISH[0]]))


def test_a_cancelled_request_leaves_at_once_and_the_others_stay_as_they_are(translator):
    continuous = ContinuousTranslator(translator, max_batch_tokens=200)
    long = " ".join(ENGLISH * 4)
    continuous.add("gone", [long], TranslationOptions(alignment="links"))
    continuous.add("kept", [" ".join(ENGLISH[:6])], TranslationOptions(alignment="links"))
    events = [event for _ in range(6) for event in continuous.step()]
    assert continuous.n_running > 0
    continuous.cancel(["gone", "never there"])
    n_left = continuous.n_running + continuous.n_waiting
    assert n_left <= 6
    events += finish(continuous)
    assert continuous.n_running == continuous.n_waiting == 0
    assert set(results(events)) == {"kept"}
    same(
        results(events)["kept"],
        translator.translate([" ".join(ENGLISH[:6])], TranslationOptions(alignment="links")),
    )


def test_a_small_request_is_not_held_up_by_large_ones(translator):
    steps = {}
    for crowd in (0, 3):
        continuous = ContinuousTranslator(translator, max_batch_tokens=300)
        for name in range(crowd):
            continuous.add(name, [" ".join(ENGLISH * 6)], party="crowd")
        for _ in range(5):
            continuous.step()
        continuous.add("small", [ENGLISH[0]], party="crowd")
        steps[crowd] = next(n for n in range(1, 2000) if "small" in results(continuous.step()))
    assert len(ENGLISH[0]) <= SMALL_CHARACTERS < len(" ".join(ENGLISH * 6))
    assert steps[3] <= 3 * steps[0]


STEP_S = 0.01


@pytest.fixture
def beside_large(translator, monkeypatch) -> tuple[ContinuousTranslator, list[str]]:
    """Three large requests, and whose steps are taken: each lasts ``STEP_S``."""
    looks = itertools.count()
    clock = SimpleNamespace(perf_counter=lambda: STEP_S * next(looks), thread_time=time.thread_time)
    monkeypatch.setattr("nmt.batching.continuous.time", clock)
    continuous = ContinuousTranslator(translator, max_batch_tokens=300)
    taken: list[str] = []
    for name, batch in (("fast", continuous._fast), ("slow", continuous._slow)):
        monkeypatch.setattr(batch, "step", told_of(batch.step, partial(taken.append, name)))
    for index in range(3):
        continuous.add(index, [" ".join(ENGLISH * 20)])
    for _ in range(100):
        continuous.step()
    assert set(taken) == {"slow"}
    taken.clear()
    return continuous, taken


def told_of(function: Callable[..., Any], tell: Callable[[], None]) -> Callable[..., Any]:
    def told(*arguments: object) -> Any:
        tell()
        return function(*arguments)

    return told


def until_small_is_done(continuous: ContinuousTranslator) -> None:
    assert any("small" in results(continuous.step()) for _ in range(200))


def test_who_comes_now_and_then_waits_for_no_step_of_large_requests(beside_large, monkeypatch):
    monkeypatch.setattr("nmt.batching.continuous.SAVED_S", 100 * STEP_S)
    continuous, taken = beside_large
    for _ in range(3):
        continuous.add("small", [ENGLISH[0]])
        until_small_is_done(continuous)
        assert set(taken) == {"fast"}
        for _ in range(100):
            continuous.step()
        taken.clear()


def test_what_the_fast_lane_has_saved_up_is_spent_once_and_then_lanes_share_evenly(beside_large):
    continuous, taken = beside_large
    n_saved = round(SAVED_S / STEP_S)
    for index in range(12):
        continuous.add(f"small {index}", [ENGLISH[0]])
    for _ in range(n_saved + 40):
        if not continuous._fast.n_running:
            continuous.add("small", [ENGLISH[0]])
        continuous.step()
    first = "".join(name[0] for name in taken).index("s")
    assert n_saved <= first <= n_saved + 2  # and the step that it has waited for
    assert abs(taken[first:].count("fast") - taken[first:].count("slow")) <= 2


@pytest.mark.exhaustive
def test_gaps_between_small_requests_do_not_starve_large_ones(beside_large):
    """One small request after another, each of which has waited for a step that was being taken."""
    continuous, taken = beside_large
    n_small = 20
    for _ in range(n_small):
        continuous.add("small", [ENGLISH[0]])
        until_small_is_done(continuous)
        continuous.step()
    n_saved = round(SAVED_S / STEP_S)
    assert taken.count("fast") <= taken.count("slow") + n_saved + n_small


def test_who_joins_large_requests_joins_in_pieces_with_a_step_after_each(beside_large, monkeypatch):
    continuous, _ = beside_large
    batch, did = continuous._slow, list[int]()
    add, most = batch._search.add, max(len(ids) + 1 for ids in translator_ids(continuous)) * SHORT.beam_size

    def joins(sentences):
        did.append(sum(sentence.n_tokens for sentence in sentences))
        add(sentences)

    monkeypatch.setattr(batch._search, "add", joins)
    monkeypatch.setattr(batch._search, "step", told_of(batch._search.step, partial(did.append, 0)))
    for _ in range(300):
        calls = len(did)
        continuous.step()
        assert len(did) <= calls + 1
    assert max(did) < JOIN_SHARE * batch.most_tokens + most
    joining = [number for number, n_tokens in enumerate(did) if n_tokens]
    assert len(joining) > 3
    assert all(after - before > 1 for before, after in pairwise(joining))
    assert batch.n_tokens > 0.6 * batch.most_tokens


def translator_ids(continuous: ContinuousTranslator) -> list[list[int]]:
    return [continuous._translator.tokenizer.encode(text) for text in ENGLISH]


@pytest.mark.exhaustive
def test_small_requests_may_fill_a_batch_twice_as_large(translator):
    most = {}
    for name, texts in (("small", ENGLISH), ("large", [" ".join(ENGLISH)])):
        continuous = ContinuousTranslator(translator, max_batch_tokens=120)
        for index in range(6):
            continuous.add(index, [texts[index % len(texts)]])
        fill = []
        while continuous.is_busy:
            continuous.step()
            fill.append(continuous.batch_fill)
        batch = continuous._fast if name == "small" else continuous._slow
        assert 0.5 < max(fill) <= 1
        most[name] = max(fill) * batch.most_tokens
    assert most["large"] <= 120 < most["small"] <= 240


def test_a_fault_in_one_request_is_told_to_it_alone(translator, monkeypatch):
    failures: list[Exception] = []
    continuous = ContinuousTranslator(translator, on_failure=failures.append)
    decoder = translator.answerer.decoder
    step = type(decoder).step
    bad = translator.tokenizer.encode(ENGLISH[3])

    def failing(self, state, tokens_N):
        for group in state.groups:
            if group.memory_mask_B11S.sum(dim=3).flatten().eq(len(bad) + 1).any():
                raise MemoryError
        return step(self, state, tokens_N)

    monkeypatch.setattr(type(decoder), "step", failing)
    others = [text for text in ENGLISH[:6] if len(translator.tokenizer.encode(text)) != len(bad)]
    for text in (*others, ENGLISH[3]):
        continuous.add(text, [text])
    events = finish(continuous)
    monkeypatch.undo()

    assert [event.request for event in events if isinstance(event, Failed)] == [ENGLISH[3]]
    assert failures
    found = results(events)
    assert set(found) == set(others)
    for text in others:
        same(found[text], translator.translate([text]))


@pytest.fixture
def crowded(translator, monkeypatch) -> ContinuousTranslator:
    """24 requests of one short sentence, enough to fill the fast batch well.

    All that may be planned in a step is, however slow the machine, and all that may join joins at once.
    """
    monkeypatch.setattr("nmt.batching.running_batch.JOIN_SHARE", math.inf)
    monkeypatch.setattr("nmt.batching.continuous.FILL_S", math.inf)
    monkeypatch.setattr("nmt.batching.continuous.PLAN_S", math.inf)
    continuous = ContinuousTranslator(translator, max_batch_tokens=100)
    for name in range(24):
        continuous.add(name, [ENGLISH[name % len(ENGLISH)]])
    return continuous


def ended_lately(crowded: ContinuousTranslator) -> list[object]:
    """Requests whose search has ended while their answer waits to be taken up, as soon as there are any."""
    for _ in range(200):
        if crowded._fast._ended_lately:
            break
        crowded.step()
    names: list[object] = [task.request.name for task, _ in crowded._fast._ended_lately]
    assert names
    return names


def test_while_a_batch_is_well_filled_answers_are_taken_up_every_few_steps(crowded):
    answered_at = []
    number = 0
    while crowded.is_busy:
        was_filled = crowded._fast.is_filled
        events = crowded.step()
        if results(events) and was_filled and crowded._fast.is_filled:
            answered_at.append(number)
        number += 1
    assert len(answered_at) >= 2
    assert all(after - before >= ANSWER_EVERY for before, after in pairwise(answered_at))


def test_few_of_those_that_have_ended_go_on_in_one_turn(translator, monkeypatch):
    monkeypatch.setattr("nmt.batching.running_batch.MOST_ANSWERS", 5)
    continuous = ContinuousTranslator(translator)
    continuous.add("same", [" ".join([ENGLISH[0]] * 12)])
    batch, at_once = continuous._slow, list[int]()
    step = batch.step

    def counted():
        answers = step()
        at_once.append(len(answers))
        return answers

    monkeypatch.setattr(batch, "step", counted)
    (found,) = results(finish(continuous)).values()
    assert [n_answers for n_answers in at_once if n_answers][:3] == [5, 5, 2]
    same(found, translator.translate([" ".join([ENGLISH[0]] * 12)]))


def test_others_that_have_ended_go_on_in_the_next_turn_though_the_batch_is_well_filled(crowded, monkeypatch):
    monkeypatch.setattr("nmt.batching.running_batch.MOST_ANSWERS", 2)
    monkeypatch.setattr("nmt.batching.running_batch.JOIN_EVERY", 100)
    batch = crowded._fast
    while not (batch.is_filled and batch._steps_since_answers == 0):
        crowded.step()
    monkeypatch.setattr(batch._search, "step", list)  # nobody else ends
    task, _ = next(iter(batch._running.values()))
    batch._ended_lately = [(task, [])] * 5
    at_once = [len(batch.step()) for _ in range(ANSWER_EVERY + 3)]
    assert at_once == [0] * (ANSWER_EVERY - 1) + [2, 2, 1, 0]


@pytest.mark.exhaustive
def test_after_a_long_time_without_texts_they_are_planned_little_by_little_too(translator, monkeypatch):
    looks = itertools.count()
    clock = SimpleNamespace(perf_counter=time.perf_counter, thread_time=lambda: FILL_S * next(looks))
    monkeypatch.setattr("nmt.batching.continuous.time", clock)
    continuous = ContinuousTranslator(translator, max_batch_tokens=300)
    large = [" ".join(ENGLISH * 6)] * 20
    continuous.add("first", large[:1])
    finish(continuous)
    assert continuous._slow._n_steps * PLAN_S > len(large) * FILL_S
    continuous.add("second", large)
    planned = [event for event in continuous.step() if isinstance(event, Tokenized)]
    assert 0 < len(planned) <= max(1, JOIN_EVERY * PLAN_S / FILL_S + 1) < len(large)


def test_answers_of_a_small_batch_are_taken_up_at_once(translator):
    continuous = ContinuousTranslator(translator)
    continuous.add("alone", [ENGLISH[0]])
    while continuous.is_busy:
        continuous.step()
        assert not continuous._fast._ended_lately


def test_while_a_batch_is_well_filled_short_texts_are_planned_when_they_may_join(translator, crowded):
    batch = crowded._fast
    for _ in ("plan", "join"):
        assert not batch.is_filled
        crowded.step()
    assert batch.is_filled
    crowded.add("late", [ENGLISH[0]])
    planned: list[list[object]] = []
    while not any(planned) and len(planned) < 100:
        planned.append([event.request for event in crowded.step() if isinstance(event, Tokenized)])
    assert planned[-1] == ["late"]
    assert len(planned) == JOIN_EVERY
    same(results(finish(crowded))["late"], translator.translate([ENGLISH[0]]))


def test_who_cancels_while_an_answer_waits_to_be_taken_up_hears_no_more(crowded):
    gone = ended_lately(crowded)
    crowded.cancel(gone)
    assert not crowded._fast._ended_lately
    found = results(finish(crowded))
    assert set(found).isdisjoint(gone)
    assert crowded.n_running == crowded.n_waiting == 0


def test_whose_search_has_ended_is_answered_though_all_others_cancel(crowded):
    ended = ended_lately(crowded)
    crowded.cancel([name for name in crowded._requests if name not in ended])
    assert set(results(finish(crowded))) == set(ended)


def test_a_request_that_failed_asks_for_nothing_more(translator, monkeypatch):
    """Its sentences that end in the same step would otherwise search again for nobody."""
    flow, begun = type(translator).flow, []

    def failing(self, plan, sentence):
        begun.append(sentence)
        yield from search_for(plan.source_ids[sentence], plan.generation)
        if sentence == 0:
            raise InputError("no")
        return (yield from flow(self, plan, sentence))

    monkeypatch.setattr(type(translator), "flow", failing)
    continuous = ContinuousTranslator(translator)
    continuous.add("failing", ["\n".join([ENGLISH[0]] * 2)])
    events = finish(continuous)
    assert begun == [0, 1]
    assert [event.request for event in events if isinstance(event, Failed)] == ["failing"]
    assert continuous.n_running == continuous.n_waiting == 0


@pytest.mark.exhaustive
def test_what_nobody_waits_for_takes_the_slow_lane_and_lets_others_go_first(translator):
    """A long request of somebody beside a longer one, which waits or does not, of the same party."""
    steps: dict[bool, int] = {}
    for background in (False, True):
        continuous = ContinuousTranslator(translator, max_batch_tokens=60)
        continuous.add("job", [ENGLISH[n % len(ENGLISH)] for n in range(60)], background=background)
        for _ in range(20):
            continuous.step()
        continuous.add("person", [" ".join(ENGLISH[:16])])
        steps[background] = next(n for n in range(1, 5000) if "person" in results(continuous.step()))
    assert len(" ".join(ENGLISH[:16])) > SMALL_CHARACTERS
    assert steps[True] < 0.8 * steps[False]

    small = ContinuousTranslator(translator)
    small.add("small job", [ENGLISH[0]], background=True)
    assert small._slow.is_busy
    assert not small._fast.is_busy
    assert set(results(finish(small))) == {"small job"}
