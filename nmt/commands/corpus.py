"""``nmt translate-corpus``: a folder of shards, on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load
from nmt.commands.options import Beam, Device, Model, Source, Target
from nmt.model_folder.registry import resolve_model


def translate_corpus(
    shards: Annotated[Path, typer.Argument(metavar="IN", help="A folder of NAME.txt or NAME.parquet.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder that gets a shard for each.")],
    model: Model = None,
    source: Source = None,
    target: Target = None,
    beam: Beam = None,
    column: Annotated[
        str, typer.Option("--column", metavar="NAME", help="Column of the texts in Parquet.")
    ] = "text",
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, help="Default: one a core, or GPU.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Translate a corpus in shards on a Ray cluster; goes on where it was interrupted."""
    translate_folder = load("nmt.offline.cluster:translate_folder", extra="ray")
    if source is not None or target is not None:
        model = str(resolve_model(model, source=source, target=target))
    print(
        translate_folder(shards, out, model=model, device=device, column=column, beam=beam, workers=workers)
    )
