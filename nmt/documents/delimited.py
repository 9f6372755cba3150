"""csv and tsv (RFC 4180): the fields of chosen columns; every other byte stays, whatever the dialect is.

The delimiter is a comma, a semicolon, a tab or a bar: the one that gives all rows the same number of fields.
A column is chosen by its name in the first row, or by its number from 1 on; then the first row is data too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document
from nmt.documents.strings import string_part
from nmt.errors import InputError

_DELIMITERS = ",;\t|"
SAMPLE_ROWS = 200
"""Rows by which the delimiter is told."""
_END = re.compile(r"\r\n|\r|\n|\Z")


@dataclass(frozen=True)
class _Field:
    """Characters [start, end) of the file, and what they say."""

    start: int
    end: int
    text: str
    quoted: bool


def read_csv(data: bytes, columns: str | None, *, suffix: str = "csv") -> ExtractedDocument:
    """A table of texts; see ``nmt.documents.read_document``.

    Args:
        data: the file.
        columns: names or numbers, with commas between; None: the only one.
        suffix: "csv", or "tsv", whose delimiter is a tab.
    """
    source = decode(data)
    delimiter, rows = _rows(source.text, "\t" if suffix == "tsv" else _DELIMITERS)
    chosen, n_header = _chosen(rows, columns)
    fields = [row[column] for row in rows[n_header:] for column in chosen if column < len(row)]
    parts = [string_part(field.text) for field in fields]

    def write(restored: Sequence[str]) -> bytes:
        pieces: list[str] = []
        read = 0
        for field, text in zip(fields, restored, strict=True):
            raw = source.text[field.start : field.end]
            pieces += [source.text[read : field.start], _written(field, text, raw, delimiter)]
            read = field.end
        return source.encode("".join([*pieces, source.text[read:]]))

    return document(parts, write, suffix=suffix)


def _written(field: _Field, text: str, raw: str, delimiter: str) -> str:
    if text == field.text:
        return raw
    needs_quotes = any(one in text for one in f'{delimiter}"\r\n') or text != text.strip()
    return '"{}"'.format(text.replace('"', '""')) if field.quoted or needs_quotes else text


def _rows(text: str, delimiters: str) -> tuple[str, list[list[_Field]]]:
    """The delimiter, and the rows that are not blank.

    Raises:
        InputError: a quote is not closed, or text follows a closing one; the line is named.
    """
    best: tuple[tuple[bool, int], str] | None = None
    problem: InputError | None = None
    for delimiter in delimiters:
        try:
            rows = _parsed(text, delimiter, SAMPLE_ROWS)
        except InputError as error:
            problem = problem or error
            continue
        widths = {len(row) for row in rows}
        quality = len(widths) == 1 and max(widths) > 1, max(widths, default=0)
        if best is None or quality > best[0]:
            best = quality, delimiter
    if problem is not None and (best is None or best[0][1] < 2):
        raise problem
    assert best is not None, "there is a delimiter"
    return best[1], _parsed(text, best[1])


def _parsed(text: str, delimiter: str, most_rows: int | None = None) -> list[list[_Field]]:
    pattern = re.compile(rf'"(?P<quoted>(?:[^"]|"")*)"|(?P<bare>(?!")[^\r\n{re.escape(delimiter)}]*)')
    rows: list[list[_Field]] = [[]]
    position = 0
    while True:
        match = pattern.match(text, position)
        if match is None:
            raise _malformed(text, position, "a quote that is not closed")
        bare = match["bare"]
        value = match["quoted"].replace('""', '"') if bare is None else bare
        rows[-1].append(_Field(match.start(), match.end(), value, bare is None))
        position = match.end()
        if text.startswith(delimiter, position):
            position += 1
            continue
        end = _END.match(text, position)
        if end is None:
            raise _malformed(text, position, "text after a closing quote")
        position = end.end()
        if position == len(text) or len(rows) == most_rows:
            return [row for row in rows if len(row) > 1 or row[0].text]
        rows.append([])


def _malformed(text: str, position: int, what: str) -> InputError:
    line = text.count("\n", 0, position) + 1
    return InputError(f"the document is no csv: line {line} has {what}; double the quotes within quotes")


def _chosen(rows: Sequence[Sequence[_Field]], columns: str | None) -> tuple[list[int], int]:
    """Places of the columns, and how many rows are names.

    Raises:
        InputError: none is chosen where there are several, or one is not there.
    """
    header = [field.text.strip() for field in rows[0]] if rows else []
    known = ", ".join(name[:40] for name in header[:30])
    if columns is None:
        if any(len(row) > 1 for row in rows):
            raise InputError(
                f"the document has {len(header)} columns: choose what to translate by name or number "
                f"(--column NAME, column= of /documents); there are {known}"
            )
        return [0], 0
    if columns in header:
        return [header.index(columns)], 1
    wanted = [name.strip() for name in columns.split(",")]
    if all(name in header for name in wanted):
        return sorted({header.index(name) for name in wanted}), 1
    if all(name.isdecimal() and 0 < int(name) <= len(header) for name in wanted):
        return sorted({int(name) - 1 for name in wanted}), 0
    missing = next(name for name in wanted if name not in header)
    raise InputError(f"column: there is none named {missing[:40]!r}; there are {known}")
