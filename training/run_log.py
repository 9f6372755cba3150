"""Reading a run's ``log.jsonl``: the curves of a training run and what it took."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.errors import DataError

LOG = "log.jsonl"


@dataclass(frozen=True)
class RunLog:
    """Events by kind, in order of updates; where a resumed run did an update twice, the later one counts."""

    name: str
    train: tuple[dict[str, Any], ...]
    validation: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, run: Path, name: str | None = None) -> RunLog:
        """Read ``run/log.jsonl``; a last line that a killed run left unfinished is passed over.

        Raises:
            DataError: the file is missing, or a line before the last is no JSON object.
        """
        path = run / LOG
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        events: dict[str, dict[int, dict[str, Any]]] = {"train": {}, "validation": {}}
        for number, line in enumerate(lines, start=1):
            try:
                event = json.loads(line)
                events.get(event["event"], {})[event["update"]] = event
            except (ValueError, KeyError, TypeError):
                if number < len(lines):
                    raise DataError(f"{path}: line {number} is not an event of a training run") from None
        curves = {
            kind: tuple(by_update[key] for key in sorted(by_update)) for kind, by_update in events.items()
        }
        return cls(name or run.name, curves["train"], curves["validation"])

    def summary(self) -> dict[str, Any]:
        """Updates, wall-clock time and the median training speed in target tokens a second."""
        both = (*self.train, *self.validation)
        speeds = sorted(event["tokens_per_second"] for event in self.train)
        return {
            "updates": max((event["update"] for event in both), default=0),
            "elapsed_s": round(max((event["elapsed_s"] for event in both), default=0.0), 1),
            "tokens_per_second": round(speeds[len(speeds) // 2], 1) if speeds else None,
        }

    def curve(self, kind: str, key: str) -> tuple[list[int], list[float]]:
        """Updates and the values of ``key``; events without it are passed over."""
        events = [event for event in getattr(self, kind) if event.get(key) is not None]
        return [event["update"] for event in events], [event[key] for event in events]
