"""A toy task that a tiny Transformer learns on the spot: copy a sequence of random words, or reverse it.

Dimensions: B sequences, T their length with EOS.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import torch

from nmt.batch import Batch
from nmt.config import SpecialIds, TransformerConfig
from nmt.models.build import Model, build_model
from training.loss import Loss
from training.objective import Objective
from training.schedule import build_schedule

VOCAB = 14
SPECIAL = SpecialIds()
ROWS = 48


class Run(NamedTuple):
    """A tiny model that was trained."""

    model: Model
    losses: dict[float, float]
    """Negative log-likelihood of a word, in nats, by update."""


def tiny(**changes: object) -> TransformerConfig:
    """Two layers of 32, without dropout."""
    values: dict[str, object] = {
        "vocab_size": VOCAB,
        "d_model": 32,
        "d_ff": 64,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "dropout": 0.0,
        "max_positions": 64,
    }
    return TransformerConfig.model_validate({**values, **changes})


def draw(generator: random.Random, shortest: int, longest: int, *, reverse: bool = False) -> Batch:
    """Random sequences and what they become."""
    source = [
        [generator.randrange(4, VOCAB) for _ in range(generator.randint(shortest, longest))]
        for _ in range(ROWS)
    ]
    return Batch.from_ids(source, [ids[::-1] if reverse else ids for ids in source], special=SPECIAL)


def learn(
    config: TransformerConfig,
    updates: int,
    *,
    warmup: int = 30,
    rate: float = 0.005,
    smoothing: float = 0.0,
    longest: int = 6,
    reverse: bool = False,
) -> Run:
    """Train with Adam on sequences of 3 to ``longest`` words."""
    torch.manual_seed(1)
    generator = random.Random(1)
    model = build_model(config).train()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    schedule = build_schedule("constant", rate, warmup, updates, d_model=1)
    losses: dict[float, float] = {}
    for update in range(1, updates + 1):
        loss: Loss = Objective(smoothing)(model, draw(generator, 3, longest, reverse=reverse))
        (loss.smoothed / loss.n_tokens).backward()  # type: ignore[no-untyped-call]
        optimizer.param_groups[0]["lr"] = schedule(update)
        optimizer.step()
        optimizer.zero_grad()
        losses[update] = float(loss.nll / loss.n_tokens)
    return Run(model.eval().requires_grad_(False), losses)


@torch.no_grad()
def share_right(model: Model, length: int, *, reverse: bool = False) -> float:
    """Of words predicted after a true beginning, in sequences of ``length`` words; 0 to 1."""
    batch = draw(random.Random(2), length, length, reverse=reverse)
    assert batch.target_out_BT is not None
    guessed_BT = model(batch).argmax(dim=-1)
    return float((guessed_BT == batch.target_out_BT).float().mean())
