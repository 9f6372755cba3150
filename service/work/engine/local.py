"""An engine in a thread, around anything that translates: batches of whole requests, in order of arrival.

``nmt serve`` has an engine in a process of its own (``service.work.engine.process``). This one is for
programs that embed the app with a translator they already have, and for tests.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog

from nmt.batching.events import Failed, Finished, PartFinished, Started
from nmt.options import TranslationOptions
from nmt.spans import Span
from service.http.logs import describe
from service.work.engine.base import BatchDone, Engine, Event, Job
from service.work.engine.job_loop import Cancelled, JobLoop, Stop, Worker

if TYPE_CHECKING:
    from nmt.translator import Translation
    from service.work.interface import TextTranslator

log = structlog.get_logger()


class WholeRequests:
    """A worker that translates request by request: what waits with equal options is gathered.

    Args:
        translator: anything that translates.
        batch_max_characters: of the requests that share a call.
    """

    def __init__(self, translator: TextTranslator, batch_max_characters: int) -> None:
        self._translator = translator
        self._batch_max_characters = batch_max_characters
        self._waiting: deque[Job] = deque()
        self._batch: list[Job] = []
        """Started, to be translated with the next step."""

    @property
    def is_busy(self) -> bool:
        """Whether ``step`` has anything to do."""
        return bool(self._waiting or self._batch)

    def add(
        self,
        request: int,
        texts: Sequence[str],
        options: TranslationOptions,
        *,
        keep: Sequence[Sequence[Span]] | None,
        party: str,
        parts: bool,
        background: bool,
    ) -> None:
        """Put a request at the end of the queue."""
        kept = None if keep is None else tuple(map(tuple, keep))
        job = Job(tuple(texts), options, kept, party, parts=parts, background=background, id=request)
        self._waiting.append(job)

    def cancel(self, requests: Collection[int]) -> None:
        """Take requests out of the queue; one that is being translated runs to its end."""
        self._waiting = deque(job for job in self._waiting if job.id not in requests)
        self._batch = [job for job in self._batch if job.id not in requests]

    def step(self) -> Iterator[Event]:
        """Begin a batch, or translate the one that has begun."""
        if self._batch:
            batch, self._batch = self._batch, []
            yield from self._translated(batch)
        elif self._waiting:
            self._batch = self._next_batch()
            yield from (Started(job.id) for job in self._batch)

    def _next_batch(self) -> list[Job]:
        """The oldest job and those after it that may share its batch."""
        first = self._waiting[0]
        room = self._batch_max_characters
        batch: list[Job] = []
        for job in list(self._waiting):
            n_characters = sum(map(len, job.texts))
            alike = job.options == first.options and job.keep is None and not job.options.prefixes
            if job is first or (alike and n_characters <= room):
                batch.append(job)
                self._waiting.remove(job)
                room -= n_characters
        return batch

    def _translated(self, batch: list[Job]) -> Iterator[Event]:
        """One call for all; if that fails, one call each, so that nobody pays for another's request."""
        started = time.monotonic()
        error = yield from self._attempt(batch)
        if error is not None and len(batch) == 1:
            yield Failed(batch[0].id, error)
        elif error is not None:
            log.warning("batch_failed", n_requests=len(batch), **describe(error))
            for job in batch:
                if (own_error := (yield from self._attempt([job]))) is not None:
                    yield Failed(job.id, own_error)
        n_texts = sum(len(job.texts) for job in batch)
        n_characters = sum(len(text) for job in batch for text in job.texts)
        failed = error is not None and len(batch) > 1
        yield BatchDone(len(batch), n_texts, n_characters, time.monotonic() - started, failed)

    def _attempt(self, batch: list[Job]) -> Generator[Event, None, Exception | None]:
        """The results, or else the error, which comes before any of them."""
        events = self.answers(batch)
        try:
            first = next(events)
        except Exception as error:
            return error
        yield first
        yield from events
        return None

    def answers(self, batch: list[Job]) -> Iterator[Event]:
        """Translate, and hand out the results."""
        texts = [text for job in batch for text in job.texts]
        translations = self._translator.translate(texts, batch[0].options, keep=batch[0].keep)
        if len(translations) != len(texts):
            raise RuntimeError(f"{len(texts)} texts but {len(translations)} translations")
        first = 0
        for job in batch:
            own = translations[first : first + len(job.texts)]
            first += len(job.texts)
            if job.parts:
                yield from parts_of(job, own)
            yield Finished(job.id, own)


class LocalEngine(Engine):
    """A worker and the thread that steps it.

    Args:
        translator: used from the thread only; ``Translator.warm_up`` first spares a request the wait for it.
        batch_max_characters: what waits with equal options is gathered up to this many characters.
        worker: what translates; None: ``WholeRequests`` of the translator.
    """

    def __init__(
        self,
        translator: TextTranslator,
        *,
        batch_max_characters: int = 10_000,
        worker: Worker | None = None,
    ) -> None:
        self.config = translator.config
        self.generation = translator.generation
        self.has_formality = translator.has_formality
        self._loop = JobLoop(worker or WholeRequests(translator, batch_max_characters), self._tell)
        self._thread = threading.Thread(target=self._loop.run, name="model", daemon=True)

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Start the thread."""
        self._on_event = on_event
        self._thread.start()

    def submit(self, job: Job) -> bool:
        """Put a job at the end of the queue."""
        self._loop.put(job)
        return True

    def cancel(self, jobs: Collection[int]) -> None:
        """Take jobs out of the queue; one that is being translated runs to its end."""
        self._loop.put(Cancelled(jobs))

    def is_ready(self, stuck_after_s: float) -> bool:
        """True if the thread runs and its step has not taken ``stuck_after_s`` already."""
        return self._thread.is_alive() and self._loop.step_s <= stuck_after_s

    def stop(self, timeout_s: float) -> None:
        """Finish what waits, in at most ``timeout_s``."""
        self._loop.put(Stop())
        self._thread.join(timeout_s)

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            self._on_event(event)


def parts_of(job: Job, translations: list[Translation]) -> list[PartFinished]:
    """The sentences of whole translations, each as a text of its own."""
    return [
        PartFinished(
            job.id, text, index, len(translation.sentences), sentence.source, _part(translation, index)
        )
        for text, translation in enumerate(translations)
        for index, sentence in enumerate(translation.sentences)
    ]


def _part(whole: Translation, index: int) -> Translation:
    sentence = whole.sentences[index]
    source, target = sentence.source_tokens, sentence.target_tokens

    def tokens(given: Any, span: Span, offset: int) -> Any:  # noqa: ANN401 - tuples of tokens, or None
        if given is None:
            return None
        return tuple(
            replace(token, start=token.start - offset, end=token.end - offset)
            for token in given[span.start : span.end]
        )

    links = whole.links
    if links is not None:
        links = tuple(
            replace(link, source=link.source - source.start, target=link.target - target.start)
            for link in links
            if target.start <= link.target < target.end
        )
    text = whole.text[sentence.target.start : sentence.target.end]
    own = replace(
        sentence,
        source=Span(0, sentence.source.end - sentence.source.start),
        target=Span(0, len(text)),
        source_tokens=Span(0, source.end - source.start),
        target_tokens=Span(0, target.end - target.start),
    )
    return replace(
        whole,
        text=text,
        score=sentence.score,
        sentences=(own,),
        source_tokens=tokens(whole.source_tokens, source, sentence.source.start),
        target_tokens=tokens(whole.target_tokens, target, sentence.target.start),
        links=links,
        alternatives=(),
        truncated=sentence.truncated,
        flags=tuple(replace(flag, sentence=0) for flag in whole.flags if flag.sentence == index),
    )
