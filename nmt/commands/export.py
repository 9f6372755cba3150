"""``nmt export``: nobody who trained a model here is locked in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from nmt.commands.loading import load


def export(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="Model folder, or the name of one that ships.")
    ] = None,
    *,
    format_: Annotated[
        Literal["ctranslate2", "onnx", "torch-export"], typer.Option("--format", help="What to write.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder that is new or empty.")],
) -> None:
    """Write a model for another runtime: CTranslate2, ONNX or torch.export."""
    load("nmt.export.write:export_model")(model, format_, out)
    typer.echo(str(out))
