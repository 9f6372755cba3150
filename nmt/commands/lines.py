"""Lines in, and warnings out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmt.errors import InputError


def lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8 without their ends.

    Raises:
        InputError: a line is not UTF-8; its number is named.
    """
    for number, line in enumerate(stream, start=1):
        try:
            yield line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise InputError(f"line {number}: not UTF-8 at byte {error.start}; convert it first") from None


def lines_of(path: Path) -> Iterator[str]:
    """Lines of a file, as ``lines``; errors name it."""
    try:
        with path.open("rb") as stream:
            yield from lines(stream)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def warn(message: str) -> None:
    """A line on standard error, where results are not."""
    print(f"nmt: warning: {message}", file=sys.stderr)


def note(message: str) -> None:
    """A line on standard error that tells what is done."""
    print(f"nmt: {message}", file=sys.stderr)
