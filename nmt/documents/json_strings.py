"""JSON (RFC 8259): every string value is translated, keys are not; all else stays as it is, byte by byte.

The standard library's scanner reads it and tells where each string value stands, so that white space, the
order and the writing of numbers, and duplicate keys are kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from json.scanner import py_make_scanner  # type: ignore[attr-defined]

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.strings import string_part
from nmt.errors import InputError


@dataclass(frozen=True)
class _Value:
    """A string value: ``start`` is its opening quote, ``end`` is after its closing one."""

    text: str
    start: int
    end: int


class _Positions(json.JSONDecoder):
    """A decoder that notes where it found string values."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[_Value] = []
        self.parse_string = self._parse_string
        # only the scanner in Python calls back for values; keys go to ``scanstring`` directly
        self.scan_once = py_make_scanner(self)

    def _parse_string(self, text: str, start: int, strict: bool) -> tuple[str, int]:
        value, end = scanstring(text, start, strict)
        self.values.append(_Value(value, start - 1, end))
        return value, end


def read_json(data: bytes) -> ExtractedDocument:
    """A JSON file; see ``nmt.documents.read_document``."""
    source = decode(data)
    decoder = _Positions()
    try:
        decoder.decode(source.text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the document is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; correct it"
        ) from None
    except RecursionError:
        raise InputError("the document is JSON nested too deeply; split it") from None
    values = [value for value in decoder.values if has_letters(value.text)]
    ascii_only = source.text.isascii() and "\\u" in source.text

    def write(restored: Sequence[str]) -> bytes:
        pieces: list[str] = []
        read = 0
        for value, text in zip(values, restored, strict=True):
            pieces += [source.text[read : value.start], json.dumps(text, ensure_ascii=ascii_only)]
            read = value.end
        return source.encode("".join([*pieces, source.text[read:]]))

    return document([string_part(value.text) for value in values], write, suffix="json")
