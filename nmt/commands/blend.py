"""``nmt blend``: models of one origin, in the shares that their owner likes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load


def blend(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder, say the adapted one.")],
    others: Annotated[
        list[str],
        typer.Argument(
            metavar="OTHER...",
            help="The one it began with, or others of that origin: folders, or names that ship.",
        ),
    ],
    *,
    share: Annotated[
        float | None,
        typer.Option(
            "--share",
            metavar="W",
            help="Of MODEL's weights, 0 to 1; the others have equal parts of the rest. "
            "Without it all are equal.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The new model folder.")],
) -> None:
    """Average the weights of an adapted model and the one it began with: less is forgotten."""
    typer.echo(str(load("training.blend:blend", extra="train")(model, others, share, out)))
