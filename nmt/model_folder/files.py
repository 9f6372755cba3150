"""Files that must be whole: their SHA-256, waiting until they are on disk, and who may read them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush(path: Path) -> None:
    """Wait until ``path``, a file or a folder, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def give_ordinary_mode(path: Path) -> None:
    """Let those read and write ``path`` who may with any new file.

    What was written by way of a private temporary file, as safetensors and mkstemp do, is its owner's alone:
    a server that runs as another user could not load the model.
    """
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
