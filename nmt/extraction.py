"""What stands between a format and the translator: texts out of a file, translations back into it.

Markup (``nmt.markup``) and documents (``nmt.documents``) have this one shape:

    extracted = extract_html(page)
    translations = translator.translate(
        [extract.text for extract in extracted.extracts],
        keep=[extract.keep for extract in extracted.extracts],
        alignment="links",
    )
    page_in_french = extracted.restore(translations)

Both halves are pure functions without torch, so that whoever holds the file (the command line, a route of the
service) needs no model, and the model may live in another thread or process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

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
