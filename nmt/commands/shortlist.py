"""``nmt shortlist``: which target pieces a source sentence can need, learnt from parallel text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load
from nmt.errors import ConfigError


def shortlist(
    model: Annotated[
        str | None, typer.Argument(metavar="[MODEL]", help="Model folder, or the name of one that ships.")
    ] = None,
    *,
    source: Annotated[
        list[Path],
        typer.Option("--source", metavar="F", help="Of the corpus, a sentence a line; repeatable."),
    ],
    target: Annotated[
        list[Path], typer.Option("--target", metavar="F", help="Translations; one for each --source.")
    ],
    dev_source: Annotated[
        Path | None, typer.Option("--dev-source", metavar="F", help="Measure on this development set.")
    ] = None,
    dev_reference: Annotated[Path | None, typer.Option("--dev-reference", metavar="F")] = None,
    frequent: Annotated[
        int, typer.Option("--frequent", metavar="N", min=0, help="Pieces that are in every list.")
    ] = 300,
    candidates: Annotated[
        int, typer.Option("--candidates", metavar="N", min=1, help="Pieces for each source piece.")
    ] = 30,
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="N", min=1, help="Of the corpus, spread evenly over it.")
    ] = 200_000,
) -> None:
    """Learn a vocabulary shortlist from parallel text and add it to a model folder; prints JSON."""
    if (dev_source is None) != (dev_reference is None):
        raise ConfigError("--dev-source and --dev-reference go together")
    settings = load("training.shortlist:Settings", extra="train")(frequent, candidates)
    report = load("training.shortlist:shortlist", extra="train")(
        model,
        source,
        target,
        dev=None if dev_source is None else (dev_source, dev_reference),
        settings=settings,
        most_pairs=pairs,
    )
    typer.echo(json.dumps(report, indent=2))
