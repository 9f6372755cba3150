r"""Units as tab-separated values in UTF-8: source, a tab, target; a line each.

A line break, tab or backslash within a text is written as in PostgreSQL's COPY: ``\n``, ``\t``, ``\\``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from nmt.errors import InputError
from nmt.memory.segments import SegmentPair
from nmt.memory.unit import MOST_CHARACTERS, TranslationUnit

_LONGEST_LINE_BYTES = 16 * MOST_CHARACTERS
_WRITTEN = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_READ = {written: read for read, written in _WRITTEN.items()}
_ESCAPE = re.compile(r"\\[\\tnr]")


def read_tsv(stream: BinaryIO) -> Iterator[SegmentPair]:
    """The units of a table, in their order; blank lines are none.

    Raises:
        InputError: a line is not UTF-8, has not two columns or is too long; its number is named.
    """
    number = 0
    while line := stream.readline(_LONGEST_LINE_BYTES):
        number += 1
        if len(line) == _LONGEST_LINE_BYTES:
            raise InputError(f"line {number} has over {_LONGEST_LINE_BYTES} bytes; is this a table of texts?")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(f"line {number} is not UTF-8 at byte {error.start}; convert it first") from None
        if not text.strip():
            continue
        columns = text.split("\t")
        if len(columns) != 2:
            raise InputError(f"line {number} has {len(columns)} columns; write a source, a tab and a target")
        yield SegmentPair("", tuple(("", _ESCAPE.sub(_unescaped, column)) for column in columns))


def write_tsv(units: Iterable[TranslationUnit]) -> Iterator[bytes]:
    """A table, in pieces."""
    for unit in units:
        yield f"{_escaped(unit.source)}\t{_escaped(unit.target)}\n".encode()


def _unescaped(match: re.Match[str]) -> str:
    return _READ[match.group()]


def _escaped(text: str) -> str:
    return "".join(_WRITTEN.get(character, character) for character in text)
