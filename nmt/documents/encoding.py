"""Bytes of a text file -> text and back, with byte order mark and line ends as they were."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from nmt.errors import InputError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True)
class TextFile:
    """A decoded file. Where all its lines end in CR LF, ``text`` has LF alone and ``encode`` puts CR back."""

    text: str
    mark: bytes
    codec: str
    newline: str

    def encode(self, text: str) -> bytes:
        """``text`` with line ends, encoding and byte order mark of this file."""
        if self.newline != "\n":
            text = text.replace("\n", self.newline)
        return self.mark + text.encode(self.codec)


def decode(data: bytes, *, only_lf: bool = False) -> TextFile:
    """Read UTF-8 with or without byte order mark, or UTF-16 with one.

    Args:
        data: the file.
        only_lf: make every line end LF, for formats where a mixture has no meaning.

    Raises:
        InputError: it is in another encoding; the place is named.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise InputError("the document is UTF-32; save it as UTF-8")
    mark, codec = next(((mark, codec) for mark, codec in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    try:
        text = data[len(mark) :].decode(codec)
    except UnicodeDecodeError as error:
        byte = error.start + len(mark)
        line = data.count(b"\n", 0, byte) + 1
        raise InputError(
            f"the document is not {codec.upper()} at byte {byte}, line {line}; save it as UTF-8"
        ) from None
    if "\0" in text:
        raise InputError(
            f"the document holds a NUL character at character {text.index(chr(0))}: UTF-16 without a byte "
            "order mark, or no text at all; save it as UTF-8"
        )
    n_crlf = text.count("\r\n")
    crlf = n_crlf > 0 and (only_lf or n_crlf == text.count("\n") == text.count("\r"))
    if crlf or only_lf:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return TextFile(text, mark, codec, "\r\n" if crlf else "\n")
