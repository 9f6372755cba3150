r"""SubStation Alpha (ssa, ass): texts of dialogues; styles, times, comments and drawings stay byte for byte.

Override tags (``{\i1}``, ``{\pos(1,2)}``) stay with their words, ``\N`` ends a line, ``\h`` is a hard space;
``nmt.documents.cues`` does the rest. Source: "Advanced SubStation Alpha Specification".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nmt.documents.cues import Cue, cue_texts, units_of
from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document
from nmt.errors import InputError

_SECTION = re.compile(r"\[([^\]]+)\]\s*")
_TIME = re.compile(r"\s*(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)\s*")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
_NOTE = re.compile(r"\{(?=[^\\{}][^{}]*\})")
_NOTE_MARK = "{\\\ue0fd"
"""Begins a comment in braces while it is an override tag to others."""


@dataclass(frozen=True)
class _Dialogue:
    """A line of events; its text is characters [start, end) of the file."""

    start: int
    end: int
    cue: Cue


def read_ass(data: bytes, *, suffix: str = "ass") -> ExtractedDocument:
    """A script of subtitles; see ``nmt.documents.read_document``."""
    source = decode(data, only_lf=True)
    dialogues = list(_dialogues(source.text))
    cues = [dialogue.cue for dialogue in dialogues]
    units = units_of(cues, str, str)

    def write(restored: Sequence[list[str]]) -> bytes:
        pieces: list[str] = []
        read = 0
        before = cue_texts(units, [[one.written for one in unit.utterances] for unit in units], len(cues))
        for dialogue, old, new in zip(dialogues, before, cue_texts(units, restored, len(cues)), strict=True):
            if new != old:
                pieces += [source.text[read : dialogue.start], _written(new)]
                read = dialogue.end
        return source.encode("".join([*pieces, source.text[read:]]))

    return document(units, write, suffix=suffix)


def _shown(text: str) -> str:
    return (
        _NOTE.sub(lambda _: _NOTE_MARK, text)
        .replace("\\N", "\n")
        .replace("\\n", " ")
        .replace("\\h", "\u00a0")
    )


def _written(text: str) -> str:
    text = text.replace("\n", "\\N").replace("\u00a0", "\\h")
    return text.replace(_NOTE_MARK, "{")


def _dialogues(text: str) -> Iterator[_Dialogue]:
    """The dialogues of the section of events.

    Raises:
        InputError: there is no such section, or a line in it is malformed; the line is named.
    """
    section, names, start, found = "", list[str](), 0, False
    for number, line in enumerate(text.split("\n"), start=1):
        heading = _SECTION.fullmatch(line)
        if heading:
            section = heading[1].strip().lower()
            found = found or section == "events"
        elif section == "events":
            kind, _, rest = line.partition(":")
            if kind.strip().lower() == "format":
                names = [name.strip().lower() for name in rest.split(",")]
            elif kind.strip().lower() == "dialogue":
                yield _dialogue(names, rest, start + len(line), number)
        start += len(line) + 1
    if not found:
        raise InputError("the document is no ass or ssa: it has no section [Events]; check its format")


def _dialogue(names: Sequence[str], rest: str, end: int, number: int) -> _Dialogue:
    fields = rest.split(",", max(0, len(names) - 1))
    if not names or names[-1] != "text" or len(fields) != len(names):
        raise InputError(
            f"the document is no ass or ssa: line {number} has not the fields of Format; correct it"
        )
    values = dict(zip(names, fields, strict=True))
    times = [_TIME.fullmatch(values.get(name, "")) for name in ("start", "end")]
    seconds = [60 * (60 * int(time[1]) + int(time[2])) + float(time[3]) for time in times if time]
    if len(seconds) < 2:
        raise InputError(f"the document is no ass or ssa: line {number} has no times; correct it")
    text = values["text"]
    shown = "" if _DRAWING.search(text) else _shown(text)
    return _Dialogue(end - len(text), end, Cue(shown, *seconds))
