"""``nmt translate --file FOLDER``: all documents of folders, each by itself, and what became of them."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.commands.lines import note, warn
from nmt.commands.loading import load
from nmt.errors import ConfigError, DiskFullError, PasserelleError

if TYPE_CHECKING:
    from nmt.documents.folders import FolderPlan


def translate_all(plan: FolderPlan, translate_one: Callable[[Path, Path, str], None], *, force: bool) -> int:
    """Translate what is not there yet; a document that fails does not stop the others.

    Args:
        plan: the documents.
        translate_one: reads, translates and writes one; is told what to call it in its progress.
        force: what is there already is translated anew.

    Returns:
        The exit status: 1 if a document failed.
    """
    n_there = n_done = 0
    failed: dict[Path, str] = {}
    for number, (source, target) in enumerate(plan.documents.items(), start=1):
        if target.exists() and not force:
            n_there += 1
            if target.stat().st_mtime < source.stat().st_mtime:
                warn(f"{target} is older than {source}: to translate it anew remove it, or add --force")
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            translate_one(source, target, f"{number}/{len(plan.documents)} {source.name}")
            sys.stdout.flush()
            n_done += 1
        except (ConfigError, DiskFullError):
            raise
        except PasserelleError as error:
            failed[source] = str(error).removeprefix(f"{source}: ")
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
            failed[source] = error.strerror or str(error)
    _tell(plan, n_done, n_there, failed)
    return 1 if failed else 0


def _tell(plan: FolderPlan, n_done: int, n_there: int, failed: dict[Path, str]) -> None:
    """Summary of the documents, on standard error."""
    if plan.left_out:
        kinds = ", ".join(f"{suffix} {count}" for suffix, count in plan.left_out.most_common())
        note(f"files of other kinds are left out: {kinds}")
        if ".pdf" in plan.left_out:
            note(load("nmt.documents.read:refusal")("pdf"))
    note(f"{n_done} documents translated, {n_there} were there already, {len(failed)} failed")
    for source, message in failed.items():
        note(f"{source}: {message}")
