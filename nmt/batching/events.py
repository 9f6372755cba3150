"""Events of ``nmt.batching.continuous`` about its requests; without torch, for those who only listen."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation


@dataclass(frozen=True)
class Started:
    """The first sentence of a request is being searched."""

    request: Hashable


@dataclass(frozen=True)
class Tokenized:
    """A text of a request has been split and tokenised."""

    request: Hashable
    n_tokens: int
    """Source tokens, EOS of each sentence counted."""


@dataclass(frozen=True)
class PartFinished:
    """The next sentence of a text, in order."""

    request: Hashable
    text: int
    sentence: int
    n_sentences: int
    source: Span
    translation: Translation
    """Translation of this sentence as a text of its own."""


@dataclass(frozen=True)
class Finished:
    """All of a request."""

    request: Hashable
    translations: list[Translation]


@dataclass(frozen=True)
class Failed:
    """A request that cannot be translated."""

    request: Hashable
    error: Exception


Event = Started | Tokenized | PartFinished | Finished | Failed
