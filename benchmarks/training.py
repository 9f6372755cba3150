"""How fast training is beside other trainers: one architecture, the same batches, one update in turn.

    nmt prepare multi30k_transformer --set data.dir=FOLDER --set tokenizer.vocab_size=6000 --out CORPUS
    python -m benchmarks.training --corpus CORPUS --out benchmarks/results/training.json

The peers' packages must be installed beside ours: transformers and joeynmt. Shapes: "multi30k" (4+4 layers,
d_model 256) on real batches of CORPUS, "base" (Transformer base) on one fixed batch of random ids. Each
trainer runs in a process of its own, in float32 and under bfloat16 autocast; a round trains each on one
batch, so a machine that slows down slows all of them. A ratio is the median over rounds of ours / theirs.

Utilisation is the share of the machine's matrix products (one large product, timed between rounds) that
the model's own operations take (``training.speed``).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from benchmarks.training_peers import BOS, EOS, PAD, TRAINERS
from nmt.batch import Batch
from nmt.config import TransformerConfig
from nmt.models.build import build_model
from nmt.tokenizer import Tokenizer
from training.batching import BatchStream
from training.provenance import provenance
from training.shards import PreparedCorpus
from training.speed import operations_of_a_pair, operations_per_second

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
FIXED_LENGTH = 32
"""Tokens of each side of each pair in the fixed batch, EOS included."""


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
        "--batch-tokens", type=int, default=4096, help="of the real batches, padding included"
    )
    parser.add_argument("--fixed-rows", type=int, default=64, help="sentences of the fixed batch")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    record: dict[str, Any] = {"peers": {name: version(name) for name in ("transformers", "joeynmt", "torch")}}
    for shape_name in arguments.shape or SHAPES:
        shape = SHAPES[shape_name]
        batches = (
            real_batches(arguments.corpus, shape, arguments.batch_tokens, arguments.rounds)
            if shape_name == "multi30k"
            else [fixed_batch(shape["vocab_size"], arguments.fixed_rows)]
        )
        record[shape_name] = {"shape": shape, "batches": describe(batches)}
        for precision in arguments.precision or PRECISIONS:
            result = measure(shape, precision, batches, arguments.rounds)
            record[shape_name][precision] = result
            for trainer in result["trainers"]:
                print(shape_name, precision, json.dumps(trainer), file=sys.stderr, flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**record, **provenance()}, indent=2, ensure_ascii=False) + "\n"
    arguments.out.write_text(text, encoding="utf-8")


def measure(shape: dict[str, Any], precision: str, batches: list[Batch], rounds: int) -> dict[str, Any]:
    """All trainers in one precision."""
    operations = operations_of(shape, batches)
    bound = operations_per_second(torch.device("cpu"), PRECISIONS[precision])
    seconds: dict[str, list[float]] = {name: [] for name in TRAINERS}
    losses: dict[str, list[float]] = {name: [] for name in TRAINERS}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batches.safetensors"
        write(batches, file)
        contestants = [fastest_variant(name, shape, precision, file) for name in TRAINERS]
        try:
            for index in range(rounds):
                for contestant in contestants:
                    answer = contestant.ask(str(index % len(batches)))
                    seconds[contestant.name].append(answer["seconds"])
                    losses[contestant.name].append(answer["loss"])
                bound = max(bound, operations_per_second(torch.device("cpu"), PRECISIONS[precision]))
            peaks = {contestant.name: contestant.ask("0")["peak_mib"] for contestant in contestants}
        finally:
            for contestant in contestants:
                contestant.end()
    used = [batches[index % len(batches)] for index in range(rounds)]
    tokens = [int(batch.target_mask_BT.sum()) for batch in used if batch.target_mask_BT is not None]
    trainers = [
        {
            "name": contestant.name,
            "attention": contestant.ready["variant"],
            "target_tokens_per_second": round(sum(tokens) / sum(seconds[contestant.name]), 1),
            "utilisation": round(
                sum(operations[index % len(batches)] for index in range(rounds))
                / sum(seconds[contestant.name]) / bound, 4,
            ),
            "peak_mib": round(peaks[contestant.name]),
            "mib_before_first_update": round(contestant.ready["before_mib"]),
            "ours_over_theirs": round(
                statistics.median(
                    theirs / ours
                    for ours, theirs in zip(seconds[OURS], seconds[contestant.name], strict=True)
                ), 3,
            ),
            "first_loss": round(losses[contestant.name][0], 3),
            "last_loss": round(losses[contestant.name][-1], 3),
        }
        for contestant in contestants
    ]  # fmt: skip
    return {"product_bound_gflops": round(bound / 1e9, 1), "rounds": rounds, "trainers": trainers}


def fastest_variant(name: str, shape: dict[str, Any], precision: str, file: Path) -> Contestant:
    """Start a trainer with the kind of attention that makes it fastest in this precision."""
    _, variants = TRAINERS[name]
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


def real_batches(corpus: Path, shape: dict[str, Any], batch_tokens: int, count: int) -> list[Batch]:
    """The first batches of an epoch, as training draws them."""
    prepared = PreparedCorpus.open(corpus)
    tokenizer = Tokenizer.load(prepared.tokenizer_file)
    if tokenizer.vocab_size != shape["vocab_size"]:
        raise SystemExit(f"{corpus}: {tokenizer.vocab_size} pieces; prepare it with {shape['vocab_size']}")
    stream = BatchStream(
        prepared.split("train"), tokenizer, batch_tokens=batch_tokens, seed=1, subword_sampling=0.0
    )
    return [stream.next() for _ in range(count)]


def fixed_batch(vocab_size: int, rows: int) -> Batch:
    """Random ids without padding."""
    torch.manual_seed(1)
    ids = torch.randint(4, vocab_size, (2, rows, FIXED_LENGTH))
    ids[:, :, -1] = EOS
    real = torch.ones(rows, FIXED_LENGTH, dtype=torch.bool)
    target_in_BT = ids[1].roll(1, dims=1)
    target_in_BT[:, 0] = BOS
    return Batch(ids[0], real, target_in_BT, ids[1], real)


def write(batches: list[Batch], file: Path) -> None:
    """Batches as ``benchmarks.training_peers`` reads them."""
    tensors = {}
    for index, batch in enumerate(batches):
        assert batch.target_in_BT is not None
        assert batch.target_out_BT is not None
        assert batch.target_mask_BT is not None
        tensors |= {
            f"{index}.source": batch.source_BS.masked_fill(~batch.source_mask_BS, PAD).clone(),
            f"{index}.source_mask": batch.source_mask_BS.clone(),
            f"{index}.target_in": batch.target_in_BT.clone(),
            f"{index}.target_out": batch.target_out_BT.clone(),
            f"{index}.target_mask": batch.target_mask_BT.clone(),
        }
    save_file(tensors, file)


def describe(batches: list[Batch]) -> dict[str, Any]:
    """How many and how large."""
    masks = [batch.target_mask_BT for batch in batches if batch.target_mask_BT is not None]
    real = sum(int(mask_BT.sum()) for mask_BT in masks)
    return {
        "count": len(batches),
        "sentences": sum(batch.size for batch in batches),
        "target_tokens": real,
        "target_padding": round(1 - real / sum(mask_BT.numel() for mask_BT in masks), 4),
    }


def operations_of(shape: dict[str, Any], batches: list[Batch]) -> list[int]:
    """Operations of each batch's real tokens: of a pair of its mean lengths, times its pairs."""
    names = ("vocab_size", "d_model", "d_ff", "n_heads")
    config = TransformerConfig(
        **{name: shape[name] for name in names},
        n_encoder_layers=shape["n_layers"],
        n_decoder_layers=shape["n_layers"],
    )
    model = build_model(config)
    found = []
    for batch in batches:
        assert batch.target_mask_BT is not None
        means = (round(int(mask.sum()) / batch.size) for mask in (batch.source_mask_BS, batch.target_mask_BT))
        found.append(batch.size * operations_of_a_pair(model, *means))
    return found


if __name__ == "__main__":
    main()
