"""``nmt learn``: a page of plots for each idea of the lectures, computed on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load
from nmt.commands.options import Model

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Without a name: the list.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="F", help="The page; default: NAME.html.")]
Text = Annotated[str | None, typer.Option("--text", metavar="S", help="A sentence for alignment or heads.")]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="F", help="For bottleneck: report.json of nmt compare.")
]
Updates = Annotated[
    int, typer.Option("--updates", metavar="N", min=1, help="Of each tiny model of positions and warmup.")
]
Longest = Annotated[
    int, typer.Option("--longest", metavar="N", min=8, max=2048, help="Tokens; for sequence and quadratic.")
]
Sentences = Annotated[
    int, typer.Option("--sentences", metavar="N", min=1, help="Of the sample that ships; for heads.")
]


def learn(
    name: Name = None,
    *,
    html: Html = None,
    model: Model = None,
    text: Text = None,
    report: Report = None,
    updates: Updates = 600,
    longest: Longest = 256,
    sentences: Sentences = 200,
) -> None:
    """Show an idea of the lectures in plots, as one HTML page."""
    load("training.learn.page:learn", extra="train")(
        name,
        html,
        model=model,
        text=text,
        report=report,
        updates=updates,
        longest=longest,
        sentences=sentences,
    )
