"""The table of formats of memories: which reader and writer a file's suffix asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import BinaryIO, Literal, TypeAlias, get_args

from nmt.errors import InputError
from nmt.memory.segments import Reading, SegmentPair, units_of
from nmt.memory.table import read_tsv, write_tsv
from nmt.memory.tmx import read_tmx, write_tmx
from nmt.memory.unit import TranslationUnit

MemoryFormat: TypeAlias = Literal["tmx", "tsv", "xliff"]
FORMATS: tuple[MemoryFormat, ...] = get_args(MemoryFormat)
_ALIASES: dict[str, MemoryFormat] = {"xlf": "xliff", "txt": "tsv", "tab": "tsv"}
SUFFIXES: tuple[str, ...] = (*FORMATS, *_ALIASES)
MEDIA_TYPES: dict[MemoryFormat, str] = {
    "tmx": "application/x-tmx+xml",
    "tsv": "text/tab-separated-values",
    "xliff": "application/xliff+xml",
}


def format_of(name: str) -> MemoryFormat:
    """By the suffix of a file's name. Raises ``InputError`` for one that is not known."""
    suffix = PurePath(name).suffix[1:].lower()
    found = _ALIASES.get(suffix, suffix)
    for known in FORMATS:
        if found == known:
            return known
    raise InputError(f"a memory is read from .tmx, .tsv, .xliff or .xlf; .{suffix[:20]} is not known")


def read_units(stream: BinaryIO, kind: MemoryFormat, reading: Reading) -> Iterator[TranslationUnit]:
    """The units of a file; ``reading`` names the languages, or learns them, and counts.

    Raises:
        InputError: the file is not what it says, or has no unit in these languages.
    """
    if kind == "tsv" and reading.languages is None:
        raise InputError(
            "a table does not name its languages; name them as source and target (--from and --to)"
        )
    yield from units_of(_pairs(stream, kind), reading)


def _pairs(stream: BinaryIO, kind: MemoryFormat) -> Iterator[SegmentPair]:
    if kind == "tmx":
        return read_tmx(stream)
    if kind == "tsv":
        return read_tsv(stream)
    from nmt.memory.xliff import read_xliff_units  # noqa: PLC0415 - lxml is of the extra documents

    return read_xliff_units(stream)


def write_units(
    units: Iterable[TranslationUnit], kind: MemoryFormat, languages: tuple[str, str]
) -> Iterator[bytes]:
    """A file of units, in pieces."""
    if kind == "tmx":
        return write_tmx(units, languages)
    if kind == "tsv":
        return write_tsv(units)
    from nmt.memory.xliff import write_xliff  # noqa: PLC0415 - lxml is of the extra documents

    return write_xliff(units, languages)
