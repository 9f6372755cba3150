"""Interface of an engine: jobs go in, events come out, on whatever thread."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass

from nmt.batching.events import Failed, Finished, PartFinished, Started, Tokenized
from nmt.config import GenerationConfig, ModelFolderConfig
from nmt.options import TranslationOptions
from nmt.spans import Span


class EngineDownError(Exception):
    """The engine died over a job twice, or cannot be started; to be tried again in a while."""


@dataclass(frozen=True)
class Job:
    """One request."""

    texts: tuple[str, ...]
    options: TranslationOptions
    keep: tuple[tuple[Span, ...], ...] | None = None
    """For each text the characters that are copied."""
    key_id: str = "anonymous"
    """Whose request it is: the model is shared evenly between keys."""
    deadline_s: float | None = None
    """Seconds after which nobody waits any more; None: as the settings say."""
    parts: bool = False
    """Report each sentence as soon as it and those before it are there."""
    background: bool = False
    """Nobody waits for it: requests of people go first."""
    id: int = 0
    """Given by the scheduler."""
    memory: tuple[str, float] | None = None
    """Id of a translation memory and threshold: where the texts are looked up before an engine gets them."""


@dataclass(frozen=True)
class EngineDown:
    """The engine died, with all it had."""


@dataclass(frozen=True)
class EngineUp:
    """There is an engine again; it has no jobs."""


@dataclass(frozen=True)
class BatchDone:
    """Batch that an engine that translates request by request has just done."""

    n_jobs: int
    n_texts: int
    n_characters: int
    seconds: float
    failed: bool


@dataclass(frozen=True)
class Heartbeat:
    """How an engine of running batches is doing; every second or so."""

    n_running: int
    """Sentences in the running batches."""
    n_waiting: int
    """Sentences that wait to join."""
    fill: float
    """Tokens searched now, as a share of what may be searched at once."""
    n_failures: int
    """Batches that failed as a whole since the last heartbeat; their sentences were tried again alone."""
    pair: int = 0
    """Which of the pairs of a shared engine it is of."""


Event = Started | Tokenized | PartFinished | Finished | Failed | EngineDown | EngineUp | BatchDone | Heartbeat
"""Events of requests, by the ids of their jobs (``nmt.batching.events``), and of the engine itself."""


class Engine(ABC):
    """Translates jobs. Its methods may be called from any thread."""

    config: ModelFolderConfig
    generation: GenerationConfig
    has_formality: bool
    """Whether the model can choose how people are addressed."""

    @abstractmethod
    def start(self, on_event: Callable[[Event], None]) -> None:
        """Begin; ``on_event`` is called from the engine's own thread."""

    @abstractmethod
    def submit(self, job: Job) -> bool:
        """Take a job; False: there is no engine now, and ``EngineUp`` will ask for all jobs."""

    @abstractmethod
    def cancel(self, jobs: Collection[int]) -> None:
        """Forget jobs as soon as may be."""

    @abstractmethod
    def is_ready(self, stuck_after_s: float) -> bool:
        """Whether jobs are being translated, and what is being done has not taken too long already."""

    @abstractmethod
    def stop(self, timeout_s: float) -> None:
        """End, with what was submitted done if that takes no longer than ``timeout_s``."""
