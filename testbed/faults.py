"""Faults on purpose: every step of what a trainer writes can be the last one.

``dying_at(k, act)`` counts the operations that change files under a run's folder: saving tensors, writing and
copying files, flushing, renaming, removing. Before the k-th of them, or in the middle of it where it writes,
``act`` is called: it raises in tests that stay in their process, and kills the process in those that do not.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from safetensors.torch import save_file

import nmt.model_folder.checkpoint
import training.state
from nmt.model_folder.files import flush

Act = Callable[[], None]


class Crash(BaseException):
    """The process is gone, as far as the code that runs in it can tell."""


def crash() -> None:
    raise Crash


def kill() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


class Operations:
    """Counts operations; at the ``last`` it acts."""

    def __init__(self, last: int, act: Act) -> None:
        self.seen = 0
        self._last = last
        self._act = act

    def plain(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        """An operation that happens at once or not at all."""

        def counted(*arguments: Any, **options: Any) -> Any:
            self._count()
            return operation(*arguments, **options)

        return counted

    def writing(self, operation: Callable[..., Any], argument: int) -> Callable[..., Any]:
        """An operation that writes the file named by its n-th argument; of the last one, half is written."""

        def counted(*arguments: Any, **options: Any) -> Any:
            self.seen += 1
            done = operation(*arguments, **options)
            if self.seen == self._last:
                path = Path(arguments[argument])
                os.truncate(path, path.stat().st_size // 2)
                self._act()
            return done

        return counted

    def _count(self) -> None:
        self.seen += 1
        if self.seen == self._last:
            self._act()


@contextmanager
def dying_at(last: int, act: Act) -> Iterator[Operations]:
    """Within the block the ``last``-th operation, from 1, is not completed."""
    count = Operations(last, act)
    with (
        mock.patch.object(training.state, "save_file", count.writing(save_file, 1)),
        mock.patch.object(training.state, "flush", count.plain(flush)),
        mock.patch.object(nmt.model_folder.checkpoint, "save_file", count.writing(save_file, 1)),
        mock.patch.object(nmt.model_folder.checkpoint, "flush", count.plain(flush)),
        mock.patch.object(shutil, "copyfile", count.writing(shutil.copyfile, 1)),
        mock.patch.object(shutil, "rmtree", count.plain(shutil.rmtree)),
        mock.patch.object(Path, "write_text", count.writing(Path.write_text, 0)),
        mock.patch.object(Path, "rename", count.plain(Path.rename)),
    ):
        yield count
