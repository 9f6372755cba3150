"""The words between the service and its engine's process, as typed JSON: checked on both sides.

An error travels as its type and message if it is one of ``nmt.errors``, whose messages hold no text of users;
of any other only the type's name does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

import nmt.errors
from nmt.config import EngineName, GenerationConfig, ModelFolderConfig
from nmt.options import TranslationOptions
from nmt.pipeline.result import Translation
from nmt.spans import Span
from service.work.engine.base import Job


class Message(BaseModel):
    """One message; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    def encoded(self) -> bytes:
        """As JSON."""
        return self.model_dump_json().encode()


class Pair(Message):
    """Another pair of the languages of a model, which is loaded once for all."""

    source: str | None
    target: str | None
    reverse: str | None = None
    """As of ``Start``."""


class Start(Message):
    """The first word to an engine: what to load."""

    type: Literal["start"] = "start"
    model: str | None
    source: str | None = None
    """Which of its languages a model of several reads; None: the first."""
    target: str | None = None
    reverse: str | None = None
    """A model of the other direction; None: one that ships, if there is one."""
    others: tuple[Pair, ...] = ()
    """Further pairs of the same model."""
    device: str
    engine: EngineName = "auto"
    """Decoder, see ``nmt.searchers.choose``."""
    batch_max_tokens: int
    log_level: Literal["debug", "info", "warning", "error"]
    log_format: Literal["json", "console"]


class Translate(Message):
    """A job."""

    type: Literal["translate"] = "translate"
    id: int
    texts: list[str]
    options: TranslationOptions
    keep: list[list[tuple[int, int]]] | None
    key_id: str
    parts: bool
    background: bool = False

    @classmethod
    def of(cls, job: Job) -> Translate:
        """From a job."""
        keep = job.keep
        return cls(
            id=job.id,
            texts=list(job.texts),
            options=job.options,
            keep=None if keep is None else [[(span.start, span.end) for span in text] for text in keep],
            key_id=job.key_id,
            parts=job.parts,
            background=job.background,
        )

    def job(self) -> Job:
        """The job again."""
        keep = self.keep
        return Job(
            tuple(self.texts),
            self.options,
            None if keep is None else tuple(tuple(Span(*span) for span in text) for text in keep),
            self.key_id,
            parts=self.parts,
            background=self.background,
            id=self.id,
        )


class Cancel(Message):
    """Jobs that nobody waits for any more."""

    type: Literal["cancel"] = "cancel"
    ids: list[int]


class Ready(Message):
    """The engine has loaded its model; of several pairs it says so once for each, all in one frame."""

    type: Literal["ready"] = "ready"
    config: ModelFolderConfig
    generation: GenerationConfig
    has_formality: bool


class Error(Message):
    """An exception, ``job`` None: of the engine itself, which then ends."""

    type: Literal["error"] = "error"
    job: int | None
    kind: str
    message: str

    @classmethod
    def of(cls, job: int | None, error: Exception) -> Error:
        """From an exception."""
        is_ours = isinstance(error, nmt.errors.PasserelleError)
        return cls(job=job, kind=type(error).__name__, message=str(error) if is_ours else "")

    def exception(self) -> Exception:
        """The same error of ``nmt.errors``, or a ``RuntimeError`` that names the type."""
        known = getattr(nmt.errors, self.kind, None)
        if isinstance(known, type) and issubclass(known, nmt.errors.PasserelleError):
            return known(self.message)
        return RuntimeError(f"the engine failed with {self.kind}; its log has more")


class StartedMessage(Message):
    """The model has begun with a job."""

    type: Literal["started"] = "started"
    job: int


class TokenizedMessage(Message):
    """Tokens of one text of a job."""

    type: Literal["tokenized"] = "tokenized"
    job: int
    n_tokens: int


class PartMessage(Message):
    """One sentence."""

    type: Literal["part"] = "part"
    job: int
    text: int
    sentence: int
    n_sentences: int
    source: tuple[int, int]
    translation: Translation


class DoneMessage(Message):
    """All translations of a job."""

    type: Literal["done"] = "done"
    job: int
    translations: list[Translation]


class HeartbeatMessage(Message):
    """Sign of life, sent by a thread beside the model's."""

    type: Literal["heartbeat"] = "heartbeat"
    n_running: int
    n_waiting: int
    fill: float
    n_failures: int
    step_s: float
    """Seconds that the step being taken has lasted."""
    pair: int = 0
    """Of which of the engine's pairs the other numbers are."""


ToEngine = Annotated[Start | Translate | Cancel, Field(discriminator="type")]
FromEngine = Annotated[
    Ready | Error | StartedMessage | TokenizedMessage | PartMessage | DoneMessage | HeartbeatMessage,
    Field(discriminator="type"),
]
_TO_ENGINE: TypeAdapter[Any] = TypeAdapter(ToEngine)
_FROM_ENGINE: TypeAdapter[Any] = TypeAdapter(list[FromEngine])


def to_engine(encoded: bytes) -> Start | Translate | Cancel:
    """Read what the service sent."""
    message: Start | Translate | Cancel = _TO_ENGINE.validate_json(encoded)
    return message


def news(messages: Sequence[Message]) -> bytes:
    """Message of the engine: all that a step has to tell, at once."""
    return b"[" + b",".join(message.encoded() for message in messages) + b"]"


def from_engine(
    encoded: bytes,
) -> list[Ready | Error | StartedMessage | TokenizedMessage | PartMessage | DoneMessage | HeartbeatMessage]:
    """Read what the engine sent with ``news``."""
    messages: list[
        Ready | Error | StartedMessage | TokenizedMessage | PartMessage | DoneMessage | HeartbeatMessage
    ] = _FROM_ENGINE.validate_json(encoded)
    return messages
