"""``nmt grow``: a deeper model that begins where another one stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load


def grow(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder, or a name that ships.")],
    *,
    encoder_layers: Annotated[
        int, typer.Option("--encoder-layers", metavar="N", help="Layers of the encoder, more than it has.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The new model folder.")],
) -> None:
    """Deepen a Transformer's encoder without changing what it computes, to train it on from there."""
    typer.echo(str(load("training.grow:grow", extra="train")(model, encoder_layers, out)))
