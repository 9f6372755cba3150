"""Messages (RFC 5322, MIME): the subject, text/plain and text/html; all else stays byte for byte.

A body is written in the encoding that it had, or as quoted-printable UTF-8 where that cannot hold it. Quoted
lines (``> text``) keep their marks. The library ``email`` reads headers; the bounds of the parts are found
here, as it does not tell them.
"""

from __future__ import annotations

import base64
import quopri
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.errors import MessageError
from email.header import Header, decode_header, make_header
from email.message import Message
from itertools import groupby
from typing import TYPE_CHECKING

from nmt.documents.extracted import ExtractedDocument, PlainText, document
from nmt.documents.languages import Languages
from nmt.documents.plain import read_plain
from nmt.documents.web import read_html
from nmt.errors import InputError
from nmt.extraction import Extract, Extracted, share_out
from nmt.spans import Span

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

MAX_DEPTH = 20
"""Parts inside each other."""
_HEADERS_END = re.compile(rb"\A(?=\r?\n)|\r?\n(?=\r?\n)|\Z")
_FOLDED = rb"[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*"
_REPLY = re.compile(r"(?:\s*(?:re|fwd?|tr)\s*(?:\[\d+\])?\s*:\s*)*", re.IGNORECASE)
_QUOTE = re.compile(r"(?:>[ \t]?)*")
_CHARSET = re.compile(rb"""charset\s*=\s*("[^"]*"|[^\s;]+)""", re.IGNORECASE)
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_Change = tuple[Span, bytes]


def read_eml(data: bytes, languages: Languages) -> ExtractedDocument:
    """A message; see ``nmt.documents.read_document``."""
    top = _Part(data, Span(0, len(data)))
    if not top.message.keys():
        raise InputError("the document is no message (eml): it does not begin with headers; check its format")
    leaves = list(_leaves(data, top))
    texts = [(part, text) for part in leaves if (text := _decoded(data, part)) is not None]
    subject = _subject(data, top)
    bodies = [_body(part, text, languages) for part, text in texts]
    parts: list[Extracted[str]] = [*([subject[1]] if subject else []), *bodies]

    def write(restored: Sequence[str]) -> bytes:
        changes: list[_Change] = []
        if subject:
            changes += _new_subject(data, *subject, restored[0])
        own = restored[len(parts) - len(texts) :]
        for (part, old), new in zip(texts, own, strict=True):
            if new != old:
                changes += _changes(data, part, new, top)
        return _applied(data, changes)

    return document(parts, write, suffix="eml", notices=list(_notices(top, len(leaves) - len(texts))))


class _Part:
    """A message or a part of one: its headers, and where headers and body are.

    Args:
        data: the file.
        span: the part.
        depth: parts around it.
    """

    def __init__(self, data: bytes, span: Span, depth: int = 0) -> None:
        if depth > MAX_DEPTH:
            raise InputError(
                f"the document has parts nested more than {MAX_DEPTH} deep; take the inner ones out"
            )
        found = _HEADERS_END.search(data[span.start : span.end])
        assert found, "every part ends"
        self.headers = Span(span.start, span.start + found.end())
        blank = re.compile(rb"\r?\n").match(data, self.headers.end, span.end)
        self.body = Span(blank.end() if blank else span.end, span.end)
        self.message: Message = message_from_bytes(data[self.headers.start : self.headers.end])
        self.kind = self.message.get_content_type()
        self.newline = b"\r\n" if b"\r\n" in data[span.start : span.end] else b"\n"
        boundary = self.message.get_boundary() if self.kind.startswith("multipart/") else None
        self.parts = [_Part(data, one, depth + 1) for one in _spans(data, self.body, boundary)]

    @property
    def encoding(self) -> str:
        """How its body is written."""
        return str(self.message.get("Content-Transfer-Encoding", "7bit")).strip().lower()

    def header(self, data: bytes, name: bytes) -> Span | None:
        """Where a header with its folded lines is."""
        pattern = re.compile(rb"(?im)^" + name + rb":" + _FOLDED)
        found = pattern.search(data[self.headers.start : self.headers.end])
        return found and Span(self.headers.start + found.start(), self.headers.start + found.end())


def _spans(data: bytes, body: Span, boundary: str | None) -> Iterator[Span]:
    """The parts between lines ``--boundary`` (RFC 2046, 5.1.1)."""
    if not boundary:
        return
    line = re.compile(
        rb"(?m)^--" + re.escape(boundary.encode("latin-1", "replace")) + rb"(--)?[ \t]*(?:\r?\n|\r?\Z)"
    )
    start: int | None = None
    for found in line.finditer(data[body.start : body.end]):
        if start is not None:
            end = body.start + found.start()
            end -= 2 if data[:end].endswith(b"\r\n") else 1
            yield Span(start, max(start, end))
        start = body.start + found.end()
        if found[1]:
            return
    if start is not None:
        yield Span(start, body.end)


def _leaves(data: bytes, part: _Part) -> Iterator[_Part]:
    """The texts of a message.

    Raises:
        InputError: it is encrypted.
    """
    is_signed = part.message.get_param("smime-type") == "signed-data"
    if part.kind in _ENCRYPTED and not is_signed:
        raise InputError("the document is encrypted; save the message decrypted")
    if part.parts:
        for inner in part.parts:
            yield from _leaves(data, inner)
    elif part.kind in ("text/plain", "text/html") and not _is_attached(part.message):
        yield part


def _is_attached(message: Message) -> bool:
    return message.get_content_disposition() == "attachment" or message.get_filename() is not None


def _notices(top: _Part, n_left: int) -> Iterator[str]:
    if n_left:
        yield f"{n_left} parts are left as they are: their encoding or their character set cannot be read"
    pending = [top]
    while pending:
        part = pending.pop()
        pending += part.parts
        if part.kind == "multipart/signed":
            yield "the message is signed; its signature is not that of the translation"


# the subject


def _subject(data: bytes, top: _Part) -> tuple[Span, PlainText, str] | None:
    """Where the subject is, what it says after "Re:", and "Re:"."""
    span = top.header(data, b"subject")
    if span is None:
        return None
    value = data[span.start : span.end].partition(b":")[2].strip()
    unfolded = re.sub(r"\r?\n[ \t]+", " ", value.decode("utf-8", "surrogateescape"))
    try:
        shown = str(make_header(decode_header(unfolded)))
    except (MessageError, LookupError, ValueError):
        return None
    reply = _REPLY.match(shown)
    prefix = reply.group() if reply else ""
    return span, PlainText(shown.removeprefix(prefix)), prefix


def _new_subject(data: bytes, span: Span, old: PlainText, prefix: str, new: str) -> list[_Change]:
    if new == old.text:
        return []
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    text = prefix + " ".join(new.split())
    header = Header(text, "us-ascii" if text.isascii() else "utf-8", header_name="Subject")
    name = data[span.start : span.end].partition(b":")[0]
    return [(span, name + b": " + header.encode(linesep="\n").encode().replace(b"\n", newline))]


# bodies


def _decoded(data: bytes, part: _Part) -> str | None:
    """The text of a part, its lines ended by LF; None if it cannot be read."""
    raw = data[part.body.start : part.body.end]
    try:
        if part.encoding == "base64":
            raw = base64.b64decode(raw)
        elif part.encoding == "quoted-printable":
            raw = quopri.decodestring(raw)
        elif part.encoding not in ("7bit", "8bit", "binary"):
            return None
        text = raw.decode(part.message.get_content_charset("utf-8"))
    except (LookupError, ValueError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")


def _changes(data: bytes, part: _Part, text: str, top: _Part) -> list[_Change]:
    """What is to be written for ``text``: the body, and headers that say how."""
    changes: list[_Change] = []
    charset, encoding = part.message.get_content_charset("utf-8"), part.encoding
    try:
        raw = text.encode(charset)
    except UnicodeEncodeError:
        charset, raw = "utf-8", text.encode()
    if encoding == "7bit" and not raw.isascii():
        encoding = "quoted-printable"
        changes += _set_header(data, part, b"Content-Transfer-Encoding", encoding.encode())
    if charset != part.message.get_content_charset() and not raw.isascii():
        changes.append(_with_charset(data, part, charset))
    if encoding != part.encoding and top.message.get("MIME-Version") is None:
        changes += _set_header(data, top, b"MIME-Version", b"1.0")
    old = data[part.body.start : part.body.end]
    if encoding == "base64":
        canonical = raw.replace(b"\n", b"\r\n") if b"\r\n" in base64.b64decode(old) else raw
        lines = base64.encodebytes(canonical).strip()
        new = lines + old[len(old.rstrip()) :].replace(b"\r\n", b"\n")
    else:
        new = quopri.encodestring(raw) if encoding == "quoted-printable" else raw
    return [*changes, (part.body, new.replace(b"\n", part.newline))]


def _set_header(data: bytes, part: _Part, name: bytes, value: bytes) -> list[_Change]:
    span = part.header(data, name)
    if span is None:
        end = part.headers.end
        return [(Span(end, end), name + b": " + value + part.newline)]
    return [(span, name + b": " + value)]


def _with_charset(data: bytes, part: _Part, charset: str) -> _Change:
    """``Content-Type`` with another ``charset``, and all its other parameters."""
    span = part.header(data, b"content-type")
    if span is None:
        [change] = _set_header(data, part, b"Content-Type", f'{part.kind}; charset="{charset}"'.encode())
        return change
    header = data[span.start : span.end]
    new, count = _CHARSET.subn(f'charset="{charset}"'.encode(), header, count=1)
    return span, new if count else header.rstrip(b"; ") + f'; charset="{charset}"'.encode()


def _applied(data: bytes, changes: Sequence[_Change]) -> bytes:
    pieces: list[bytes] = []
    read = 0
    for span, new in sorted(changes, key=lambda change: (change[0].start, change[0].end)):
        pieces += [data[read : span.start], new]
        read = span.end
    return b"".join([*pieces, data[read:]])


def _body(part: _Part, text: str, languages: Languages) -> _Lines:
    if part.kind == "text/html":
        return _Lines(text, (_Group(("",), read_html(text.encode(), languages)),))
    groups = []
    for _, group in groupby(text.split("\n"), _depth):
        lines = list(group)
        prefixes = tuple(_prefix(line) for line in lines)
        bare = "\n".join(line.removeprefix(prefix) for line, prefix in zip(lines, prefixes, strict=True))
        groups.append(_Group(prefixes, read_plain(bare.encode())))
    return _Lines(text, tuple(groups))


def _prefix(line: str) -> str:
    found = _QUOTE.match(line)
    return found.group() if found else ""


def _depth(line: str) -> int:
    return _prefix(line).count(">")


@dataclass(frozen=True)
class _Group:
    """Successive lines that are quoted as deep."""

    prefixes: tuple[str, ...]
    document: ExtractedDocument

    def written(self, translations: Sequence[Translation]) -> str:
        """The lines with the translations, each with its marks."""
        lines = self.document.restore(translations).decode().split("\n")
        if not any(self.prefixes):
            return "\n".join(lines)
        prefixes = self.prefixes if len(lines) == len(self.prefixes) else (max(self.prefixes),) * len(lines)
        return "\n".join(prefix + line for prefix, line in zip(prefixes, lines, strict=True))


@dataclass(frozen=True)
class _Lines:
    """A body, as an ``Extracted[str]``."""

    text: str
    groups: tuple[_Group, ...]

    @property
    def extracts(self) -> Sequence[Extract]:
        """Those of all groups."""
        return [extract for group in self.groups for extract in group.document.extracts]

    def restore(self, translations: Sequence[Translation]) -> str:
        """The text of the body; as it was where no text is different."""
        if [one.text for one in translations] == [extract.text for extract in self.extracts]:
            return self.text
        shares = share_out([group.document for group in self.groups], translations)
        return "\n".join(group.written(own) for group, (_, own) in zip(self.groups, shares, strict=True))
