"""When there is no room: a full disk, a quota or a limit on the size of files."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from nmt.errors import PasserelleError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
TOLD = "no room (a full disk, a quota or a limit on file sizes)"
"""Words for a person about it."""


def is_full(error: BaseException) -> bool:
    """Whether ``error`` says that something could not be written for want of room."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    # safetensors keeps the system's number in its message alone
    return isinstance(error, SafetensorError) and any(f"os error {code})" in str(error) for code in NO_ROOM)


@contextmanager
def full_disk_told(path: Path, words: Callable[[Path, OSError], PasserelleError]) -> Iterator[None]:
    """Whatever has no room becomes the error that ``words`` makes of ``path``, which was to be written."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise words(path, error) from None
