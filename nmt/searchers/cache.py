"""Exported models in the user's cache, under the checksum of the weights that they were made from."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

from nmt.model_folder.files import sha256
from nmt.model_folder.opened import AnyModel

CACHE = "PASSERELLE_CACHE"
"""Environment variable that names another cache folder."""
SUMS = "SHA256SUMS"
"""The file that lists the others of an export."""


def checksum(loaded: AnyModel, *also: str) -> str:
    """24 hex digits of SHA-256: over the weights, the configuration and ``also``.

    Weights in memory are read; of those on disk the manifest has the checksum.
    """
    config = loaded.config
    found = hashlib.sha256(f"{config.model.model_dump_json()} {_special_ids(loaded)}".encode())
    if loaded.unread_sha256 is not None:
        found.update(loaded.unread_sha256.encode())
    else:
        for name, weight in loaded.model.state_dict().items():
            found.update(name.encode())
            found.update(weight.detach().cpu().contiguous().numpy().tobytes())
    for text in also:
        found.update(text.encode())
    return found.hexdigest()[:24]


def _special_ids(loaded: AnyModel) -> str:
    """Without what changes with the languages of a model that has several: their exports are one."""
    is_named = getattr(loaded.config.model, "token_before_bos", None) is not None
    return loaded.config.special_ids.model_dump_json(exclude={"bos"} if is_named else None)


def cached_export(kind: str, key: str, export: Callable[[Path], None]) -> Path | None:
    """The folder of an export; made by ``export`` if it is missing or damaged.

    It is written aside and renamed, so that a process that is killed or as quick leaves nothing half done.

    Args:
        kind: folder of the cache.
        key: from ``checksum``.
        export: writes into an empty folder.

    Returns:
        None where the cache cannot be written and does not hold the export.
    """
    cache = os.environ.get(CACHE)
    folder = (Path(cache) if cache else platformdirs.user_cache_path("passerelle")) / kind / key
    if _is_whole(folder):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".new-"))
    except OSError:
        return None
    try:
        export(aside)
        (aside / SUMS).write_text(_sums(aside), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    except OSError:
        return folder if _is_whole(folder) else None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def _is_whole(folder: Path) -> bool:
    try:
        return (folder / SUMS).read_text(encoding="utf-8") == _sums(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _sums(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    return "".join(f"{sha256(path)}  {path.name}\n" for path in files)
