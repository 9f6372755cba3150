"""Start-up of ``nmt translate`` after torch's import, and memory over very many sentences in one process.

    python -m benchmarks.endurance --source F --out benchmarks/results/endurance.json [--sentences 20000]

Start-up: a process imports torch, then runs ``nmt translate TEXT`` in itself; the median of some runs, from
the end of torch's import to the first translation. Memory: resident set size after each call of
``Translator.translate`` (lines of the file, over and over, numbered so that none is the same); flat means
that the largest of the last quarter is at most 5 % over the largest of the second.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch

from nmt.config import GenerationConfig
from nmt.options import TranslationOptions
from nmt.translator import Translator

TEXT = "The old bridge crosses the river near the station."
START = """
import contextlib, io, sys, time
import torch
started = time.perf_counter()
from nmt.cli import app
sys.argv = ["nmt", "translate", {text!r}]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as written:
    app()
seconds = time.perf_counter() - started
assert written.getvalue().strip()
print(seconds)
"""


def main() -> None:
    """Read the arguments, measure both, write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--source", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--call", type=int, default=500, help="sentences of a call")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    git = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    record = {
        "commit": git.stdout.strip(),
        "machine": {
            "processor": torch.cpu.get_capabilities().get("cpu_name", platform.machine()),
            "cores": os.cpu_count(),
        },
        "torch": torch.__version__,
        "start_up": start_up(options.starts),
        "memory": memory(options.source, options.sentences, options.call, options.beam),
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(record["start_up"]), {key: record["memory"][key] for key in ("growth", "flat")})


def start_up(n_starts: int) -> dict[str, Any]:
    """Seconds from torch's import to the first translation, each in a process of its own."""
    seconds = []
    for _ in range(n_starts + 1):
        done = subprocess.run(
            [sys.executable, "-c", START.format(text=TEXT)], capture_output=True, text=True, check=True
        )
        seconds.append(float(done.stdout))
    seconds = seconds[1:]  # the first reads files from the disk
    return {"seconds": seconds, "median_s": statistics.median(seconds), "limit_s": 2.0}


def memory(source: Path, n_sentences: int, per_call: int, beam_size: int) -> dict[str, Any]:
    """Resident MiB after each call, and how much the last quarter is over the second."""
    translator = Translator.load(device="cpu")
    translator.warm_up()  # memory that a rare search would take later
    generation: GenerationConfig = translator.generation.model_copy(update={"beam_size": beam_size})
    lines = cycle(line for line in source.read_text(encoding="utf-8").splitlines() if line.strip())
    numbered = (f"{line} ({number})" for number, line in enumerate(islice(lines, n_sentences)))
    started = time.perf_counter()
    resident = []
    while texts := list(islice(numbered, per_call)):
        translator.translate(texts, TranslationOptions(generation=generation))
        resident.append(resident_mib())
    quarter = max(1, len(resident) // 4)
    growth = max(resident[-quarter:]) / max(resident[quarter : 2 * quarter] or resident) - 1
    return {
        "model": translator.config.name,
        "engine": translator.engine.name,
        "workers": translator.n_workers,
        "beam": beam_size,
        "sentences": n_sentences,
        "sentences_of_a_call": per_call,
        "seconds": round(time.perf_counter() - started, 1),
        "resident_mib": resident,
        "growth": round(growth, 4),
        "flat": growth <= 0.05,
    }


def resident_mib() -> float:
    """Of this process and its forks, now; what they share is counted for each."""
    names = ["self", *(str(child.pid) for child in multiprocessing.active_children())]
    pages = sum(int(Path(f"/proc/{name}/statm").read_text(encoding="ascii").split()[1]) for name in names)
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


if __name__ == "__main__":
    main()
