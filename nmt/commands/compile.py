"""``nmt compile``: what decodes on this machine, compiled ahead of time."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nmt.commands.loading import load


def compile_step(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="Model folder, or the name of one that ships.")
    ] = None,
    *,
    beam_size: Annotated[
        list[int] | None,
        typer.Option(
            "--beam-size",
            metavar="K",
            help="Of single sentences, each with a step of its own; repeatable (default: 1 and 5).",
        ),
    ] = None,
) -> None:
    """Compile a model's decoding steps for this machine's CPU, once; needs a C++ compiler, prints JSON."""
    chosen = {} if beam_size is None else {"beam_sizes": beam_size}
    print(json.dumps(load("nmt.compilation:compile_for")(model, **chosen), ensure_ascii=False))
