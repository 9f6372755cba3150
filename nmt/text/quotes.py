"""Quotation marks of one kind in a source become marks of one kind in its translation, in every sentence.

A model writes now one kind and now another. Here the kind follows from that of the source alone, so that all
sentences of a text agree, however they are batched: straight marks stay straight, “ ” becomes « » in French,
and « » becomes " in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from nmt.spans import Span, overlap
from nmt.text.edits import Edit

Kind = Literal["straight", "curly", "angle"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys('"', "straight"),
    **dict.fromkeys("“”„", "curly"),
    **dict.fromkeys("«»", "angle"),
}
_WRITTEN: dict[Kind, tuple[str, str]] = {
    "straight": ('"', '"'),
    "curly": ("“", "”"),
    "angle": ("« ", " »"),
}
_KIND_OF: dict[str, dict[Kind, Kind]] = {
    "fr": {"straight": "straight", "curly": "angle", "angle": "angle"},
    "en": {"straight": "straight", "curly": "curly", "angle": "straight"},
}
"""Language -> kind of the source -> kind of the translation, as most of four development sets have it."""
QUOTES = frozenset(_KINDS)
_MARK = re.compile(r"[“”„]|«[ \u00a0\u202f]?|[ \u00a0\u202f]?»|\"")
_BEFORE_OPENING = " \t\u00a0\u202f([{«“„—–-/'’"


class _Mark(NamedTuple):
    span: Span
    """With the space that belongs to « and »."""
    kind: Kind
    opens: bool


def quote_edits(source: str, written: str, language: str, kept: Sequence[Span] = ()) -> list[Edit]:
    """The edits that give the quotation marks of a translation the kind that those of its source ask for.

    A sentence with marks of two kinds gets them in order, if its translation has as many.

    Args:
        source: a sentence.
        written: its translation.
        language: ISO 639-1 code of that; of one that is not known nothing is changed.
        kept: spans of ``written`` that stay as they are.
    """
    if language not in _KIND_OF:
        return []
    read = [mark.kind for mark in _marks(source)]
    there = [mark for mark in _marks(written) if not any(overlap(mark.span, span) for span in kept)]
    if len(set(read)) == 1:
        read = read[:1] * len(there)
    if len(read) != len(there):
        return []
    wanted = [_KIND_OF[language][kind] for kind in read]
    return [
        Edit(mark.span, _WRITTEN[kind][not mark.opens])
        for mark, kind in zip(there, wanted, strict=True)
        if mark.kind != kind
    ]


def _marks(text: str) -> Iterator[_Mark]:
    """Quotation marks in order; a straight one after a digit that closes nothing is rather inches."""
    is_open = False
    for match in _MARK.finditer(text):
        sign = match.group().strip()
        opens = sign in "“„«"
        if sign == '"':
            before, after = text[: match.start()][-1:], text[match.end() :][:1]
            opens = not is_open and (not before or before in _BEFORE_OPENING)
            if not opens and not is_open and (before.isdigit() or after.isalnum()):
                continue
            is_open = opens
        yield _Mark(Span(*match.span()), _KINDS[sign], opens)
