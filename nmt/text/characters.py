"""Characters that readers do not see, and accents that stand by themselves: the model reads neither."""

from __future__ import annotations

import re
import unicodedata

from nmt.spans import Span
from nmt.text.edits import Edit

INVISIBLE = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner, byte order mark."""
_COMBINING = "\u0300-\u036f"
_UNSEEN = re.compile(f"[{INVISIBLE}]+|[^\\W\\d_][{_COMBINING}]+")


def unseen(character: str) -> bool:
    """Whether a character is invisible, or an accent for the letter before it."""
    return character in INVISIBLE or unicodedata.combining(character) > 0


def composed(text: str) -> list[Edit]:
    """The edits after which letters carry their accents (normal form C) and nothing is invisible."""
    if text.isascii():
        return []
    edits = []
    for match in _UNSEEN.finditer(text):
        written = unicodedata.normalize("NFC", match.group().strip(INVISIBLE))
        if written != match.group():
            edits.append(Edit(Span(*match.span()), written))
    return edits
