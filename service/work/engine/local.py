"""An engine in a thread, around anything that translates: batches of whole requests, in order of arrival.

``nmt serve`` has an engine in a process of its own (``service.work.engine.process``). This one is for
programs that embed the app with a translator they already have, and for tests.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog

from nmt.batching.events import Begun, Failed, Finished, PartFinished
from nmt.spans import Span
from service.http.logs import describe
from service.work.engine.base import Batch, Engine, Event, Job

if TYPE_CHECKING:
    from nmt.translator import Translation
    from service.work.interface import TextTranslator

log = structlog.get_logger()


class LocalEngine(Engine):
    """A queue and the thread that owns the translator.

    Args:
        translator: used from the thread only; ``Translator.warm_up`` first spares a request the wait for it.
        batch_max_characters: what waits with equal options is gathered up to this many characters.
    """

    def __init__(self, translator: TextTranslator, *, batch_max_characters: int = 10_000) -> None:
        self.config = translator.config
        self.generation = translator.generation
        self.has_formality = translator.has_formality
        self._translator = translator
        self._batch_max_characters = batch_max_characters
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._busy_since: float | None = None
        self._thread = threading.Thread(target=self._run, name="model", daemon=True)

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Start the thread."""
        self._on_event = on_event
        self._thread.start()

    def submit(self, job: Job) -> bool:
        """Put a job at the end of the queue."""
        with self._changed:
            self._waiting.append(job)
            self._changed.notify()
        return True

    def cancel(self, jobs: Collection[int]) -> None:
        """Take jobs out of the queue; one that the model has begun runs to its end."""
        with self._changed:
            self._waiting = deque(job for job in self._waiting if job.id not in jobs)

    def is_ready(self, stuck_after_s: float) -> bool:
        """True if the thread runs and its batch has not taken ``stuck_after_s`` already."""
        busy_since = self._busy_since
        stuck = busy_since is not None and time.monotonic() - busy_since > stuck_after_s
        return self._thread.is_alive() and not stuck

    def stop(self, timeout_s: float) -> None:
        """Finish what waits, in at most ``timeout_s``."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (batch := self._next_batch()) is not None:
            self._busy_since = time.monotonic()
            self._translate(batch)
            self._busy_since = None

    def _next_batch(self) -> list[Job] | None:
        """Wait for work; the oldest job and those after it that may share its batch. None: stop."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            if not self._waiting:
                return None
            first = self._waiting[0]
            room = self._batch_max_characters
            batch: list[Job] = []
            for job in list(self._waiting):
                n_characters = sum(map(len, job.texts))
                alike = job.options == first.options and job.keep is None
                if job is first or (alike and n_characters <= room):
                    batch.append(job)
                    self._waiting.remove(job)
                    room -= n_characters
        for job in batch:
            self._on_event(Begun(job.id))
        return batch

    def _translate(self, batch: list[Job]) -> None:
        """One call for all; if that fails, one call each, so that nobody pays for another's request."""
        started = time.monotonic()
        failed = False
        try:
            self._answer(batch)
        except Exception as error:
            if len(batch) == 1:
                self._on_event(Failed(batch[0].id, error))
            else:
                failed = True
                log.warning("batch_failed", n_requests=len(batch), **describe(error))
                for job in batch:
                    try:
                        self._answer([job])
                    except Exception as own_error:
                        self._on_event(Failed(job.id, own_error))
        n_texts = sum(len(job.texts) for job in batch)
        n_characters = sum(len(text) for job in batch for text in job.texts)
        self._on_event(Batch(len(batch), n_texts, n_characters, time.monotonic() - started, failed))

    def _answer(self, batch: list[Job]) -> None:
        """Translate and hand out the results. Raises before any result is handed out, or not at all."""
        texts = [text for job in batch for text in job.texts]
        translations = self._translator.translate(texts, batch[0].options, keep=batch[0].keep)
        if len(translations) != len(texts):
            raise RuntimeError(f"{len(texts)} texts but {len(translations)} translations")
        first = 0
        for job in batch:
            own = translations[first : first + len(job.texts)]
            first += len(job.texts)
            if job.parts:
                for part in parts_of(job, own):
                    self._on_event(part)
            self._on_event(Finished(job.id, own))


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
