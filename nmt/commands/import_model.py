"""``nmt import``: a checkpoint of OPUS-MT, Marian, M2M-100, NLLB or CTranslate2 as a model folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from nmt.commands.loading import load
from nmt.errors import InputError


def import_model(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="A folder, a zip archive, or an id of the Hugging Face hub (Helsinki-NLP/opus-mt-en-fr).",
        ),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The model folder; default models/NAME.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Default: the last part of SOURCE.")
    ] = None,
    read: Annotated[
        str | None,
        typer.Option("--from", metavar="CODE", help="Language to read, where the checkpoint does not say."),
    ] = None,
    write: Annotated[str | None, typer.Option("--to", metavar="CODE", help="The same to write.")] = None,
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"] | None,
        typer.Option("--dtype", help="Of the weights; default: as they are."),
    ] = None,
    revision: Annotated[
        str | None, typer.Option("--revision", metavar="REV", help="Branch, tag or commit of the hub.")
    ] = None,
) -> None:
    """Make a model folder of a checkpoint of OPUS-MT, Marian, M2M-100 or NLLB, or of Marian in CTranslate2.

    Everything works with it: translate, serve, documents, alignments, calibrate, align-train.
    """
    called = name or Path(source.rstrip("/")).name.removesuffix(".zip")
    folder = out or Path("models") / called
    if folder.exists():
        raise InputError(f"{folder}: exists; choose another place with --out, or remove it")
    load("nmt.importers.read:import_checkpoint")(
        source, folder, name=called, read=read, write=write, dtype=dtype, revision=revision
    )
    typer.echo(f"{folder}\nnmt translate --model {folder} 'A text.'")
