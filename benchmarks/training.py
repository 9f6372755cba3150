"""How fast training is beside other trainers: one architecture, the same batches, one update in turn.

    nmt prepare multi30k_transformer --set data.dir=FOLDER --set tokenizer.vocab_size=6000 --out CORPUS
    python -m benchmarks.training --corpus CORPUS --out benchmarks/results/training.json
    python -m benchmarks.training --corpus CORPUS --out FILE --shape base --precision fp32 --seconds 110

The peers' packages must be installed beside ours: transformers and joeynmt. Shapes: "multi30k" (4+4 layers,
d_model 256) on real batches of CORPUS, "base" (Transformer base) on one fixed batch of random ids. Each
trainer runs in a process of its own, in float32 and under bfloat16 autocast; a round trains each on one
batch, so a machine that slows down slows all of them. A ratio is the median over rounds of theirs / ours.

What a run measures is added to FILE: rounds of a shape and precision may come from several runs, each with
the batches after those of the run before, and a round is always of one run. The kind of attention that a peer
is fastest with is found in the first. Utilisation is the share of the machine's matrix products (one large
product, timed between rounds) that the model's own operations take (``training.speed``).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.training_batches import fixed_batch, operations_of, real_batches, target_tokens_of, write
from benchmarks.training_peers import TRAINERS
from nmt.batch import Batch
from training.provenance import provenance
from training.speed import operations_per_second

OURS = "passerelle"
SHAPES: dict[str, dict[str, Any]] = {
    "multi30k": {
        "vocab_size": 6000, "d_model": 256, "d_ff": 1024, "n_heads": 4, "n_layers": 4, "dropout": 0.1,
    },
    "base": {
        "vocab_size": 32000, "d_model": 512, "d_ff": 2048, "n_heads": 8, "n_layers": 6, "dropout": 0.1,
    },
}  # fmt: skip
PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16}


@dataclass
class Contestant:
    """One trainer's process."""

    name: str
    process: subprocess.Popen[str]
    ready: dict[str, Any]

    def ask(self, line: str) -> dict[str, Any]:
        """Train on a batch and take the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """The next line of JSON."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        raise RuntimeError(f"{self.name}: ended without an answer")

    def end(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="a prepared corpus of 6,000 pieces")
    parser.add_argument("--shape", choices=SHAPES, action="append", help="by default both")
    parser.add_argument("--precision", choices=PRECISIONS, action="append", help="by default both")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        help="of a shape and precision, after which no round begins",
    )
    parser.add_argument(
        "--batch-tokens", type=int, default=4096, help="of the real batches, padding included"
    )
    parser.add_argument("--fixed-rows", type=int, default=64, help="sentences of the fixed batch")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    out: Path = arguments.out
    record: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    record["peers"] = {name: version(name) for name in ("transformers", "joeynmt", "torch")}
    for shape_name in arguments.shape or SHAPES:
        shape = SHAPES[shape_name]
        of_shape = record.setdefault(shape_name, {"shape": shape})
        for precision in arguments.precision or PRECISIONS:
            case = of_shape.setdefault(precision, {"rounds": [], "attention": {}, "runs": []})
            batches = (
                real_batches(
                    arguments.corpus, shape, arguments.batch_tokens, len(case["rounds"]), arguments.rounds
                )
                if shape_name == "multi30k"
                else [fixed_batch(shape["vocab_size"], arguments.fixed_rows)] * arguments.rounds
            )
            measure(case, shape, precision, batches, arguments.seconds)
            case["trainers"] = summary(case)
            for trainer in case["trainers"]:
                print(shape_name, precision, json.dumps(trainer), file=sys.stderr, flush=True)
            out.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({**record, **provenance()}, indent=1, ensure_ascii=False) + "\n"
            out.write_text(text, encoding="utf-8")


def measure(
    case: dict[str, Any], shape: dict[str, Any], precision: str, batches: list[Batch], at_most_s: float
) -> None:
    """Add to ``case`` a round for each batch, or for as many as time allows, and one at least."""
    began_s, before = time.perf_counter(), len(case["rounds"])
    device, dtype = torch.device("cpu"), PRECISIONS[precision]
    bound = operations_per_second(device, dtype)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batches.safetensors"
        write(batches, file)
        contestants = [
            fastest_variant(name, shape, precision, file, case["attention"].get(name)) for name in TRAINERS
        ]
        try:
            for index, (batch, operations) in enumerate(
                zip(batches, operations_of(shape, batches), strict=True)
            ):
                if index and time.perf_counter() - began_s > at_most_s:
                    break
                answers = {contestant.name: contestant.ask(str(index)) for contestant in contestants}
                case["rounds"].append(
                    {
                        "sentences": batch.size,
                        "target_tokens": target_tokens_of(batch),
                        "operations": operations,
                        "seconds": {name: round(answer["seconds"], 4) for name, answer in answers.items()},
                        "loss": {name: round(answer["loss"], 3) for name, answer in answers.items()},
                        "peak_mib": {name: round(answer["peak_mib"]) for name, answer in answers.items()},
                    }
                )
                bound = max(bound, operations_per_second(device, dtype))
        finally:
            for contestant in contestants:
                contestant.end()
    case["attention"] = {contestant.name: contestant.ready["variant"] for contestant in contestants}
    case["mib_before_first_update"] = {
        contestant.name: round(contestant.ready["before_mib"]) for contestant in contestants
    }
    case["product_bound_gflops"] = round(max(bound / 1e9, case.get("product_bound_gflops", 0.0)), 1)
    made = provenance()
    case["runs"].append(
        {"rounds": len(case["rounds"]) - before, **{key: made[key] for key in ("command", "date", "commit")}}
    )


def summary(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Of all rounds of a case, for each trainer."""
    rounds = case["rounds"]
    found = []
    for name in rounds[0]["seconds"]:
        seconds = sum(one["seconds"][name] for one in rounds)
        ratios = sorted(one["seconds"][name] / one["seconds"][OURS] for one in rounds)
        operations = sum(one["operations"] for one in rounds)
        found.append(
            {
                "name": name,
                "attention": case["attention"][name],
                "target_tokens_per_second": round(sum(one["target_tokens"] for one in rounds) / seconds, 1),
                "utilisation": round(operations / seconds / (case["product_bound_gflops"] * 1e9), 4),
                "peak_mib": max(one["peak_mib"][name] for one in rounds),
                "ours_over_theirs": round(statistics.median(ratios), 3),
                "lowest_and_highest": [round(ratios[0], 3), round(ratios[-1], 3)],
            }
        )
    return found


def fastest_variant(
    name: str, shape: dict[str, Any], precision: str, file: Path, known: str | None
) -> Contestant:
    """Start a trainer with the kind of attention that is known, or found, to be its fastest."""
    variants = (known,) if known else TRAINERS[name][1]
    started = [start(name, variant, shape, precision, file) for variant in variants[:1]]
    for variant in variants[1:]:
        other = start(name, variant, shape, precision, file)
        slower, faster = sorted(
            (started[0], other), key=lambda contestant: -float(contestant.ready["seconds"])
        )
        slower.end()
        started = [faster]
    return started[0]


def start(name: str, variant: str, shape: dict[str, Any], precision: str, file: Path) -> Contestant:
    """A trainer's process, when it is warm."""
    settings = json.dumps({"shape": shape, "precision": precision, "variant": variant})
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.training_peers", name, settings, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    contestant = Contestant(name, process, {})
    contestant.ready = contestant.answer()
    return contestant


if __name__ == "__main__":
    main()
