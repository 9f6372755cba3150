"""French typography as an option: « » for quotes, no-break spaces before ; : ! ? » and after «.

The spaces are those of the Lexique des règles typographiques en usage à l'Imprimerie nationale: U+00A0 before
the colon and inside « », U+202F before ; ! and ?. A grouped number gets U+202F between its groups.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt.spans import Span
from nmt.text.edits import Edit

NO_BREAK, NARROW = "\u00a0", "\u202f"
_SPACED = re.compile(r"(?<=[\w)»\]\"”%€$°'’])[ \u00a0\u202f]*([;!?]+|:(?=\s|$))")
_OPENING = re.compile(r"«[ \u00a0\u202f]*")
_CLOSING = re.compile(r"[ \u00a0\u202f]*»")
_CURLY = re.compile(r"“\s*([^“”]*?)\s*”")
_STRAIGHT = re.compile(r'(?<!\w)"\s*([^"]*?)\s*"(?!\w)')
_GROUP = re.compile(r"(?<=\d)[ \u00a0](?=\d{3}(?!\d))")


def french_typography(text: str, kept: Sequence[Span] = ()) -> list[Edit]:
    """The edits that make ``text`` follow French typography; ``kept`` spans are left as they are."""
    edits: list[Edit] = []

    def add(start: int, end: int, replacement: str) -> None:
        inside = any(span.start < max(end, start + 1) and start < span.end for span in kept)
        taken = any(edit.span.start < end and start < edit.span.end for edit in edits)
        if not inside and not taken and text[start:end] != replacement:
            edits.append(Edit(Span(start, end), replacement))

    for pattern in (_CURLY, _STRAIGHT):
        for match in pattern.finditer(text):
            if match[1]:
                add(match.start(), match.start(1), f"«{NO_BREAK}")
                add(match.end(1), match.end(), f"{NO_BREAK}»")
    for match in _OPENING.finditer(text):
        add(match.start(), match.end(), f"«{NO_BREAK}")
    for match in _CLOSING.finditer(text):
        add(match.start(), match.end(), f"{NO_BREAK}»")
    for match in _SPACED.finditer(text):
        add(match.start(), match.start(1), NO_BREAK if match[1] == ":" else NARROW)
    for match in _GROUP.finditer(text):
        add(match.start(), match.end(), NARROW)
    return sorted(edits, key=lambda edit: edit.span.start)
