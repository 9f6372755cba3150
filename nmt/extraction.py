"""Seam between a format and the translator: texts out of a file, translations back into it.

Markup (``nmt.markup``) and documents (``nmt.documents``) have this one shape:

    extracted = extract_html(page)
    texts, keep = to_translate(extracted.extracts)
    translations = translator.translate(texts, TranslationOptions(alignment="links"), keep=keep)
    page_in_french = extracted.restore(translations)

Both halves are pure functions without torch, so that whoever holds the file (the command line, a route of the
service) needs no model, and the model may live in another thread or process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True)
class Extract:
    """One text for ``Translator.translate``: whole sentences, without the format's own signs."""

    text: str
    keep: tuple[Span, ...] = ()
    """Characters of ``text`` that are copied, not translated: in order, none empty, none overlapping."""


class Extracted(Protocol[ResultT_co]):
    """A file taken apart; put together it is ``str`` for markup, ``bytes`` for documents."""

    @property
    def extracts(self) -> Sequence[Extract]:
        """The texts to translate, in the order of the file."""

    def restore(self, translations: Sequence[Translation]) -> ResultT_co:
        """The file with the translations in the place of its texts.

        Args:
            translations: one for each of ``extracts``, in their order, made with ``alignment="links"``.
                Without links (a model without attention) everything is restored too, placed by proportion.

        Raises:
            ValueError: there are more or fewer translations than extracts.
        """


def to_translate(extracts: Sequence[Extract]) -> tuple[list[str], list[tuple[Span, ...]]]:
    """The texts, and for each the spans to keep: the arguments of ``Translator.translate``."""
    return [extract.text for extract in extracts], [extract.keep for extract in extracts]


def share_out(
    extracted: Sequence[Extracted[ResultT]], translations: Sequence[Translation]
) -> list[tuple[Extracted[ResultT], Sequence[Translation]]]:
    """Each of several files with the translations of its extracts, from those of all extracts in order."""
    shares: list[tuple[Extracted[ResultT], Sequence[Translation]]] = []
    used = 0
    for one in extracted:
        shares.append((one, translations[used : used + len(one.extracts)]))
        used += len(one.extracts)
    return shares


def chunks(extracts: Sequence[Extract], most_characters: int) -> Iterator[Sequence[Extract]]:
    """Neighbours, together of at most ``most_characters`` unless one alone has more."""
    first, n_characters = 0, 0
    for index, extract in enumerate(extracts):
        if index > first and n_characters + len(extract.text) > most_characters:
            yield extracts[first:index]
            first, n_characters = index, 0
        n_characters += len(extract.text)
    if first < len(extracts):
        yield extracts[first:]
