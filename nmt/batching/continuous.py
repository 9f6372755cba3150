"""Translate texts as they come: what ``Translator.translate`` does, for requests that come and go.

Each sentence is a flow (``nmt.pipeline.requests``). Its searches wait in a fair queue, join a running batch
when there is room, and go on when they are answered; nothing waits for the sentences of other requests to
end.

There are two running batches (``nmt.batching.running_batch``). A small request joins the fast one. They take
turns to plan texts, let sentences join or search, and share the time evenly while both are busy; but what the
fast one has not used of its half lately it may use at once. So a short text that comes now and then waits for
one turn of the long ones and then for nothing, however many those are.

A step of the model leaves nothing in the processor's caches of what splits, checks and puts together texts.
So while a batch is well filled, texts are planned and answers taken up several together.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence

import torch

from nmt.batching.events import Event, Failed, Finished, Started, Tokenized
from nmt.batching.running_batch import Request, RunningBatch, Task
from nmt.errors import InputError
from nmt.options import DEFAULTS, TranslationOptions
from nmt.pipeline.requests import Answer, Question, Search
from nmt.spans import Span
from nmt.translator import Translator

SMALL_CHARACTERS = 300
"""A request of no more joins the fast batch."""
FAST_SHARE = 2
"""How often as much as the slow batch the fast one may search at once: nobody else waits for its steps."""
SAVED_S = 0.1
"""Seconds of its half that the fast batch may have saved up while only the slow one was busy."""
LATELY_S = 5.0
"""Seconds after a small request in which turns of the slow batch are kept short."""
ALIGN_TOGETHER = 16
"""Forced passes of the slow batch that are gathered."""
PLAN_S = 0.005
"""Seconds of computing for each step of a running batch to split and tokenise its texts."""
FILL_S = 0.02
"""The same, at once, while there is not enough planned to fill the batch."""


class ContinuousTranslator:
    """A translator for requests that come and go.

    Args:
        translator: its decoder must be able to merge states.
        max_batch_tokens: source tokens x beam size that are searched at once in the slow batch; in the fast
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
        self._requests: dict[Hashable, Request] = {}
        self._passes: list[tuple[Task, Question]] = []
        self._fast, self._slow = (
            RunningBatch(
                translator.continuous_search(on_failure, is_hurried),
                share * max_batch_tokens,
                gathers=gathers,
            )
            for share, gathers, is_hurried in (
                (FAST_SHARE, True, lambda: False),
                (1, False, self._has_small_requests),
            )
        )
        self._small_came_s = -math.inf
        self._alone: RunningBatch | None = None
        """The only busy batch, if there is one."""

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
        """Tokens searched now, as a share of what may be searched at once in a running batch."""
        return max(batch.n_tokens / batch.most_tokens for batch in (self._fast, self._slow))

    def add(
        self,
        request: Hashable,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
        party: Hashable = None,
        parts: bool = False,
        background: bool = False,
    ) -> None:
        """Take a request.

        Args:
            request: the caller's name for it.
            texts: as for ``Translator.translate``.
            options: the same.
            keep: the same.
            party: who asks; parties share the model evenly by tokens.
            parts: report each sentence as soon as it and those before it are there.
            background: nobody waits for it: it joins the slow batch, and others go first.
        """
        if not texts:
            raise InputError("there is no text to translate")
        options.check_prefixes(len(texts))
        is_small = sum(map(len, texts)) <= SMALL_CHARACTERS
        batch = self._fast if is_small and not background else self._slow
        if batch is self._fast:
            self._small_came_s = time.perf_counter()
        made = Request(request, party, list(texts), keep, options, parts, batch, background)
        self._requests[request] = made
        batch.unplanned.append(made)

    def cancel(self, requests: Collection[Hashable]) -> None:
        """Forget requests; what they have in a running batch leaves it with its next step."""
        for request in requests:
            if (gone := self._requests.pop(request, None)) is not None:
                gone.batch.drop(gone)
                self._passes = [entry for entry in self._passes if entry[0].request is not gone]
                if gone in gone.batch.unplanned:
                    gone.batch.unplanned.remove(gone)

    @torch.inference_mode()
    def step(self) -> list[Event]:
        """One turn of a running batch: plan texts, let sentences join, or search; then align."""
        events: list[Event] = []
        if (batch := self._next_batch()) is not None:
            started = time.perf_counter()
            if batch.plans_next:
                self._plan(batch, events)
                batch.has_planned = True
            else:
                answers = batch.step()
                events += [Started(request.name) for request in batch.newly_begun()]
                for task, reply in answers:
                    if self._is_wanted(task):
                        self._resume(task, reply, events)
            batch.took(time.perf_counter() - started)
        if self._passes and (
            len(self._passes) >= ALIGN_TOGETHER
            or not self.n_running
            or any(task.request.batch is self._fast for task, _ in self._passes)
        ):
            self._align(events)
        return events

    def _has_small_requests(self) -> bool:
        """Whether a small request has come lately: the next one is not to wait long."""
        return time.perf_counter() - self._small_came_s < LATELY_S

    def _next_batch(self) -> RunningBatch | None:
        """The one that has had less time since both are busy, what the fast one has saved up counted."""
        busy = [batch for batch in (self._fast, self._slow) if batch.is_busy]
        if len(busy) == 2 and self._alone is not None:
            # who comes to a busy machine has waited for the turn that was being taken
            now_s = self._alone.clock_s - self._alone.last_turn_s
            if self._alone is self._fast:
                self._slow.clock_s = now_s
            else:
                self._fast.clock_s = min(max(self._fast.clock_s, now_s - SAVED_S), now_s)
        self._alone = busy[0] if len(busy) == 1 else None
        return min(busy, key=lambda batch: batch.clock_s) if busy else None

    def _plan(self, batch: RunningBatch, events: list[Event]) -> None:
        """Plan texts of a running batch: one at least, a few more, and more still if it wants sentences."""
        unplanned, started = batch.unplanned, time.thread_time()
        n_steps = batch.steps_since_plan()
        is_first = True
        while unplanned:
            spent_s = time.thread_time() - started
            wants_more = batch.n_tokens + batch.n_waiting_tokens < batch.most_tokens
            limit_s = max(n_steps * PLAN_S, FILL_S if wants_more else 0.0)
            if spent_s >= limit_s and not is_first:
                return
            is_first = False
            self._plan_next(unplanned, events)

    def _plan_next(self, unplanned: deque[Request], events: list[Event]) -> None:
        """Plan one text; requests take turns."""
        request = unplanned[0]
        index = len(request.plans)
        try:
            keep = None if request.keep is None else [request.keep[index]]
            (plan,) = self._translator.plan([request.texts[index]], request.options, keep=keep)
        except Exception as error:
            self._fail(request, _named(error, index, len(request.texts)), events)
            return
        request.take(plan)
        events.append(Tokenized(request.name, sum(len(ids) + 1 for ids in plan.source_ids)))
        unplanned.rotate(-1)
        if request.is_planned:
            unplanned.remove(request)
        for sentence in range(len(plan.source_ids)):
            if request.name in self._requests:
                flow = self._translator.flow(plan, sentence)
                self._resume(Task(request, index, sentence, flow), None, events)
        self._report(request, events)

    def _resume(self, task: Task, reply: Answer | Exception | None, events: list[Event]) -> None:
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
            if isinstance(question, Search):
                request.batch.put(task, question)
            else:
                self._passes.append((task, question))

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

    def _is_wanted(self, task: Task) -> bool:
        """Whether its request is neither cancelled nor failed."""
        return self._requests.get(task.request.name) is task.request

    def _answer_alone(self, question: Question) -> Answer | Exception:
        try:
            return self._translator.answer([question])[0]
        except Exception as error:
            return error

    def _report(self, request: Request, events: list[Event]) -> None:
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

    def _fail(self, request: Request, error: Exception, events: list[Event]) -> None:
        if request.name in self._requests:
            self.cancel([request.name])
            events.append(Failed(request.name, error))


def _named(error: Exception, index: int, n_texts: int) -> Exception:
    """An error in one of several texts says in which."""
    if n_texts > 1 and isinstance(error, InputError):
        return type(error)(f"text {index + 1}: {error}")
    return error
