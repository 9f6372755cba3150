r"""Java's properties: values change; keys, separators, comments and blank lines stay byte for byte.

Escapes and continuation lines are read; a value that was in lines is in lines again. The file is UTF-8 or, as
before Java 9, Latin-1; one in ASCII alone gets ``\u00e9``, which both read. In a ``MessageFormat`` pattern
(``It''s {0}``) apostrophes are doubled. Source: ``java.util.Properties.load``, ``java.text.MessageFormat``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nmt.documents.encoding import TextFile, decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.strings import string_part
from nmt.errors import InputError

_END = r"(?:\r\n|[\r\n])"
_CONTINUED = rf"\\{_END}[ \t\f]*"
_LINE = re.compile(
    rf"[ \t\f]*(?:(?P<comment>[#!][^\r\n]*)|(?P<key>(?:\\[^\r\n]|{_CONTINUED}|[^\\=:\s])*)"
    rf"(?P<separator>(?:{_CONTINUED}|[ \t\f])*(?:[=:](?:{_CONTINUED}|[ \t\f])*)?)"
    rf"(?P<value>(?:{_CONTINUED}|\\[^\r\n]|[^\\\r\n])*\\?))"
)
_BREAK = re.compile(_CONTINUED)
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9A-Fa-f]{4})|(?P<one>.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_WRITTEN = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"})
_PATTERN = re.compile(r"\{\d+\s*[,}]")
_CHOICE = re.compile(r"\{\d+\s*,\s*choice\b")


@dataclass(frozen=True)
class _Value:
    """Characters [start, end) of the file, and what they say."""

    start: int
    end: int
    text: str
    doubles: bool
    """Its apostrophes are doubled."""


def read_properties(data: bytes) -> ExtractedDocument:
    """A properties file; see ``nmt.documents.read_document``."""
    source = _decoded(data)
    found = _values(source.text)
    values = [value for value in found if has_letters(value.text) and not _CHOICE.search(value.text)]
    n_choices = sum(1 for value in found if _CHOICE.search(value.text))

    def write(restored: Sequence[str]) -> bytes:
        pieces: list[str] = []
        read = 0
        for value, text in zip(values, restored, strict=True):
            raw = source.text[value.start : value.end]
            new = raw if text == value.text else _written(text, raw, value, source)
            pieces += [source.text[read : value.start], new]
            read = value.end
        return source.encode("".join([*pieces, source.text[read:]]))

    notices = [f"{n_choices} texts are left as they are: they are choice patterns of MessageFormat"]
    parts = [string_part(value.text) for value in values]
    return document(parts, write, suffix="properties", notices=notices if n_choices else ())


def _decoded(data: bytes) -> TextFile:
    try:
        return decode(data)
    except InputError:
        if b"\0" in data:
            raise
        return replace(decode(data.decode("latin-1").encode()), mark=b"", codec="latin-1")


def _values(text: str) -> list[_Value]:
    """The value of each entry.

    Raises:
        InputError: an escape is malformed; the line is named.
    """
    values: list[_Value] = []
    position = 0
    while position < len(text):
        line = _LINE.match(text, position)
        assert line, "every line is one"
        if line["comment"] is None and line["value"]:
            start, end = line.span("value")
            values.append(_value(line["value"], start, end, text))
        position = line.end()
        position += 2 if text.startswith("\r\n", position) else 1
    return values


def _value(raw: str, start: int, end: int, text: str) -> _Value:
    said = _BREAK.sub("", raw)
    shown = _ESCAPE.sub(
        lambda match: (
            chr(int(match["code"], 16)) if match["code"] else _ESCAPES.get(match["one"], match["one"])
        ),
        said,
    )
    if re.search(r"(?<!\\)(?:\\\\)*\\u(?![0-9A-Fa-f]{4})", said):
        line = text.count("\n", 0, start) + 1
        raise InputError(
            f"the document is no properties file: line {line} has a malformed \\uxxxx; correct it"
        )
    shown = (
        shown.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        if shown.isascii() is False
        else shown
    )
    doubles = _PATTERN.search(shown) is not None and "'" not in shown.replace("''", "")
    return _Value(start, end, shown.replace("''", "'") if doubles else shown, doubles)


def _written(text: str, raw: str, value: _Value, source: TextFile) -> str:
    """``text`` as a value, in lines if ``raw`` is in lines."""
    if value.doubles:
        text = text.replace("'", "''")
    is_ascii = source.text.isascii() or ("\\u" in raw and raw.isascii())
    codec = "ascii" if is_ascii else source.codec
    written = "".join(_encodable(one, codec) for one in text.translate(_WRITTEN))
    if written.startswith(" "):
        written = f"\\{written}"
    return _filled(written, raw) if _BREAK.search(raw) else written


def _encodable(character: str, codec: str) -> str:
    try:
        character.encode(codec)
    except UnicodeEncodeError:
        units = character.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    return character


def _filled(written: str, raw: str) -> str:
    """``written`` in lines of at most the width that those of ``raw`` have, broken as those are."""
    breaks = _BREAK.findall(raw)
    width = max(map(len, _BREAK.split(raw)))
    lines = [""] if _BREAK.match(raw) else []
    for word in re.split(r"(?<= )(?=[^ ])", written):
        if lines and lines[-1] and len(lines[-1]) + len(word.rstrip()) <= width:
            lines[-1] += word
        else:
            lines.append(word)
    joined = lines[0]
    for number, line in enumerate(lines[1:]):
        joined += breaks[min(number, len(breaks) - 1)] + line
    return joined
