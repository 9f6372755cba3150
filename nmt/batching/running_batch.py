"""A running batch of continuous translation, with the sentences that wait to join it.

It does one thing at a time, so that its turns are short: some that wait join, or the batch takes a step,
after which some that have ended go on.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nmt.batching.events import Event, PartFinished
from nmt.batching.fair_queue import FairQueue
from nmt.hypothesis import Sentence
from nmt.options import TranslationOptions
from nmt.pipeline.finish import FinishedSentence
from nmt.pipeline.plan import Plan
from nmt.pipeline.requests import Answer, Flow, Search
from nmt.searchers import RunningSearch
from nmt.spans import Span
from nmt.translator import Translator

JOIN_EVERY = 10
"""Steps between joins while the batch is well filled: who joins together is searched at less cost."""
ANSWER_EVERY = 5
"""Steps after which, while the batch is well filled, sentences that have ended go on."""
MOST_ANSWERS = 16
"""Sentences that go on in one turn; others that have ended do so after the next steps."""
JOIN_SHARE = 0.25
"""Share of ``most_tokens`` that joins at once, or one sentence: encoding it takes about as long as a step."""
BACKGROUND_PRICE = 8.0
"""How often a token of a request in the background counts: of a machine that others want it gets a ninth."""
FILLED_SHARE = 0.25
"""Share of ``most_tokens`` from which on it is well filled."""


@dataclass(eq=False)
class Request:
    """Texts of one caller, and what is there of their translations.

    Args:
        name: the caller's name for it.
        party: who asks.
        texts: to be translated.
        keep: one entry for each text, as for ``Translator.plan``.
        options: how they are translated.
        parts: whether each sentence is told of as soon as it and those before it are there.
        batch: that searches its sentences.
        background: whether others go first, see ``BACKGROUND_PRICE``.
    """

    name: Hashable
    party: Hashable
    texts: list[str]
    keep: Sequence[Any] | None
    options: TranslationOptions
    parts: bool
    batch: RunningBatch
    background: bool = False
    plans: list[Plan] = field(default_factory=list)
    finished: list[list[FinishedSentence | None]] = field(default_factory=list)
    """For each planned text what is there of its sentences."""
    has_begun: bool = False
    n_missing: int = 0
    """Sentences of planned texts that are not there yet."""
    next_part: tuple[int, int] = (0, 0)
    """Text and sentence that are to be told of next."""

    @property
    def is_planned(self) -> bool:
        """Whether all its texts are."""
        return len(self.plans) == len(self.texts)

    @property
    def is_finished(self) -> bool:
        """Whether all its sentences are there."""
        return self.is_planned and self.n_missing == 0

    def take(self, plan: Plan) -> None:
        """The next text's plan."""
        self.plans.append(plan)
        self.finished.append([None] * len(plan.source_ids))
        self.n_missing += len(plan.source_ids)

    def new_parts(self, translator: Translator) -> list[Event]:
        """The sentences that are there, in order, and have not been told of."""
        events: list[Event] = []
        text, sentence = self.next_part
        while text < len(self.plans):
            plan, finished = self.plans[text], self.finished[text]
            if sentence == len(finished):
                text, sentence = text + 1, 0
                continue
            if (part := finished[sentence]) is None:
                break
            segment = plan.document.segments[sentence]
            translation = translator.finish(plan.part(sentence), [part])
            source = Span(segment.start, segment.end)
            events.append(PartFinished(self.name, text, sentence, len(finished), source, translation))
            sentence += 1
        self.next_part = (text, sentence)
        return events


@dataclass(eq=False)
class Task:
    """One sentence of a request."""

    request: Request
    text: int
    sentence: int
    flow: Flow[FinishedSentence]
    has_been_searched: bool = False


class RunningBatch:
    """A running batch and those that wait to join it.

    Args:
        search: the batch.
        most_tokens: source tokens x beam size at once.
        gathers: texts are planned just before sentences may join.
    """

    def __init__(self, search: RunningSearch, most_tokens: int, *, gathers: bool) -> None:
        self._search = search
        self.most_tokens = most_tokens
        self._gathers = gathers
        self.unplanned: deque[Request] = deque()
        """Requests of which not all texts are split and tokenised."""
        self._queue: FairQueue[tuple[Task, Sentence]] = FairQueue()
        self._running: dict[Hashable, tuple[Task, Sentence]] = {}
        self._steps_since_join = 0
        """Since all who waited and had room have joined."""
        self.has_planned = self._has_joined = False
        """Whether that was the last turn: each is followed by another kind."""
        self._steps_since_answers = 0
        self._n_steps = 0
        self._n_steps_planned = 0
        self._ended_lately: list[tuple[Task, Answer | Exception]] = []
        """Sentences that are to be taken up."""
        self._begun: list[Request] = []
        self._numbers = itertools.count()
        self.n_tokens = 0
        """Source tokens x beam size in the running batch."""
        self.clock_s = 0.0
        """Seconds that this batch has had."""
        self.last_turn_s = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether a turn would have anything to do."""
        return bool(self._running or len(self._queue) or self._ended_lately or self.unplanned)

    def took(self, seconds: float) -> None:
        """A turn lasted so long."""
        self.last_turn_s = seconds
        self.clock_s += seconds

    @property
    def is_filled(self) -> bool:
        """Whether enough is searched for others to wait a few steps."""
        return self.n_tokens > FILLED_SHARE * self.most_tokens

    @property
    def joins_next(self) -> bool:
        """Whether who waits joins next, room given."""
        return not self._has_joined and (not self.is_filled or self._steps_since_join + 1 >= JOIN_EVERY)

    @property
    def plans_next(self) -> bool:
        """Whether it is time to split and tokenise texts."""
        return bool(self.unplanned) and not self.has_planned and (self.joins_next or not self._gathers)

    def steps_since_plan(self) -> int:
        """Steps since this was asked, at least 1; no more than between two joins, however long ago it was."""
        n_steps, self._n_steps_planned = self._n_steps - self._n_steps_planned, self._n_steps
        return min(max(n_steps, 1), JOIN_EVERY)

    @property
    def n_running(self) -> int:
        """Sentences in the running batch."""
        return len(self._running)

    @property
    def n_waiting(self) -> int:
        """Sentences that wait to join it."""
        return len(self._queue)

    @property
    def n_waiting_tokens(self) -> int:
        """Source tokens x beam size of those that wait."""
        return self._queue.n_tokens

    def put(self, task: Task, asked: Search) -> None:
        """Queue a search; one that a sentence asks for again goes before its request's others."""
        sentence = Sentence(
            next(self._numbers), asked.source_ids, asked.options, asked.required, asked.prefix, asked.n_scored
        )
        request = task.request
        self._queue.put(
            (request.party, request.background),
            request.name,
            (task, sentence),
            sentence.n_tokens,
            first=task.has_been_searched,
            price=BACKGROUND_PRICE if request.background else 1.0,
        )
        task.has_been_searched = True

    def drop(self, request: Request) -> None:
        """Forget a request's sentences, waiting and running."""
        self._queue.drop(request.name)
        gone = [key for key, (task, _) in self._running.items() if task.request is request]
        self._search.cancel(gone)
        for key in gone:
            self._ended(key)
        self._ended_lately = [entry for entry in self._ended_lately if entry[0].request is not request]

    def step(self) -> list[tuple[Task, Answer | Exception]]:
        """Let sentences join, or else take a step of the search and answer those that have ended.

        While the batch is well filled that is every few steps, so that several are taken up together.
        """
        self.has_planned = False
        self._has_joined = self._join()
        if self._has_joined:
            return []
        for outcome in self._search.step():
            self._ended_lately.append((self._ended(outcome.key), outcome.error or outcome.hypotheses))
        self._n_steps += 1
        self._steps_since_join += 1
        self._steps_since_answers += 1
        if self.is_filled and self._steps_since_answers < ANSWER_EVERY:
            return []
        answers = self._ended_lately[:MOST_ANSWERS]
        del self._ended_lately[:MOST_ANSWERS]
        if not self._ended_lately:
            self._steps_since_answers = 0
        return answers

    def _ended(self, key: Hashable) -> Task:
        """Take a sentence out of those that run."""
        task, sentence = self._running.pop(key)
        self.n_tokens -= sentence.n_tokens
        return task

    def newly_begun(self) -> list[Request]:
        """Requests of which a first sentence has joined since this was asked."""
        begun, self._begun = self._begun, []
        return begun

    def _join(self) -> bool:
        """Sentences that wait join if there is room: at once while the batch is small, else a few together.

        Of many some join, and others after each step. Returns whether anybody has.
        """
        if not self.joins_next:
            return False
        room = self.most_tokens - self.n_tokens if self._running else math.inf
        joining: list[Sentence] = []
        n_joining = 0
        while (entry := self._queue.pop(room)) is not None:
            task, sentence = entry
            self._running[sentence.key] = (task, sentence)
            self.n_tokens += sentence.n_tokens
            if not task.request.has_begun:
                task.request.has_begun = True
                self._begun.append(task.request)
            joining.append(sentence)
            n_joining += sentence.n_tokens
            room = min(room, self.most_tokens) - sentence.n_tokens
            if n_joining >= JOIN_SHARE * self.most_tokens:
                break
        else:
            self._steps_since_join = 0
        if joining:
            self._search.add(joining)
        return bool(joining)
