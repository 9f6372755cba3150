"""Input of a job, JSON lines or a zip of documents, as parts; and a part's lines as they are stored.

A line is a JSON string, or an object with ``text`` and, if wished, an ``id``. What is wrong with one line or
one file is an error of its own, by number or name, and the others are translated.
"""

from __future__ import annotations

import codecs
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from nmt.documents import DocumentLimits, read_document
from nmt.errors import InputError, TextTooLongError
from service.database.records import JobPart
from service.schemas import Text
from service.settings import Settings

PART_CHARACTERS = 4000
"""Lines of one part: a request of so many is a few batches of the model, and others go between."""
PART_LINES = 100
SAMPLE_CHARACTERS = 20_000
"""Characters of all texts by which their language is told."""
BYTES_PER_CHARACTER = 12
"""Bytes of JSON at most: a character beyond the first 65,536 as two escapes."""
LARGE_BYTES, MOST_RATIO = 1_000_000, 250
"""A member of a zip that is larger, unpacked, may be so many times as large as packed."""
_ENCRYPTED = 0x1


class JobLine(BaseModel):
    """One line of a job."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    text: Text
    id: Text | None = Field(None, max_length=200)


_LINE: TypeAdapter[str | JobLine] = TypeAdapter(JobLine | Text)


@dataclass(frozen=True)
class StoredLine:
    """A line of a part: its number, the client's name for it, and its text or what is wrong with it."""

    number: int
    id: str | None
    text: str
    error: str | None = None


def read_lines(file: BinaryIO, settings: Settings) -> Iterator[JobPart]:
    """Lines as parts, in order; a line that is no text is an error of its part.

    Raises:
        TextTooLongError: there are more lines than a job may have.
    """
    lines: list[StoredLine] = []
    n_parts = n_characters = 0
    for line in _lines(file, settings):
        n_more = len(line.text)
        if lines and (n_characters + n_more > PART_CHARACTERS or len(lines) >= PART_LINES):
            yield _part_of(lines, n_parts)
            lines, n_characters, n_parts = [], 0, n_parts + 1
        lines.append(line)
        n_characters += n_more
    if lines:
        yield _part_of(lines, n_parts)


def _lines(file: BinaryIO, settings: Settings) -> Iterator[StoredLine]:
    longest = BYTES_PER_CHARACTER * settings.max_text_characters + 10_000
    number = 0
    while raw := file.readline(longest):
        number += 1
        if number > settings.job_max_lines:
            raise TextTooLongError(f"the job has more than {settings.job_max_lines} lines; send several jobs")
        if len(raw) == longest and not raw.endswith(b"\n"):
            while (rest := file.readline(longest)) and not rest.endswith(b"\n"):
                pass
            yield StoredLine(number, None, "", f"the line has more than {longest} bytes; split its text")
        else:
            raw = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
            yield _line(number, raw, settings.max_text_characters)


def _line(number: int, raw: bytes, max_characters: int) -> StoredLine:
    try:
        found = _LINE.validate_json(raw)
    except ValidationError as error:
        return StoredLine(number, None, "", _what_is_wrong(raw, error))
    line = JobLine(text=found) if isinstance(found, str) else found
    if len(line.text) > max_characters:
        reason = (
            f"the text has {len(line.text)} characters; the limit is {max_characters}: "
            f"split it at a paragraph"
        )
        return StoredLine(number, line.id, "", reason)
    return StoredLine(number, line.id, line.text)


def _what_is_wrong(raw: bytes, error: ValidationError) -> str:
    """In words of our own, for those of the library may repeat what was sent."""
    if not raw.strip():
        return 'the line is empty; a text of no characters is written ""'
    kinds = {problem["type"] for problem in error.errors(include_input=False, include_url=False)}
    if "json_invalid" in kinds:
        try:
            raw.decode()
        except UnicodeDecodeError as wrong:
            return f"the line is not UTF-8 at byte {wrong.start}"
        return "the line is not JSON"
    if "lone_surrogate" in kinds:
        return "the text holds half of a surrogate pair, which is no character; remove it"
    if "extra_forbidden" in kinds:
        return "the line has an unknown key; known are text and id"
    return (
        'the line must be a string, or an object with "text" and, if wished, an "id": '
        "a string of at most 200 characters"
    )


def _part_of(lines: list[StoredLine], number: int) -> JobPart:
    stored = [[line.number, line.id, line.text, line.error] for line in lines]
    return JobPart(
        source=json.dumps(stored, ensure_ascii=False).encode(),
        n_items=len(lines),
        n_characters=sum(len(line.text) for line in lines),
        errors=tuple((str(line.number), line.error) for line in lines if line.error is not None),
        number=number,
    )


def lines_of(part: JobPart) -> list[StoredLine]:
    """The lines of a part that ``read_lines`` made."""
    return [StoredLine(*line) for line in json.loads(part.source or b"[]")]


def read_zip(file: BinaryIO, settings: Settings, source: str, target: str) -> Iterator[JobPart]:
    """Files as parts, in the zip's order; one that cannot be translated is a part that is an error alone.

    Raises:
        InputError: it is no zip, or one that is not trusted.
        TextTooLongError: it is over a limit.
    """
    archive, members = _open(file, settings)
    limits = document_limits(settings)
    for number, member in enumerate(members):
        name = member.filename
        try:
            data = _read(archive, member)
            document = read_document(name, data, source=source, target=target, limits=limits)
        except InputError as error:
            yield JobPart(None, 1, 0, name, ((name, str(error)),), number)
        else:
            yield JobPart(data, 1, sum(len(extract.text) for extract in document.extracts), name, (), number)


def document_limits(settings: Settings) -> DocumentLimits:
    """Limits of one document, alone or in a zip."""
    return DocumentLimits(
        max_bytes=settings.document_max_bytes, max_characters=settings.document_max_characters
    )


def _open(file: BinaryIO, settings: Settings) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]:
    """The zip and its files, judged by its directory before anything is unpacked."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
        raise InputError("the body is not a zip, or a broken one; pack it again") from None
    members = [member for member in archive.infolist() if not member.is_dir()]
    if not members:
        raise InputError("the zip holds no file; put documents into it")
    if len(members) > settings.job_max_files:
        raise TextTooLongError(
            f"the zip holds {len(members)} files; the limit is {settings.job_max_files}: send several jobs"
        )
    n_bytes = sum(member.file_size for member in members)
    if n_bytes > settings.job_max_unpacked_bytes:
        raise TextTooLongError(
            f"the zip has {n_bytes} bytes unpacked; the limit is {settings.job_max_unpacked_bytes}: "
            f"send several jobs"
        )
    for number, member in enumerate(members, 1):
        _check_member(number, member)
    if len({member.filename for member in members}) < len(members):
        raise InputError("the zip holds two files of one name; pack it again")
    return archive, members


def _check_member(number: int, member: zipfile.ZipInfo) -> None:
    """Raises for a name that leads out of the archive, and for what looks like a bomb."""
    name = PurePosixPath(member.filename)
    if name.is_absolute() or ".." in name.parts or "\\" in member.filename or ":" in member.filename:
        raise InputError(f"file {number} of the zip has a name that leads out of it; the zip is not trusted")
    if any(ord(character) < 32 for character in member.filename):
        raise InputError(f"file {number} of the zip has a control character in its name; rename it")
    ratio = member.file_size // max(1, member.compress_size)
    if member.file_size > LARGE_BYTES and ratio > MOST_RATIO:
        raise TextTooLongError(
            f"file {number} of the zip is {ratio} times as large unpacked; the limit is {MOST_RATIO}: "
            f"it looks like a decompression bomb"
        )


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The file, of no more bytes than the directory promised."""
    if member.flag_bits & _ENCRYPTED:
        raise InputError("the file is encrypted; pack it without a password")
    try:
        return archive.read(member)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        raise InputError("the file is broken in the zip; pack it again") from None


def sample(file: BinaryIO, settings: Settings, *, is_zip: bool) -> list[str]:
    """Texts at the beginning, by which the language of all is told; the file is at its beginning again."""
    texts: list[str] = []
    left = SAMPLE_CHARACTERS
    parts = read_zip(file, settings, "en", "fr") if is_zip else read_lines(file, settings)
    for part in parts:
        if is_zip and part.source is not None:
            document = read_document(part.name, part.source, limits=document_limits(settings))
            found = [extract.text for extract in document.extracts]
        else:
            found = [line.text for line in lines_of(part)]
        texts += found
        left -= sum(map(len, found))
        if left <= 0:
            break
    file.seek(0)
    return texts
