"""``nmt grow``: a larger model that begins where another one stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load


def grow(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder, or a name that ships.")],
    *,
    encoder_layers: Annotated[
        int | None, typer.Option("--encoder-layers", metavar="N", help="Layers of the encoder.")
    ] = None,
    decoder_layers: Annotated[
        int | None, typer.Option("--decoder-layers", metavar="N", help="Layers of the decoder.")
    ] = None,
    d_ff: Annotated[
        int | None, typer.Option("--d-ff", metavar="N", help="Units of each feed-forward network.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The new model folder.")],
) -> None:
    """Enlarge a Transformer without changing what it computes, to train it on from there."""
    made = load("training.grow:grow", extra="train")(
        model, out, encoder_layers=encoder_layers, decoder_layers=decoder_layers, d_ff=d_ff
    )
    typer.echo(str(made))
