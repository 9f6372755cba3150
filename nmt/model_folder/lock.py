"""One process at a time in a folder (POSIX ``flock``): the lock ends with the process, however it ends."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(file: Path, refusal: Exception) -> Iterator[None]:
    """Hold the lock ``file``, made if need be in a folder that is there, for the length of the block.

    Raises:
        refusal: another process holds it.
    """
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise refusal from None
        yield
