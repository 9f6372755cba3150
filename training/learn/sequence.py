"""What training costs in sequence: an RNN and a Transformer, tokens a second by length, measured here."""

from __future__ import annotations

import torch

from nmt.batch import Batch
from nmt.config import ModelConfig, RnnConfig, TransformerConfig
from nmt.models.build import build_model
from training.learn.figures import draw_curves, panels
from training.learn.lesson import Given, Lesson, Part
from training.learn.timing import seconds
from training.learn.toy import SPECIAL
from training.objective import Objective

TOKENS = 1024
"""Of each side of a batch, at every length."""
VOCAB = 1000
MODELS: dict[str, ModelConfig] = {
    "RNN with attention": RnnConfig(vocab_size=VOCAB, d_embedding=128, d_hidden=128, dropout=0.0),
    "Transformer": TransformerConfig(
        vocab_size=VOCAB,
        d_model=128,
        d_ff=256,
        n_heads=4,
        n_encoder_layers=2,
        n_decoder_layers=2,
        dropout=0.0,
    ),
}


def training_speed(config: ModelConfig, length: int) -> float:
    """Target tokens a second, forward and backward."""
    torch.manual_seed(1)
    model = build_model(config).train()
    rows = torch.randint(4, VOCAB, (max(1, TOKENS // length), length)).tolist()
    batch = Batch.from_ids(rows, rows, special=SPECIAL)

    def work() -> None:
        Objective()(model, batch).smoothed.backward()  # type: ignore[no-untyped-call]

    return len(rows) * length / seconds(work)


def parts(given: Given) -> list[Part]:
    """Speed by length."""
    lengths = [2**n for n in range(3, 12) if 2**n <= given.longest]
    speeds = {name: {float(n): training_speed(config, n) for n in lengths} for name, config in MODELS.items()}
    figure, [axes] = panels(1, width=7.5)
    draw_curves(axes, "Target tokens a second in training", "length", speeds, log_x=True)
    axes.set_ylim(bottom=0)
    told = "; ".join(
        f"{name} {curve[float(lengths[0])]:,.0f} to {curve[float(lengths[-1])]:,.0f}"
        for name, curve in speeds.items()
    )
    return [
        Part(
            "Tokens a second",
            f"Batches of {TOKENS:,} tokens on each side, forward and backward, for each second of the "
            "processor. A recurrent network takes its states one after the other: the longer the "
            "sequences, the more steps there are and the fewer rows share one. A Transformer reads all "
            f"positions at once. From {lengths[0]} tokens to {lengths[-1]}: {told} target tokens a second. "
            "A GPU does many rows in the time of one, so there it is the number of steps alone that counts.",
            figure,
        )
    ]


LESSON = Lesson(
    "sequence", "What training costs in sequence", "Vaswani et al. 2017, section 4, table 1", parts
)
