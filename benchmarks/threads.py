"""A decoder's threads beside a busy process: one, all, or what was faster lately (``nmt.engines.threads``).

    OMP_NUM_THREADS=2 python -m benchmarks.threads --out benchmarks/results/threads.json

The three take turns in one process, with all cores free and with another process that keeps one busy. The
model has random weights and 24 source tokens a sentence; every translation has 26 tokens.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import torch

from benchmarks.decoding import machine, versions
from benchmarks.decoding_worker import WithoutEos, load
from nmt.batch import Batch
from nmt.compilation import compile_steps
from nmt.config import GenerationConfig, SpecialIds
from nmt.engines.choose import build_decoder, choose
from nmt.engines.packed import PackedTransformer
from nmt.engines.threads import StepThreads
from nmt.search import search

CPU = torch.device("cpu")
WAYS = ("one thread", "all threads", "the faster lately")
CASES = ((1, 1), (1, 5), (4, 5), (16, 5))
"""Sentences and beam."""
CALLS = {1: 25, 4: 8, 16: 4}
"""Of a round, by sentences."""
N_TOKENS = 26


class AllThreads(StepThreads):
    """Nothing is chosen: whatever torch has."""

    def take(self, n_rows: int, n_multiplications: int, step: Callable[[], Any]) -> Any:  # noqa: ANN401, ARG002
        """``step()``."""
        return step()


def main() -> None:
    """Read the arguments, take turns, write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", default="small")
    parser.add_argument("--engine", default="int8")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    loaded = load(options.model)
    compile_steps(loaded.model, choose(loaded.model, CPU, options.engine))
    choice = choose(loaded.model, CPU, options.engine)
    decoder = cast(PackedTransformer, build_decoder(loaded.model, choice))
    git = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    record: dict[str, Any] = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": git.stdout.strip(),
        "machine": machine(),
        "versions": versions(),
        "command": f"python -m benchmarks.threads --model {options.model} --engine {options.engine}",
        "model": options.model,
        "engine": choice.why,
        "threads": torch.get_num_threads(),
        "seconds": {},
    }
    for is_busy in (False, True):
        with one_core_busy() if is_busy else nullcontext():
            for n_sentences, beam_size in CASES:
                seconds = measure(decoder, loaded.config.special_ids, n_sentences, beam_size, options.rounds)
                name = f"{'a core busy' if is_busy else 'all free'}, {n_sentences} x beam {beam_size}"
                record["seconds"][name] = seconds
                print(name, seconds, flush=True)
    options.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def measure(
    decoder: PackedTransformer, special: SpecialIds, n_sentences: int, beam_size: int, n_rounds: int
) -> dict[str, float]:
    """Seconds of a call in each of ``WAYS``: medians of the rounds' means, and all to the last way."""
    chance = random.Random(n_sentences)
    n_threads = torch.get_num_threads()
    options = GenerationConfig(
        beam_size=beam_size, max_length_ratio=1e-6, max_length_offset=N_TOKENS - 2, repair_loops=False
    )
    adaptive = decoder._threads, decoder._encoder_threads
    endless = WithoutEos(decoder, special.eos)
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(n_rounds):
        for way in WAYS:
            is_adaptive = way == WAYS[-1]
            decoder._threads, decoder._encoder_threads = adaptive if is_adaptive else (AllThreads(),) * 2
            torch.set_num_threads(1 if way == WAYS[0] else n_threads)
            sources = [
                [[chance.randrange(300, 7000) for _ in range(24)] for _ in range(n_sentences)]
                for _ in range(CALLS[n_sentences])
            ]
            started = time.perf_counter()
            for call in sources:
                search(endless, Batch.from_ids(call, special=special), options, special)
            taken[way].append((time.perf_counter() - started) / len(sources))
    torch.set_num_threads(n_threads)
    decoder._threads, decoder._encoder_threads = adaptive
    ratio = statistics.median(
        all_ / lately for all_, lately in zip(taken[WAYS[1]], taken[WAYS[2]], strict=True)
    )
    return {way: round(statistics.median(times), 5) for way, times in taken.items()} | {
        "all to the faster lately": round(ratio, 3)
    }


@contextmanager
def one_core_busy() -> Iterator[None]:
    """Another process computes for as long."""
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        other.terminate()
        other.wait()


if __name__ == "__main__":
    main()
