"""A document taken apart: the list of its texts, and how their translations make a file again.

A reader (one module for each format) finds *parts*, each an ``Extracted`` of its own: a paragraph, a
string, a cue. ``document`` strings their extracts together and deals the translations out again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from nmt.extraction import Extract, Extracted

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

PartT = TypeVar("PartT")

NO_TEXT = "nothing was translated: there is no text to translate in the document"
NOTHING_OPEN = "nothing was translated: all {} texts of the document have a translation already"
"""Those can be translated anew, see ``everything`` of ``nmt.documents.read_document``."""


@dataclass(frozen=True)
class ExtractedDocument:
    """A document between reading and writing; an ``Extracted[bytes]``."""

    extracts: tuple[Extract, ...]
    suffix: str
    """Of the result, without the dot: that of the source, but "po" for a "pot"."""
    _write: Callable[[Sequence[Translation]], bytes]
    n_done: int = 0
    """How many texts have a translation already, and are left as they are."""
    notices: tuple[str, ...] = ()
    """What whoever asks for the translation should know, in words; nothing of the document's text."""

    def restore(self, translations: Sequence[Translation]) -> bytes:
        """The document with the translations in the place of its texts.

        Args:
            translations: one for each of ``extracts``, in their order, made with ``alignment="links"``.

        Raises:
            ValueError: there are more or fewer translations than extracts.
        """
        check_count(self.extracts, translations)
        return self._write(translations)


@dataclass(frozen=True)
class PlainText:
    """A text without any marks; an ``Extracted[str]``."""

    text: str

    @property
    def extracts(self) -> tuple[Extract, ...]:
        """The text itself; nothing where it has no letter to translate."""
        return (Extract(self.text),) if has_letters(self.text) else ()

    def restore(self, translations: Sequence[Translation]) -> str:
        """The translation as it is."""
        check_count(self.extracts, translations)
        return translations[0].text if translations else self.text


def document(
    parts: Sequence[Extracted[PartT]],
    write: Callable[[Sequence[PartT]], bytes],
    *,
    suffix: str,
    n_done: int = 0,
    notices: Sequence[str] = (),
) -> ExtractedDocument:
    """Put the parts of a document together.

    Args:
        parts: what is to be translated, in the order of the file.
        write: makes the file from the restored parts; called for each restore, must leave the source alone.
        suffix: of the result, without the dot.
        n_done: how many texts have a translation already, and are left as they are.
        notices: what the reader of the format has to say.
    """
    own_extracts = [tuple(part.extracts) for part in parts]

    def restore(translations: Sequence[Translation]) -> bytes:
        restored: list[PartT] = []
        read = 0
        for part, own in zip(parts, own_extracts, strict=True):
            restored.append(part.restore(translations[read : read + len(own)]))
            read += len(own)
        return write(restored)

    extracts = tuple(extract for own in own_extracts for extract in own)
    if not extracts:
        notices = (*notices, NOTHING_OPEN.format(n_done) if n_done else NO_TEXT)
    return ExtractedDocument(extracts, suffix, restore, n_done, tuple(notices))


def check_count(extracts: Sequence[Extract], translations: Sequence[Translation]) -> None:
    """Raises ``ValueError`` unless there is one translation for each extract."""
    if len(extracts) != len(translations):
        raise ValueError(f"{len(translations)} translations for {len(extracts)} extracts")


def has_letters(text: str) -> bool:
    """Whether there is anything to translate in ``text``; what holds a lone surrogate is no text."""
    return any(character.isalpha() for character in text) and not any(
        "\ud800" <= character <= "\udfff" for character in text
    )
