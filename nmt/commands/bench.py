"""``nmt bench``: how fast this machine does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load

bench_app = typer.Typer(help="Measure speed on this machine: train.")


@bench_app.callback()
def bench() -> None:
    """Measure speed on this machine."""


@bench_app.command()
def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A TOML file, or the name of a recipe that ships.")
    ],
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="A folder that 'nmt prepare' wrote; default: random ids."),
    ] = None,
    updates: Annotated[int, typer.Option("--updates", metavar="N", min=1)] = 20,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one value of the recipe; repeatable."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines.")] = False,
) -> None:
    """Train a recipe's model for a few updates and write nothing: tokens a second, utilisation, memory."""
    report = load("training.bench:bench_training", extra="train")(recipe, data, updates, overrides or [])
    typer.echo(report.json() if as_json else report.text())
