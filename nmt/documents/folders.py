"""Folders of documents: which files of one are documents, and where their translations lie."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nmt.documents.read import SUFFIXES, target_name
from nmt.errors import ConfigError, InputError


@dataclass
class FolderPlan:
    """Documents, and what else was found beside them."""

    documents: dict[Path, Path] = field(default_factory=dict)
    """Each document and its translation, in the order in which they are translated."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Suffixes of files that are no documents."""

    def add(self, source: Path, target: Path) -> None:
        """Raises ``ConfigError``: two documents would have one translation."""
        if target in self.documents.values():
            raise ConfigError(f"--file {source} would write {target} twice: name each document once")
        self.documents[source] = target


def plan(files: Sequence[Path], out: Path | None, language: str) -> FolderPlan:
    """What to translate of files and folders; of hidden files and of links to folders nothing.

    Args:
        files: documents and folders.
        out: a folder: the one that mirrors a single folder, else one that holds all; None: beside each.
        language: of the translations, in the names of folders beside: ``manual`` as ``manual.fr``.

    Raises:
        InputError: a folder holds no document.
        ConfigError: two documents would have one translation, or ``out`` is a file.
    """
    if out is not None and out.is_file():
        raise ConfigError(f"--out {out} is a file: for folders it is the folder of the translations")
    found = FolderPlan()
    for file in files:
        if file.is_dir():
            here = file if file.name else file.resolve()
            mirror = here.with_name(f"{here.name}.{language}")
            if out is not None:
                mirror = out if len(files) == 1 else out / here.name
            _walk(file, mirror, found)
        elif out is None:
            found.add(file, file.with_name(target_name(file.name, language)))
        else:
            found.add(file, _named(file, out))
    return found


def _walk(folder: Path, mirror: Path, found: FolderPlan) -> None:
    before = len(found.documents)
    for name, folders, names in os.walk(folder):
        here = Path(name)
        folders[:] = sorted(
            one for one in folders if not one.startswith(".") and (here / one).resolve() != mirror.resolve()
        )
        for one in sorted(names):
            source = here / one
            suffix = source.suffix[1:].lower()
            if one.startswith("."):
                continue
            if suffix in SUFFIXES:
                found.add(source, _named(source, mirror / here.relative_to(folder)))
            else:
                found.left_out[f".{suffix}" if suffix else "none"] += 1
    if len(found.documents) == before:
        raise InputError(
            f"{folder} holds no document that can be translated; known are {', '.join(SUFFIXES)}"
        )


def _named(source: Path, folder: Path) -> Path:
    """The translation keeps the name, so that links between documents hold; a pot becomes a po."""
    name = source.with_suffix(".po").name if source.suffix.lower() == ".pot" else source.name
    return folder / name
