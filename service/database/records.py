"""Records of the repositories: plain, frozen values that hold no connection to a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

ANONYMOUS = "anonymous"
"""Stands for the key where none is asked for."""

KeyState = Literal["active", "expired", "revoked"]
MemoryState = Literal["importing", "ready", "deleting"]
MemoryJobState = Literal["awaiting_input", "processing", "completed", "failed"]
DocumentState = Literal["queued", "translating", "done", "error"]
JobState = Literal["receiving", "queued", "running", "done", "error", "cancelled"]
JobKind = Literal["lines", "zip"]
WebhookState = Literal["none", "waiting", "delivered", "failed"]


@dataclass(frozen=True)
class KeyLimits:
    """Limits of a key; None is no limit."""

    requests_per_minute: int | None = None
    characters_per_minute: int | None = None
    characters_per_month: int | None = None


@dataclass(frozen=True)
class Key:
    """A key without its secret, which nobody has but its holder."""

    id: str
    name: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    limits: KeyLimits

    def state(self, now: datetime) -> KeyState:
        """Whether the key opens anything at this time."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


@dataclass(frozen=True)
class DayUsage:
    """Usage of one key on one day (UTC)."""

    day: date
    characters: int
    requests: int


@dataclass(frozen=True)
class Reservation:
    """Characters that were counted when a request was taken, and that can be given back once."""

    key_id: str
    day: date
    characters: int


@dataclass(frozen=True)
class Dictionary:
    """The terms of a glossary in one direction, without the terms."""

    source_language: str
    target_language: str
    n_entries: int


@dataclass(frozen=True)
class Glossary:
    """A glossary without its entries, which may be many. It is ready as soon as it is stored.

    Languages and ``n_entries`` are those of its first dictionary, which stays when it is emptied.
    """

    id: str
    key_id: str
    name: str
    source_language: str
    target_language: str
    created_at: datetime
    n_entries: int
    further: tuple[Dictionary, ...] = ()
    ready: bool = True

    @property
    def dictionaries(self) -> list[Dictionary]:
        """Those that have entries."""
        first = Dictionary(self.source_language, self.target_language, self.n_entries)
        return [one for one in (first, *self.further) if one.n_entries]


@dataclass(frozen=True)
class Memory:
    """A translation memory without its units. ``languages``: of source and target."""

    number: int
    id: str
    key_id: str
    name: str
    languages: tuple[str, str]
    n_units: int
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True)
class MemoryJob:
    """An import or export of a translation memory, as DeepL's API has them.

    Attributes:
        secret: opens the upload or the download without a key.
        message: what went wrong, for a person.
        memory_id: of what was imported, or is exported; empty until an import has ended.
        name: of the memory to be.
        n_skipped: units of the file that were left out.
    """

    id: str
    key_id: str
    secret: str
    operation: Literal["import", "export"]
    state: MemoryJobState
    message: str
    memory_id: str
    name: str
    n_skipped: int
    created_at: datetime
    changed_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class DocumentJob:
    """A document on its way.

    Attributes:
        name: file name as uploaded; once done, as it should be called when downloaded.
        options: how to translate it, as JSON values; the store does not look inside.
        message: what went wrong, or that there was nothing to translate, for a person; often empty. Holds no
            user text.
        billed_characters: 0 until done.
    """

    id: str
    key_id: str
    name: str
    options: Mapping[str, Any]
    state: DocumentState
    message: str
    billed_characters: int
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True)
class JobRecord:
    """A job without its texts.

    Attributes:
        number: grows with each job.
        options: how to translate it, as JSON values; the store does not look inside.
        state: receiving until the upload is stored; nobody is told of that state.
        message: why it ended early, for a person. Holds no user text.
        n_items: lines or files.
        n_done: those that have a result or an error.
        n_failed: those that have an error.
        n_characters: counted for the key.
        ended_at: when it was done, failed or was cancelled; None: not yet.
        expires_at: when it is deleted; None: not before it has ended.
    """

    id: str
    number: int
    key_id: str
    kind: JobKind
    options: Mapping[str, Any]
    state: JobState
    message: str
    n_items: int
    n_done: int
    n_failed: int
    n_characters: int
    webhook_state: WebhookState
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime | None

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it will be translated any more."""
        return self.ended_at is not None


@dataclass(frozen=True)
class JobPart:
    """Part of a job that is translated, and written, at once.

    Attributes:
        source: lines or a file, as whoever made the part wrote it; None: it could not be read.
        n_items: lines, or 1 for a file.
        n_characters: to be translated.
        name: of the file; empty for lines.
        errors: number of the line, or name of the file, and what is wrong with it.
    """

    source: bytes | None
    n_items: int
    n_characters: int
    name: str = ""
    errors: tuple[tuple[str, str], ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Webhook:
    """Where the end of a job is told, and the secret that the message is signed with."""

    url: str
    secret: str


@dataclass(frozen=True)
class Delivery:
    """A message that is due. ``attempt`` counts from 1."""

    job: JobRecord
    webhook: Webhook
    attempt: int
