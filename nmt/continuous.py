"""Translate texts as they come: what ``Translator.translate`` does, for requests that come and go.

Each sentence is a flow (``nmt.flow``). Its searches wait in a fair queue, join a running batch when there is
room, and go on when they are answered; nothing waits for the sentences of other requests to end.

There are two lanes, each a running batch of its own. A small request takes the fast one. The lanes take turns
to plan texts, let sentences join or search, and share the time evenly while both are busy; but what the fast
one has not used of its half lately it may use at once. So a short text that comes now and then waits for one
turn of the long ones and then for nothing, however many those are.

A step of the model leaves nothing in the processor's caches of what splits, checks and puts together texts.
So while a batch is well filled, texts are planned and answers taken up several together.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from nmt.errors import InputError
from nmt.fair_queue import FairQueue
from nmt.finished import FinishedSentence
from nmt.flow import Answer, EveryHead, Flow, ForcedPass, Question, Search
from nmt.planning import Plan
from nmt.progress import Begun, Event, Failed, Finished, PartFinished, Planned
from nmt.search.continuous import ContinuousSearch, Sentence
from nmt.spans import Span
from nmt.translator import Translator

SMALL_CHARACTERS = 300
"""A request of no more takes the fast lane."""
FAST_LANE_SHARE = 2
"""How often as much as the slow lane the fast one may search at once: nobody else waits for its steps."""
JOIN_EVERY = 10
"""Steps between joins while the batch is well filled: who joins together is searched at less cost."""
ANSWER_EVERY = 5
"""Steps after which, while the batch is well filled, sentences that have ended go on."""
MOST_ANSWERS = 16
"""Sentences that go on in one turn; others that have ended do so after the next steps."""
SAVED_S = 0.1
"""Seconds of its half that the fast lane may have saved up while only the slow one was busy."""
JOIN_SHARE = 0.25
"""Of ``most_tokens``: so much joins at once, or one sentence. A step takes about as long as encoding that."""
FILLED_SHARE = 0.25
"""Of ``most_tokens``: from here on a lane's batch is well filled."""
ALIGN_TOGETHER = 16
"""Forced passes of the slow lane that are gathered."""
PLAN_S = 0.005
"""Seconds of computing for each step of a lane to split and tokenise its texts."""
FILL_S = 0.02
"""The same, at once, while there is not enough planned to fill the lane's batch."""


class ContinuousTranslator:
    """A translator for requests that come and go.

    Args:
        translator: its decoder must be able to merge states.
        max_batch_tokens: source tokens x beam size that are searched at once in the slow lane; in the fast
            one it is twice that.
        on_failure: told when a batch fails as a whole and its sentences are tried alone.
    """

    def __init__(
        self,
        translator: Translator,
        *,
        max_batch_tokens: int = 4096,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> None:
        self._translator = translator
        self._requests: dict[Hashable, _Request] = {}
        self._passes: list[tuple[_Task, ForcedPass | EveryHead]] = []
        self._fast, self._slow = (
            _Lane(translator.continuous_search(on_failure), share * max_batch_tokens, gathers=gathers)
            for share, gathers in ((FAST_LANE_SHARE, True), (1, False))
        )
        self._alone: _Lane | None = None
        """The only busy lane, if there is one."""

    @property
    def is_busy(self) -> bool:
        """Whether ``step`` has anything to do."""
        return bool(self._requests)

    @property
    def n_running(self) -> int:
        """Sentences in the running batches."""
        return self._fast.n_running + self._slow.n_running

    @property
    def n_waiting(self) -> int:
        """Sentences that wait to be searched."""
        return self._fast.n_waiting + self._slow.n_waiting

    @property
    def batch_fill(self) -> float:
        """Tokens searched now, as a share of what may be searched at once in a lane."""
        return max(lane.n_tokens / lane.most_tokens for lane in (self._fast, self._slow))

    def add(
        self,
        request: Hashable,
        texts: Sequence[str],
        *,
        party: Hashable = None,
        parts: bool = False,
        keep: Sequence[Any] | None = None,
        **options: Any,  # noqa: ANN401 - those of Translator.plan
    ) -> None:
        """Take a request.

        Args:
            request: the caller's name for it.
            texts: as for ``Translator.translate``.
            party: who asks; parties share the model evenly by tokens.
            parts: report each sentence as soon as it and those before it are there.
            keep: one entry for each text, as for ``Translator.plan``.
            options: the other arguments of ``Translator.plan``.
        """
        if not texts:
            raise InputError("there is no text to translate")
        lane = self._fast if sum(map(len, texts)) <= SMALL_CHARACTERS else self._slow
        made = _Request(request, party, list(texts), keep, options, parts, lane)
        self._requests[request] = made
        lane.unplanned.append(made)

    def cancel(self, requests: Collection[Hashable]) -> None:
        """Forget requests; what they have in a running batch leaves it with its next step."""
        for request in requests:
            if (gone := self._requests.pop(request, None)) is not None:
                gone.lane.drop(gone)
                self._passes = [entry for entry in self._passes if entry[0].request is not gone]
                if gone in gone.lane.unplanned:
                    gone.lane.unplanned.remove(gone)

    @torch.inference_mode()
    def step(self) -> list[Event]:
        """A lane's turn to plan texts, let sentences join or search; align; and what has come of it."""
        events: list[Event] = []
        if (lane := self._next_lane()) is not None:
            started = time.perf_counter()
            if lane.plans_next:
                self._plan(lane, events)
                lane.has_planned = True
            else:
                answers = lane.step()
                events += [Begun(request.name) for request in lane.newly_begun()]
                for task, reply in answers:
                    if self._is_wanted(task):
                        self._resume(task, reply, events)
            lane.took(time.perf_counter() - started)
        if self._passes and (
            len(self._passes) >= ALIGN_TOGETHER
            or not self.n_running
            or any(task.request.lane is self._fast for task, _ in self._passes)
        ):
            self._align(events)
        return events

    def _next_lane(self) -> _Lane | None:
        """The one that has had less time since both are busy, what the fast one has saved up counted."""
        busy = [lane for lane in (self._fast, self._slow) if lane.is_busy]
        if len(busy) == 2 and self._alone is not None:
            # who comes to a busy machine has waited for the turn that was being taken
            now_s = self._alone.clock_s - self._alone.last_turn_s
            if self._alone is self._fast:
                self._slow.clock_s = now_s
            else:
                self._fast.clock_s = min(max(self._fast.clock_s, now_s - SAVED_S), now_s)
        self._alone = busy[0] if len(busy) == 1 else None
        return min(busy, key=lambda lane: lane.clock_s) if busy else None

    def _plan(self, lane: _Lane, events: list[Event]) -> None:
        """Plan a lane's texts: one at least, a few more, and if its batch wants sentences more still."""
        unplanned, started = lane.unplanned, time.thread_time()
        n_steps = lane.steps_since_plan()
        is_first = True
        while unplanned:
            spent_s = time.thread_time() - started
            wants_more = lane.n_tokens + lane.n_waiting_tokens < lane.most_tokens
            limit_s = max(n_steps * PLAN_S, FILL_S if wants_more else 0.0)
            if spent_s >= limit_s and not is_first:
                return
            is_first = False
            self._plan_next(unplanned, events)

    def _plan_next(self, unplanned: deque[_Request], events: list[Event]) -> None:
        """Plan one text; requests take turns."""
        request = unplanned[0]
        index = len(request.plans)
        try:
            kept: dict[str, Any] = {} if request.keep is None else {"keep": [request.keep[index]]}
            (plan,) = self._translator.plan([request.texts[index]], **request.options, **kept)
        except Exception as error:
            self._fail(request, _named(error, index, len(request.texts)), events)
            return
        request.take(plan)
        events.append(Planned(request.name, sum(len(ids) + 1 for ids in plan.source_ids)))
        unplanned.rotate(-1)
        if request.is_planned:
            unplanned.remove(request)
        for sentence in range(len(plan.source_ids)):
            if request.name in self._requests:
                flow = self._translator.flow(plan, sentence)
                self._resume(_Task(request, index, sentence, flow), None, events)
        self._report(request, events)

    def _resume(self, task: _Task, reply: Answer | Exception | None, events: list[Event]) -> None:
        """Let a flow go on with an answer; queue what it asks next, or keep what it ends with."""
        request = task.request
        try:
            question = task.flow.throw(reply) if isinstance(reply, Exception) else task.flow.send(reply)
        except StopIteration as end:
            request.finished[task.text][task.sentence] = end.value
            request.n_missing -= 1
            self._report(request, events)
        except Exception as error:
            self._fail(request, error, events)
        else:
            if isinstance(question, ForcedPass | EveryHead):
                self._passes.append((task, question))
            else:
                request.lane.put(task, question)

    def _align(self, events: list[Event]) -> None:
        """Answer the forced passes that wait: together, or one by one if that fails."""
        passes, self._passes = self._passes, []
        answers: Sequence[Answer | Exception]
        try:
            answers = self._translator.answer([asked for _, asked in passes])
        except Exception:
            answers = [self._answer_alone(asked) for _, asked in passes]
        for (task, _), reply in zip(passes, answers, strict=True):
            if self._is_wanted(task):
                self._resume(task, reply, events)

    def _is_wanted(self, task: _Task) -> bool:
        """Whether its request is neither cancelled nor failed."""
        return self._requests.get(task.request.name) is task.request

    def _answer_alone(self, question: Question) -> Answer | Exception:
        try:
            return self._translator.answer([question])[0]
        except Exception as error:
            return error

    def _report(self, request: _Request, events: list[Event]) -> None:
        """Tell of sentences that are there in their order, and of the end."""
        try:
            if request.parts:
                events += request.new_parts(self._translator)
            if request.is_finished and request.name in self._requests:
                translations = [
                    self._translator.finish(plan, [part for part in finished if part is not None])
                    for plan, finished in zip(request.plans, request.finished, strict=True)
                ]
                del self._requests[request.name]
                events.append(Finished(request.name, translations))
        except Exception as error:
            self._fail(request, error, events)

    def _fail(self, request: _Request, error: Exception, events: list[Event]) -> None:
        if request.name in self._requests:
            self.cancel([request.name])
            events.append(Failed(request.name, error))


@dataclass(eq=False)
class _Request:
    name: Hashable
    party: Hashable
    texts: list[str]
    keep: Sequence[Any] | None
    options: dict[str, Any]
    parts: bool
    lane: _Lane
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
        return len(self.plans) == len(self.texts)

    @property
    def is_finished(self) -> bool:
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
class _Task:
    """One sentence of a request."""

    request: _Request
    text: int
    sentence: int
    flow: Flow[FinishedSentence]
    has_been_searched: bool = False


class _Lane:
    """A running batch and those that wait to join it.

    Args:
        search: the batch.
        most_tokens: source tokens x beam size at once.
        gathers: texts are planned just before sentences may join.
    """

    def __init__(self, search: ContinuousSearch[Any], most_tokens: int, *, gathers: bool) -> None:
        self._search = search
        self.most_tokens = most_tokens
        self._gathers = gathers
        self.unplanned: deque[_Request] = deque()
        """Requests of which not all texts are split and tokenised."""
        self._queue: FairQueue[tuple[_Task, Sentence]] = FairQueue()
        self._running: dict[Hashable, tuple[_Task, Sentence]] = {}
        self._steps_since_join = 0
        """Since all who waited and had room have joined."""
        self.has_planned = self._has_joined = False
        """Whether that was the last turn: each is followed by another kind."""
        self._steps_since_answers = 0
        self._n_steps = 0
        self._n_steps_planned = 0
        self._ended_lately: list[tuple[_Task, Answer | Exception]] = []
        """What is to be taken up."""
        self._begun: list[_Request] = []
        self._numbers = itertools.count()
        self.n_tokens = 0
        """Source tokens x beam size in the running batch."""
        self.clock_s = 0.0
        """Seconds that this lane has had."""
        self.last_turn_s = 0.0

    @property
    def is_busy(self) -> bool:
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
        return len(self._running)

    @property
    def n_waiting(self) -> int:
        return len(self._queue)

    @property
    def n_waiting_tokens(self) -> int:
        """Source tokens x beam size of those that wait."""
        return self._queue.n_tokens

    def put(self, task: _Task, asked: Search) -> None:
        """Queue a search; one that a sentence asks for again goes before its request's others."""
        sentence = Sentence(next(self._numbers), asked.source_ids, asked.options, asked.required)
        request = task.request
        self._queue.put(
            request.party, request.name, (task, sentence), sentence.n_tokens, first=task.has_been_searched
        )
        task.has_been_searched = True

    def drop(self, request: _Request) -> None:
        """Forget a request's sentences, waiting and running."""
        self._queue.drop(request.name)
        gone = [key for key, (task, _) in self._running.items() if task.request is request]
        self._search.cancel(gone)
        for key in gone:
            self._ended(key)
        self._ended_lately = [entry for entry in self._ended_lately if entry[0].request is not request]

    def step(self) -> list[tuple[_Task, Answer | Exception]]:
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

    def _ended(self, key: Hashable) -> _Task:
        """Take a sentence out of those that run."""
        task, sentence = self._running.pop(key)
        self.n_tokens -= sentence.n_tokens
        return task

    def newly_begun(self) -> list[_Request]:
        """Requests of which a first sentence has joined since this was asked."""
        begun, self._begun = self._begun, []
        return begun

    def _join(self) -> bool:
        """Who waits joins if there is room: at once while the batch is small, else a few together.

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


def _named(error: Exception, index: int, n_texts: int) -> Exception:
    """An error in one of several texts says in which."""
    if n_texts > 1 and isinstance(error, InputError):
        return type(error)(f"text {index + 1}: {error}")
    return error
