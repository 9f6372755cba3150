"""How fast this project's engines decode, beside CTranslate2, Hugging Face ``generate`` and the eager model.

    python -m benchmarks.decoding --out benchmarks/results/decoding.json
        [--model shipped --precision float32 --batch 16 --beam 5] [--merge] [--rounds 5]

Every contestant has the same weights, sentences, limits and threads, in a process of its own. A round runs
each of them once, one after another, in an order that turns; a ratio is the median over rounds of ours /
theirs within the round, so a machine that slows down slows both. What is compared:

- models: the one that ships, on lines spread evenly over a test set, translations as long as they come; a
  Transformer base (6+6 layers, d_model 512, V 32,000) and a small one (4+2, 256, V 8,000) with random
  weights, on random ids of the same lengths, 26 tokens forced.
- batch: 1, 16 or 64 sentences a call, or a stream: all ``--stream`` sentences in one call, which each
  contestant cuts into batches by length as it likes. CTranslate2 has its two ways (one batch on all threads,
  batches in parallel, each on one thread, as one sentence then is too); the faster counts. Hugging Face and
  eager get each fifth sentence of the stream.
- device: a CPU, or a GPU (``--device cuda``), where our step is a CUDA graph, there is no int8 of ours, and
  CTranslate2 has float16 against our bfloat16.
- precision: float32 against float32; int8 against CTranslate2's int8; bfloat16 against its bfloat16 where
  this CPU has it. What "int8" of ours means on this CPU is recorded with it. Hugging Face is in float32.

Tokens count EOS. BLEU is of the stream of the shipped model, with sacreBLEU. Bounds follow from what the
machine reads and computes at most, measured in the same run (``benchmarks/machine_limits.py``).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from benchmarks.decoding_worker import RANDOM, load
from benchmarks.machine_limits import bound, decoder_parameters, measure_limits
from nmt.checkpoint import LoadedModel
from nmt.config import TransformerConfig
from nmt.tokenizer import Tokenizer

FORCED = 26
LIMIT = 256
STREAM = "stream"
IN_PARALLEL = "ctranslate2 in parallel"
CONTESTANTS = {
    "float32": ("ours", "ctranslate2", "huggingface", "eager"),
    "int8": ("ours", "ctranslate2", "huggingface"),
    "bfloat16": ("ours", "ctranslate2"),
}
FEWER_SENTENCES = ("huggingface", "eager")
EVERY = 5
CALLS = {"1": 8, "16": 8, "64": 4}
"""Calls of a round: the first of a contestant finds the caches full of what the one before it has left."""
Ids = list[int]


@dataclass
class Worker:
    """A contestant's process."""

    name: str
    process: subprocess.Popen[str]
    description: str

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """One job, start to end."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self) -> dict[str, Any]:
        """The next line that it writes.

        Raises:
            RuntimeError: it has ended.
        """
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended: {self.process.wait()}")
        result: dict[str, Any] = json.loads(line)
        return result


@contextlib.contextmanager
def workers(
    names: Sequence[str], model: str, precision: str, threads: int, device: str
) -> Iterator[tuple[list[Worker], dict[str, str]]]:
    """Those contestants that start, and why the others do not."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "false"}
    started: list[Worker] = []
    absent: dict[str, str] = {}
    try:
        for name in names:
            settings = {
                "contestant": name,
                "model": model,
                "precision": precision,
                "threads": threads,
                "device": device,
            }
            errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process writes to it
            worker = Worker(
                name,
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.decoding_worker", json.dumps(settings)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    env=environment,
                ),
                "",
            )
            try:
                worker.description = worker.read()["ready"]
                started.append(worker)
            except RuntimeError:
                errors.seek(0)
                absent[name] = errors.read().strip().rpartition("\n")[2]
        yield started, absent
    finally:
        for worker in started:
            worker.process.terminate()
            worker.process.wait(60)


def sentences(model: str, source: Path, reference: Path, n: int) -> tuple[list[Ids], list[str]]:
    """Token ids and references; ids are random, of the same lengths, for a model that is."""
    pairs = [
        (one, other)
        for one, other in zip(
            source.read_text(encoding="utf-8").splitlines(),
            reference.read_text(encoding="utf-8").splitlines(),
            strict=True,
        )
        if one.strip()
    ]
    pairs = [pairs[index * len(pairs) // n] for index in range(n)]
    tokenizer = load("shipped" if model in RANDOM else model).tokenizer
    ids = tokenizer.encode_batch([one for one, _ in pairs])
    if model in RANDOM:
        draw = random.Random(0)
        ids = [[draw.randrange(4, RANDOM[model].vocab_size) for _ in sentence] for sentence in ids]
    return ids, [other for _, other in pairs]


def calls_of(batch: str, ids: list[Ids], round_: int) -> list[list[Ids]]:
    """What one round translates: other sentences in each round, spread over the corpus; or the stream."""
    if batch == STREAM:
        return [ids]
    size, n_calls = int(batch), CALLS[batch]
    step = max(1, len(ids) // (size * n_calls))
    chosen = [ids[(round_ + index * step) % len(ids)] for index in range(size * n_calls)]
    return [chosen[first : first + size] for first in range(0, len(chosen), size)]


def run_case(
    started: list[Worker], ids: list[Ids], case: dict[str, Any], n_rounds: int
) -> dict[str, list[dict[str, Any]]]:
    """All rounds of one batch size and beam: for each contestant what each round gave."""
    forced = case["model"] in RANDOM
    rounds: dict[str, list[dict[str, Any]]] = {worker.name: [] for worker in started}
    for round_ in range(-1, n_rounds):  # the first warms up
        calls = calls_of(case["batch"], ids, max(round_, 0))
        if round_ < 0:
            calls = [call[:16] for call in calls[:2]]
        for worker in started[:: 1 if round_ % 2 else -1]:
            own = calls
            if case["batch"] == STREAM and round_ >= 0 and worker.name in FEWER_SENTENCES:
                own = [call[::EVERY] for call in calls]
            job = {
                "calls": own,
                "beam": case["beam"],
                "limit": FORCED if forced else LIMIT,
                "forced": forced,
            }
            result = worker.run(job)
            if round_ >= 0:
                n_tokens = sum(FORCED if forced else len(tokens) + 1 for tokens in result["outputs"])
                rounds[worker.name].append({**result, "n_tokens": n_tokens, "calls": own})
            time.sleep(0.2)  # threads that still spin
    return rounds


def summary(rounds: list[dict[str, Any]]) -> dict[str, float]:
    """A contestant's medians over rounds, and latencies over all calls."""
    latencies = sorted(second for entry in rounds for second in entry["seconds"])
    return {
        "tokens_per_s": statistics.median(entry["n_tokens"] / sum(entry["seconds"]) for entry in rounds),
        "sentences_per_s": statistics.median(
            len(entry["outputs"]) / sum(entry["seconds"]) for entry in rounds
        ),
        "p50_s": statistics.median(latencies),
        "p95_s": latencies[min(len(latencies) - 1, int(0.95 * len(latencies)))],
        "peak_mib": max(entry["peak_bytes"] for entry in rounds) / 2**20,
    }


def speed(entry: dict[str, Any]) -> float:
    return float(entry["n_tokens"] / sum(entry["seconds"]))


def bound_of(
    case: dict[str, Any], rounds: list[dict[str, Any]], limits: dict[str, float], config: TransformerConfig
) -> float:
    """Tokens a second that the machine's limits allow for what a round of ours did."""
    entry, beam = rounds[0], case["beam"]
    lengths = [FORCED if case["model"] in RANDOM else len(tokens) + 1 for tokens in entry["outputs"]]
    n_source = sum(len(source) + 1 for call in entry["calls"] for source in call)
    size = 64 if case["batch"] == STREAM else int(case["batch"])
    ordered = sorted(lengths)
    n_steps = sum(max(ordered[first : first + size]) for first in range(0, len(ordered), size))
    seconds = bound(
        config,
        limits,
        case["precision"],
        n_steps=n_steps,
        n_source_tokens=n_source,
        n_row_steps=beam * sum(lengths),
    )
    return float(sum(lengths) / seconds)


def bleu_of(outputs: list[Ids], references: list[str], tokenizer: Tokenizer) -> dict[str, Any]:
    """SacreBLEU with its signature."""
    from sacrebleu.metrics import BLEU  # noqa: PLC0415

    metric = BLEU()
    score = metric.corpus_score([tokenizer.decode(tokens) for tokens in outputs], [references])
    return {"bleu": round(score.score, 2), "signature": str(metric.get_signature())}


def same_share(one: dict[str, Any], other: dict[str, Any]) -> float:
    """How many sentences two contestants translated with the same tokens."""
    theirs = {
        json.dumps(s): t for s, t in zip(chain.from_iterable(other["calls"]), other["outputs"], strict=True)
    }
    pairs = [
        (tokens, theirs[json.dumps(source)])
        for source, tokens in zip(chain.from_iterable(one["calls"]), one["outputs"], strict=True)
        if json.dumps(source) in theirs
    ]
    return sum(first == second for first, second in pairs) / len(pairs)


def measure_case(
    started: list[Worker],
    ids: list[Ids],
    references: list[str],
    case: dict[str, Any],
    options: argparse.Namespace,
    limits: dict[str, float],
    loaded: LoadedModel,
) -> dict[str, Any]:
    """The record of one case."""
    rounds = run_case(started, ids, case, options.rounds)
    contestants: dict[str, dict[str, Any]] = {}
    for worker in started:
        entries = rounds[worker.name]
        contestants[worker.name] = {"engine": worker.description, **summary(entries)}
        if worker.name != "ours":
            contestants[worker.name]["ours_to_it"] = statistics.median(
                speed(our) / speed(their) for our, their in zip(rounds["ours"], entries, strict=True)
            )
        if case["model"] not in RANDOM:
            contestants[worker.name]["same_tokens_as_ours"] = same_share(rounds["ours"][0], entries[0])
            if case["batch"] == STREAM and worker.name not in FEWER_SENTENCES:
                contestants[worker.name] |= bleu_of(entries[0]["outputs"], references, loaded.tokenizer)
    assert isinstance(loaded.config.model, TransformerConfig)
    bound_tokens = bound_of(case, rounds["ours"], limits, loaded.config.model)
    record = {
        **case,
        "n_sentences": len(rounds["ours"][0]["outputs"]),
        "n_rounds": options.rounds,
        "contestants": contestants,
        "bound_tokens_per_s": bound_tokens,
        "share_of_bound": contestants["ours"]["tokens_per_s"] / bound_tokens,
    }
    shown = {name: round(entry["tokens_per_s"], 1) for name, entry in contestants.items()}
    print(*(str(value) for value in case.values()), json.dumps(shown), flush=True)
    return record


def measure(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """Each case asked for, and the limits of the machine for its model."""
    for model in options.model:
        loaded = load(model)
        ids, references = sentences(model, options.source, options.reference, options.stream)
        assert isinstance(loaded.config.model, TransformerConfig)
        limits = measure_limits(4 * decoder_parameters(loaded.config.model), torch.device(options.device))
        for precision in options.precision:
            names = [name for name in CONTESTANTS[precision] if name not in options.without]
            if "ctranslate2" in names and options.device == "cpu":
                names.append(IN_PARALLEL)
            with workers(names, model, precision, options.threads, options.device) as (started, absent):
                for name, reason in absent.items():
                    print(f"{model} {precision} {name} left out: {reason}", file=sys.stderr, flush=True)
                for batch in options.batch if "ours" not in absent else ():
                    for beam in options.beam:
                        case = {"model": model, "precision": precision, "batch": batch, "beam": beam}
                        record = measure_case(started, ids, references, case, options, limits, loaded)
                        yield {**record, "left_out": absent}, limits


def machine() -> dict[str, Any]:
    """What it ran on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines()
    found = {line.partition(":")[0].strip(): line.partition(":")[2].strip() for line in lines}
    wanted = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8")
    return {
        "cpu": found.get("model name", platform.processor()),
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "flags": [flag for flag in wanted if flag in found.get("flags", "").split()],
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Of what took part."""
    found = {"python": platform.python_version()}
    for name in ("passerelle", "torch", "ctranslate2", "transformers", "sacrebleu"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    models = ("shipped", *RANDOM)
    parser.add_argument("--model", nargs="+", default=list(models), help="of " + ", ".join(models))
    parser.add_argument("--precision", nargs="+", choices=list(CONTESTANTS), default=list(CONTESTANTS))
    parser.add_argument("--batch", nargs="+", choices=[*CALLS, STREAM], default=[*CALLS, STREAM])
    parser.add_argument("--beam", nargs="+", type=int, default=[1, 4, 5])
    parser.add_argument("--without", nargs="*", default=[], help="contestants to leave out")
    parser.add_argument("--source", type=Path, required=True, help="a test set, a sentence a line")
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--stream", type=int, default=1000, help="sentences of the stream")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--merge", action="store_true", help="keep the cases of --out that are not run now")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    git = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    earlier: dict[str, Any] = {"cases": [], "limits": {}}
    if options.merge and options.out is not None and options.out.exists():
        earlier = json.loads(options.out.read_text(encoding="utf-8"))
    cases = {key_of(case): case for case in earlier["cases"]}
    for record, limits in measure(options):
        now, commit = datetime.now(UTC).isoformat(timespec="seconds"), git.stdout.strip()
        cases.pop(key_of(record), None)
        cases[key_of(record)] = {**record, "date": now, "commit": commit}
        earlier["limits"][record["model"]] = limits
        report = {
            "date": now,
            "commit": commit,
            "machine": machine(),
            "versions": versions(),
            "threads": options.threads,
            "device": options.device,
            "test_set": options.source.name,
            "limits": earlier["limits"],
            "cases": list(cases.values()),
        }
        if options.out is not None:  # after each case: who stops it keeps what was measured
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def key_of(record: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a case from others."""
    return tuple(record[key] for key in ("model", "precision", "batch", "beam"))


if __name__ == "__main__":
    main()
