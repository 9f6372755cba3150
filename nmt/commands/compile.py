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
) -> None:
    """Compile a model's decoding step for this machine's CPU, once; needs a C++ compiler, prints JSON."""
    print(json.dumps(load("nmt.compilation:compile_for")(model), ensure_ascii=False))
