"""ICU MessageFormat: where the texts of ``{n, plural, one {# file} other {# files}}`` stand.

Only arguments with branches (plural, select, selectordinal) are found; ``{name}`` alone is a placeholder of
its text. Source: the grammar of ICU's ``MessageFormat`` and its rules for apostrophes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nmt.spans import Span

_HEAD = re.compile(r"\{\s*[\w.\-]+\s*,\s*(?:plural|select|selectordinal)\s*,\s*(?:offset:\s*\d+\s*)?")
_SELECTOR = re.compile(r"\s*(?:=\d+|[\w\-]+)\s*\{")
_END = re.compile(r"\s*\}")
MAX_DEPTH = 20
"""Arguments inside each other; a deeper one is plain text."""


@dataclass(frozen=True)
class Argument:
    """An argument with branches: characters [span) of its text."""

    span: Span
    branches: tuple[Span, ...]
    """The inner text of each branch, which may hold arguments itself."""


def arguments(text: str, start: int = 0, end: int | None = None) -> list[Argument]:
    """The arguments with branches in characters [start, end), outermost ones only."""
    return _arguments(text, start, len(text) if end is None else end, depth=0)


def _arguments(text: str, start: int, end: int, *, depth: int) -> list[Argument]:
    found: list[Argument] = []
    while head := _HEAD.search(text, start, end):
        argument = _argument(text, head.start(), head.end(), end) if depth < MAX_DEPTH else None
        if argument is not None:
            found.append(argument)
        start = argument.span.end if argument else head.end()
    return found


def _argument(text: str, start: int, position: int, end: int) -> Argument | None:
    branches: list[Span] = []
    while selector := _SELECTOR.match(text, position, end):
        closing = _closing(text, selector.end(), end)
        if closing < 0:
            return None
        branches.append(Span(selector.end(), closing))
        position = closing + 1
    last = _END.match(text, position, end)
    return Argument(Span(start, last.end()), tuple(branches)) if last and branches else None


def _closing(text: str, position: int, end: int) -> int:
    """Where the brace is that closes the one before ``position``; -1: nowhere."""
    depth = 1
    while position < end:
        character = text[position]
        if character == "'" and text[position + 1 : position + 2] in ("{", "}"):
            quoted = text.find("'", position + 1, end)
            position = end if quoted < 0 else quoted
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                return position
        position += 1
    return -1
