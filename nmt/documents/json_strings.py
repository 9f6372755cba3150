"""JSON (RFC 8259): every string value is translated, keys are not; all else stays as it is, byte by byte.

The standard library's scanner reads it and tells where each string value stands, so that white space, the
order and the writing of numbers, and duplicate keys are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in typeshed
from json.scanner import py_make_scanner  # type: ignore[attr-defined]

from nmt.documents.encoding import decode
from nmt.documents.extracted import ExtractedDocument, document, has_letters
from nmt.documents.strings import string_part
from nmt.errors import InputError


class JsonString(str):
    """A string value: ``start`` is its opening quote, ``end`` is after its closing one."""

    __slots__ = ("end", "start")

    def __new__(cls, value: str, start: int, end: int) -> JsonString:
        """``value``, which stands there."""
        made = super().__new__(cls, value)
        made.start, made.end = start, end
        return made

    start: int
    end: int


class JsonFile:
    """A JSON file whose strings know where they stand.

    Args:
        data: the file.

    Raises:
        InputError: it is no JSON; the place is named.
    """

    def __init__(self, data: bytes) -> None:
        self.source = decode(data)
        decoder = _Positions()
        try:
            self.value: object = decoder.decode(self.source.text)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise InputError(f"the document is not JSON: {error.msg} at {where}; correct it") from None
        except RecursionError:
            raise InputError("the document is JSON nested too deeply; split it") from None
        self.strings: Sequence[JsonString] = decoder.values
        """All string values, in their order; no keys."""
        self._ascii_only = self.source.text.isascii() and "\\u" in self.source.text

    def written(self, text: str) -> str:
        """A string value with its quotes; escaped where the file escapes."""
        return json.dumps(text, ensure_ascii=self._ascii_only)

    def replaced(self, changes: Iterable[tuple[int, int, str]]) -> bytes:
        """The file with other characters in the place of [start, end), in order."""
        pieces: list[str] = []
        read = 0
        for start, end, new in changes:
            pieces += [self.source.text[read:start], new]
            read = end
        return self.source.encode("".join([*pieces, self.source.text[read:]]))


class _Positions(json.JSONDecoder):
    """A decoder that notes where it found string values; objects are lists of pairs."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=JsonObject)
        self.values: list[JsonString] = []
        self.parse_string = self._parse_string
        # only the scanner in Python calls back for values; keys go to ``scanstring`` directly
        self.scan_once = py_make_scanner(self)

    def _parse_string(self, text: str, start: int, strict: bool) -> tuple[str, int]:
        value, end = scanstring(text, start, strict)
        self.values.append(JsonString(value, start - 1, end))
        return self.values[-1], end


class JsonObject(list[tuple[str, object]]):
    """The pairs of an object, of which two may have one key."""

    def get(self, key: str) -> object:
        """The last value of ``key``; None if there is none."""
        return next((value for name, value in reversed(self) if name == key), None)


def read_json(data: bytes) -> ExtractedDocument:
    """A JSON file; see ``nmt.documents.read_document``."""
    file = JsonFile(data)
    return translated_strings(file, file.strings, suffix="json")


def translated_strings(
    file: JsonFile,
    strings: Sequence[JsonString],
    *,
    suffix: str,
    others: Iterable[tuple[int, int, str]] = (),
) -> ExtractedDocument:
    """A document whose texts are some strings of a JSON file.

    Args:
        file: the file.
        strings: some of its strings, in order.
        suffix: of the result.
        others: other changes, as of ``JsonFile.replaced``.
    """
    values = [value for value in strings if has_letters(value)]

    def write(restored: Sequence[str]) -> bytes:
        changes = [
            (value.start, value.end, file.written(text)) for value, text in zip(values, restored, strict=True)
        ]
        return file.replaced(sorted([*changes, *others]))

    return document([string_part(str(value)) for value in values], write, suffix=suffix)
