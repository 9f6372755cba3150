"""A running search over a searcher: bounded batches, cancelled sentences, errors of one sentence alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nmt.config import GenerationConfig
from nmt.errors import NumericalError
from nmt.pipeline.requests import Followers, NextPieces, Search
from nmt.search import Hypothesis
from nmt.search.continuous import Sentence
from nmt.searchers.waiting import MOST_SENTENCES, WINDOW, WaitingSearch

BAD = 999


class Echo:
    """Answers with the source; fails on ``BAD``."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def search(self, asked: Sequence[Search], *, max_batch_tokens: int) -> list[list[Hypothesis]]:
        self.batches.append(len(asked))
        if any(BAD in one.source_ids for one in asked):
            raise NumericalError("NaN")
        return [[Hypothesis(one.source_ids, -1.0, -1.0, True)] for one in asked]

    def next_pieces(self, asked: NextPieces) -> list[Followers]:
        raise NotImplementedError


def sentence(key: int, *ids: int) -> Sentence:
    return Sentence(key, ids, GenerationConfig())


def test_a_step_searches_a_bounded_batch_in_the_order_of_arrival():
    searcher = Echo()
    search = WaitingSearch(searcher)
    search.add([sentence(key, 5, key) for key in range(MOST_SENTENCES + 3)])
    first, second = search.step(), search.step()
    assert [outcome.key for outcome in (*first, *second)] == list(range(MOST_SENTENCES + 3))
    assert searcher.batches == [MOST_SENTENCES, 3]
    assert first[2].hypotheses[0].tokens == (5, 2)
    assert search.step() == []


def test_a_batch_has_the_oldest_sentence_and_those_nearest_to_it_in_length():
    search = WaitingSearch(Echo())
    long, short = (sentence(0, *[5] * 40), [sentence(key, 5) for key in range(1, MOST_SENTENCES + 1)])
    alike = [sentence(100 + key, *[5] * (38 + key)) for key in range(MOST_SENTENCES - 1)]
    search.add([long, *short, *alike])
    assert {outcome.key for outcome in search.step()} == {0, *range(100, 100 + MOST_SENTENCES - 1)}
    assert [outcome.key for outcome in search.step()] == list(range(1, MOST_SENTENCES + 1))


def test_a_sentence_beyond_the_window_waits_its_turn():
    search = WaitingSearch(Echo())
    search.add([sentence(key, *[5] * (1 + key % 7)) for key in range(WINDOW)] + [sentence(999, 5)])
    assert 999 not in {outcome.key for outcome in search.step()}
    left = [outcome.key for _ in range(WINDOW // MOST_SENTENCES) for outcome in search.step()]
    assert 999 in left
    assert search.running == []


def test_long_sentences_are_fewer_in_a_batch_and_one_too_long_is_alone():
    searcher = Echo()
    search = WaitingSearch(searcher)
    search.add([sentence(0, *[5] * 2000), sentence(1, *[5] * 300), sentence(2, *[5] * 300), sentence(3, 5)])
    while search.running:
        search.step()
    assert searcher.batches == [1, 3]


def test_while_others_are_in_a_hurry_batches_are_as_short_as_the_speed_before_says(
    monkeypatch: pytest.MonkeyPatch,
):
    searcher, hurried = Echo(), [False]
    search = WaitingSearch(searcher, is_hurried=lambda: hurried[0])
    clock = iter([0.0, 0.16, 10.0, 10.02, 20.0, 20.01])
    monkeypatch.setattr("nmt.searchers.waiting.time.perf_counter", lambda: next(clock))
    search.add([sentence(key, 5, key) for key in range(MOST_SENTENCES + 6)])
    search.step()
    hurried[0] = True
    search.step()  # 10 ms a sentence: two in 20 ms
    search.step()
    assert searcher.batches == [MOST_SENTENCES, 2, 2]


def test_a_cancelled_sentence_is_not_searched():
    search = WaitingSearch(Echo())
    search.add([sentence(0, 5), sentence(1, 6)])
    search.cancel([0])
    assert [one.key for one in search.running] == [1]
    assert [outcome.key for outcome in search.step()] == [1]


def test_an_error_stays_with_the_sentence_that_causes_it():
    failures: list[Exception] = []
    search = WaitingSearch(Echo(), failures.append)
    search.add([sentence(0, 5), sentence(1, BAD), sentence(2, 7)])
    outcomes = search.step()
    assert [outcome.error is None for outcome in outcomes] == [True, False, True]
    assert len(failures) == 1
