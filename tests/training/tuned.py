"""What tests of tuning share: a run of words to begin with, and the weights of two runs compared."""

from __future__ import annotations

from pathlib import Path

import torch

from training.state import checkpoints, load_weights
from training.train import train

SMALL = {
    "d_model": 16,
    "d_ff": 32,
    "n_heads": 2,
    "n_encoder_layers": 1,
    "n_decoder_layers": 1,
    "dropout": 0.0,
}
"""A Transformer that learns in seconds."""
SHORT = (
    "training.batch_tokens=100",
    "training.precision=fp32",
    "training.max_updates=4",
    "training.save_every=2",
    "training.validate_every=4",
    "training.average_last=1",
    "training.learning_rate=0.001",
    "training.tuning.samples=3",
    "model.dropout=0",
)


def beginning(recipe_file: Path, folder: Path) -> Path:
    """The model folder of a short run on words."""
    words = [*SHORT, "training.max_updates=30", "training.validate_every=30", "training.learning_rate=0.01"]
    return train(str(recipe_file), folder / "words", overrides=words)


def last_weights(run: Path) -> dict[str, torch.Tensor]:
    return load_weights(checkpoints(run / "checkpoints")[-1])


def same_weights(one: Path, other: Path) -> bool:
    first, second = last_weights(one), last_weights(other)
    return all(torch.equal(first[name], second[name]) for name in first)
