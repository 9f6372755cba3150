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
_BRACE = re.compile(r"'(?=[{}])|[{}]")
MAX_DEPTH = 20
"""Arguments inside each other; whoever reads branches takes a deeper one for plain text."""


@dataclass(frozen=True)
class Argument:
    """An argument with branches: characters [span) of its text."""

    span: Span
    branches: tuple[Span, ...]
    """The inner text of each branch, which may hold arguments itself."""


def arguments(text: str, start: int = 0, end: int | None = None) -> list[Argument]:
    """The arguments with branches in characters [start, end), outermost ones only.

    After a brace that is not closed there is none.
    """
    end = len(text) if end is None else end
    found: list[Argument] = []
    while head := _HEAD.search(text, start, end):
        branches: list[Span] = []
        start = head.end()
        while selector := _SELECTOR.match(text, start, end):
            closing = _closing(text, selector.end(), end)
            if closing < 0:
                return found
            branches.append(Span(selector.end(), closing))
            start = closing + 1
        if branches and (last := _END.match(text, start, end)):
            start = last.end()
            found.append(Argument(Span(head.start(), start), tuple(branches)))
    return found


def _closing(text: str, position: int, end: int) -> int:
    """Where the brace is that closes the one before ``position``; -1: nowhere."""
    depth = 1
    while found := _BRACE.search(text, position, end):
        position = found.end()
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if not depth:
                return found.start()
        else:  # quoted up to the next apostrophe
            quoted = text.find("'", found.start() + 1, end)
            position = end if quoted < 0 else quoted + 1
    return -1
