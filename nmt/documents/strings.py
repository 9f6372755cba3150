"""A string of a resource file (po, json, yaml): plain text, or with tags in it, which then stay tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nmt.documents.extracted import PlainText
from nmt.documents.inline import Item
from nmt.documents.messages import MessageText, message
from nmt.extraction import Extract, Extracted
from nmt.markup import extract_html
from nmt.text.message_format import arguments

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_REFERENCE = re.compile(r"&(?:\w+|#\w+);")


@dataclass(frozen=True)
class _BareAmpersands:
    """A string with tags that writes "&" as it is, and goes on to; an ``Extracted[str]``."""

    inner: Extracted[str]

    @property
    def extracts(self) -> Sequence[Extract]:
        """Those of the string."""
        return self.inner.extracts

    def restore(self, translations: Sequence[Translation]) -> str:
        """The string with its texts translated."""
        return self.inner.restore(translations).replace("&amp;", "&")


def string_part(text: str) -> Extracted[str]:
    """What takes ``text`` apart; a "<" or "&" without any tag is plain text."""
    if _TAG.search(text):
        markup = extract_html(text, keeps_lines=True)
        return _BareAmpersands(markup) if "&" in text and not _REFERENCE.search(text) else markup
    return MessageText(message([Item("text", text=text)])) if arguments(text) else PlainText(text)
