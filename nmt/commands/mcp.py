"""``nmt mcp``: tools for assistants, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load
from nmt.commands.options import Device, Engine


def mcp(
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="DIR",
            help="Model folder, or the name of one that ships; repeatable, one for each direction, the "
            "default first. Without any: all that ship.",
        ),
    ] = None,
    glossary: Annotated[
        list[Path] | None,
        typer.Option(
            "--glossary",
            metavar="F",
            help="Terms that may be applied, TSV or TBX; repeatable. terms.fr-en.tsv: for French to English.",
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Listen on HTTP instead of standard input and output.")
    ] = False,
    host: Annotated[str, typer.Option("--host", metavar="H", help="Of this machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="P", min=1, max=65535)] = 8001,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Serve translate, detect, align and glossary tools to assistants (Model Context Protocol)."""
    load("nmt.mcp.server:serve", extra="mcp")(
        model or [], glossary or [], http=http, host=host, port=port, device=device, engine=engine
    )
