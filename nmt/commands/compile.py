"""``nmt compile``: what decodes on this machine, compiled ahead of time."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nmt.commands.loading import load
from nmt.commands.options import Engine


def compile_step(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="Model folder, or the name of one that ships.")
    ] = None,
    *,
    engine: Engine = "auto",
    rows: Annotated[
        list[int] | None,
        typer.Option(
            "--rows",
            metavar="N",
            help="Sentences x beam size that get a step of their own; repeatable (default: those that pay).",
        ),
    ] = None,
) -> None:
    """Compile a model's decoding steps for this machine's CPU, once; needs a C++ compiler, prints JSON."""
    print(
        json.dumps(load("nmt.compilation:compile_for")(model, engine, rows=rows or None), ensure_ascii=False)
    )
