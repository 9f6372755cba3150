"""``nmt blend``: an adapted model and the one it began with, in the shares that their owner likes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load


def blend(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder, say the adapted one.")],
    other: Annotated[
        str, typer.Argument(metavar="OTHER", help="The one it began with: a folder, or a name that ships.")
    ],
    *,
    share: Annotated[
        float, typer.Option("--share", metavar="W", help="Of MODEL's weights, 0 to 1; the rest is OTHER's.")
    ] = 0.5,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The new model folder.")],
) -> None:
    """Average the weights of an adapted model and the one it began with: less is forgotten."""
    typer.echo(str(load("training.blend:blend", extra="train")(model, other, share, out)))
