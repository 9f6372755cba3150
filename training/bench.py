"""``nmt bench train``: what a recipe's training step takes on this machine, with nothing written."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from nmt.allocator import keep_freed_memory
from nmt.batch import Batch
from nmt.config import SpecialIds
from nmt.errors import ConfigError
from nmt.models.build import Model, build_model
from nmt.tokenizer import Tokenizer
from training.batching import BatchStream
from training.data.shards import PreparedCorpus
from training.distributed import World
from training.objective import build_objective
from training.optimizer import build_optimizer
from training.recipe import TUNING, Recipe, load_recipe
from training.speed import has_bf16_units, operations_of_a_pair, operations_per_second, peak_memory_mib
from training.step import TeacherForcedLoss, TrainingStep

WARM_UP = 2
RANDOM_LENGTH = 32
"""Tokens of each side of each pair without a corpus, EOS included."""


@dataclass(frozen=True)
class SpeedReport:
    """Medians over the updates."""

    recipe: str
    device: str
    precision: str
    updates: int
    target_tokens_per_update: float
    seconds_per_update: float
    target_tokens_per_second: float
    utilisation: float
    """Share of the matrix products that the device can do (``training.speed``)."""
    peak_memory_mib: float

    def text(self) -> str:
        """For people."""
        return (
            f"{self.recipe} on {self.device} in {self.precision}: "
            f"{self.target_tokens_per_second:,.0f} target tokens/s, "
            f"{self.utilisation:.1%} of the device's matrix products, "
            f"{self.peak_memory_mib:,.0f} MiB at most; an update of "
            f"{self.target_tokens_per_update:,.0f} target tokens takes {self.seconds_per_update:.3f} s"
        )

    def json(self) -> str:
        """For programs."""
        return json.dumps(asdict(self))


def bench_training(recipe: str, data: Path | None, updates: int, overrides: Sequence[str]) -> SpeedReport:
    """Time ``updates`` updates of a recipe's model after a few to warm up.

    Args:
        recipe: a file, or the name of one that ships.
        data: a prepared corpus; None takes random sentences of 32 tokens.
        updates: how many.
        overrides: ``dotted.key=value`` of the recipe.
    """
    settings = load_recipe(recipe, overrides)
    options = settings.training
    if options.objective in TUNING:
        raise ConfigError(
            f"{recipe}: training.objective {options.objective} samples, and random weights never end; "
            "time the recipe that it extends"
        )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    bf16 = options.precision == "bf16" or (options.precision == "auto" and has_bf16_units(device))
    keep_freed_memory()
    updates_of_batches, vocab_size = _batches(settings, data, WARM_UP + updates)
    torch.manual_seed(options.seed)
    model = build_model(settings.model_config_for(vocab_size)).to(device)
    operations = [
        options.readings * sum(_operations(model, batch) for batch in batches)
        for batches in updates_of_batches
    ]
    loss = TeacherForcedLoss(model, build_objective(settings), bf16=bf16, compiled=options.compile)
    step = TrainingStep(loss, build_optimizer(model, options), options, World(device=device))
    seconds, tokens = [], []
    for update, batches in enumerate(updates_of_batches, start=1):
        began_s = time.perf_counter()
        report = step(batches, update)
        float(report.gradient_norm)  # waits for the device
        seconds.append(time.perf_counter() - began_s)
        tokens.append(report.sums.n_tokens)
    seconds, tokens, operations = seconds[WARM_UP:], tokens[WARM_UP:], operations[WARM_UP:]
    bound = operations_per_second(device, torch.bfloat16 if bf16 else torch.float32)
    return SpeedReport(
        recipe=settings.name,
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        precision="bf16" if bf16 else "fp32",
        updates=updates,
        target_tokens_per_update=round(statistics.mean(tokens), 1),
        seconds_per_update=round(statistics.median(seconds), 4),
        target_tokens_per_second=round(statistics.median(map(_ratio, tokens, seconds)), 1),
        utilisation=round(statistics.median(map(_ratio, operations, seconds)) / bound, 9),
        peak_memory_mib=round(peak_memory_mib(device), 1),
    )


def _batches(settings: Recipe, data: Path | None, updates: int) -> tuple[list[list[Batch]], int]:
    """The batches of each update, and the size of the vocabulary."""
    options = settings.training
    if data is None:
        vocab_size = settings.tokenizer.vocab_size
        torch.manual_seed(options.seed)
        rows = max(1, options.batch_tokens // RANDOM_LENGTH)
        random = [[_random(vocab_size, rows) for _ in range(options.accumulate)] for _ in range(updates)]
        return random, vocab_size
    corpus = PreparedCorpus.open(data)
    tokenizer = Tokenizer.load(corpus.tokenizer_file)
    stream = BatchStream(
        corpus.split("train"),
        tokenizer,
        batch_tokens=options.batch_tokens,
        seed=options.seed,
        subword_sampling=options.subword_sampling,
    )
    drawn = [[stream.next() for _ in range(options.accumulate)] for _ in range(updates)]
    return drawn, tokenizer.vocab_size


def _random(vocab_size: int, rows: int) -> Batch:
    ids = torch.randint(4, vocab_size, (2, rows, RANDOM_LENGTH - 1)).tolist()
    return Batch.from_ids(*ids, special=SpecialIds())


def _operations(model: Model, batch: Batch) -> int:
    """Operations of a pair of the batch's mean lengths, times its pairs."""
    assert batch.target_mask_BT is not None
    source, target = (
        round(int(mask.sum()) / batch.size) for mask in (batch.source_mask_BS, batch.target_mask_BT)
    )
    return batch.size * operations_of_a_pair(model, source, target)


def _ratio(part: float, seconds: float) -> float:
    return part / seconds
