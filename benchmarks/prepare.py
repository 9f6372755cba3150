"""``nmt prepare`` measured: time and memory, and how both grow with the corpus and the number of processes.

    python -m benchmarks.prepare general --data DIR --work WORK --json FILE
    python -m benchmarks.prepare general --data DIR --work WORK --json FILE --pairs 250000 --processes 1 2

The corpora are those of the recipe, without caps and weights, each cut to the same share. Memory is the sum
of the proportional set sizes (PSS) of all processes, sampled five times a second, so that what they share
counts once; its peak is given for each step. ``wall_seconds`` are those of a machine that others may use too,
``processor_seconds`` are not. The record is written after each preparation; the same command goes on where
it was interrupted. Sub-words are learnt from at most ``tokenizer.max_sentences``.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from training.provenance import provenance
from training.recipe import Recipe, load_recipe

SAMPLE_EVERY_S = 0.2
STEPS = {"cleaning": "clean", "learning": "subwords", "encoding": "encode"}
"""First word of a line on standard error -> the step that begins with it."""


def main() -> None:
    """Prepare each size with each number of processes and write the record."""
    arguments = _arguments()
    recipe = load_recipe(arguments.recipe, [f"data.dir={arguments.data}", *arguments.overrides])
    n_all = sum(1 for source in recipe.data.train for _ in _lines(arguments.data / f"{source.path}.en"))
    made_from = {"recipe": arguments.recipe, "overrides": arguments.overrides, "pairs": n_all}
    runs = _runs_before(arguments.json, made_from)
    for n_pairs in arguments.pairs or (n_all // 8, n_all // 4, n_all // 2, n_all):
        wanted = [
            processes
            for processes in arguments.processes
            if not any((run["pairs"], run["processes"]) == (n_pairs, processes) for run in runs)
        ]
        corpora = (
            _cut(recipe, arguments.data, arguments.work / "corpora", n_pairs / n_all) if wanted else None
        )
        for processes in wanted:
            assert corpora is not None
            runs.append({"pairs": n_pairs, **_measure(arguments, recipe, corpora, processes)})
            print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
            record = {**made_from, "runs": runs, **provenance()}
            arguments.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _runs_before(file: Path, made_from: dict[str, Any]) -> list[dict[str, Any]]:
    """What an earlier, interrupted call has measured of the same corpora."""
    if not file.exists():
        return []
    record = json.loads(file.read_text(encoding="utf-8"))
    if {key: record.get(key) for key in made_from} != made_from:
        raise SystemExit(f"{file}: a record of other corpora or settings; choose another file")
    runs: list[dict[str, Any]] = record["runs"]
    return runs


def _cut(recipe: Recipe, data: Path, folder: Path, share: float) -> Path:
    """The first part of each training corpus, and the other sets whole."""
    shutil.rmtree(folder, ignore_errors=True)
    for key in ("train", "dev", "tests"):
        for source in getattr(recipe.data, key):
            for language in ("en", "fr"):
                whole, part = data / f"{source.path}.{language}", folder / f"{source.path}.{language}"
                part.parent.mkdir(parents=True, exist_ok=True)
                n_lines = sum(1 for _ in _lines(whole))
                wanted = round(n_lines * share) if key == "train" else n_lines
                with part.open("wb") as out:
                    out.writelines(islice(_lines(whole), wanted))
    return folder


def _measure(arguments: argparse.Namespace, recipe: Recipe, corpora: Path, processes: int) -> dict[str, Any]:
    """One preparation in a process of its own."""
    out = arguments.work / "preparing" / "prepared"
    shutil.rmtree(out.parent, ignore_errors=True)  # with what an interrupted preparation has left beside it
    out.parent.mkdir(parents=True)
    sources = ",".join(
        f'{{kind="text",name="{source.name}",path="{source.path}"}}' for source in recipe.data.train
    )
    settings = [f"data.dir={corpora}", *arguments.overrides, f"data.train=[{sources}]"]
    command = [sys.executable, "-m", "nmt", "prepare", arguments.recipe, "--out", str(out)]
    command += ["--processes", str(processes), *(part for one in settings for part in ("--set", one))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start_s = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    steps = _Steps(process.pid)
    assert process.stderr is not None
    for line in process.stderr:
        steps.begin(STEPS.get(line.split(maxsplit=1)[0], steps.name))
    if process.wait():
        raise SystemExit(f"nmt prepare ended with status {process.returncode}")
    seconds = time.perf_counter() - start_s
    steps.end()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))["train"]
    return {
        "pairs_read": sum(source["read"] for source in report["sources"]),
        "pairs_written": report["pairs"],
        "processes": processes,
        "wall_seconds": round(seconds, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, 1),
        "peak_mib": max(steps.peak_mib.values()),
        "steps": {
            name: {"wall_seconds": round(steps.seconds[name], 1), "peak_mib": steps.peak_mib[name]}
            for name in steps.seconds
        },
    }


class _Steps:
    """Time and peak memory of each step of a process and its children."""

    def __init__(self, pid: int) -> None:
        self.name = "read"
        self.seconds = {self.name: 0.0}
        self.peak_mib = {self.name: 0}
        self._pid = pid
        self._begun_s = time.perf_counter()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def begin(self, name: str) -> None:
        """What follows is step ``name``."""
        now_s = time.perf_counter()
        self.seconds[self.name] += now_s - self._begun_s
        self._begun_s = now_s
        self.seconds.setdefault(name, 0.0)
        self.peak_mib.setdefault(name, 0)
        self.name = name

    def end(self) -> None:
        """The process is gone."""
        self.begin(self.name)
        self._ended.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLE_EVERY_S):
            mib = sum(map(_pss_kib, _tree(self._pid))) // 1024
            self.peak_mib[self.name] = max(self.peak_mib[self.name], mib)


def _tree(pid: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield pid
    try:
        children = [task.read_text().split() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return
    for child in {int(number) for numbers in children for number in numbers}:
        yield from _tree(child)


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--data", type=Path, required=True, help="local copies of the recipe's corpora")
    parser.add_argument("--work", type=Path, required=True, help="cut corpora and prepared folders go here")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument(
        "--pairs", type=int, nargs="+", help="sizes; by default an eighth, a quarter, half, all"
    )
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
