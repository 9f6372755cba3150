"""``nmt attention``: heat maps of every head, statistics, pruning and words in context, as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load
from nmt.commands.options import Device, Model
from nmt.errors import ConfigError

Text = Annotated[str | None, typer.Argument(metavar="[TEXT]", help="A sentence whose heads are shown.")]
Target = Annotated[
    str | None, typer.Argument(metavar="[TARGET]", help="Its translation; default: the model's own.")
]
Html = Annotated[
    Path, typer.Option("--html", metavar="F", help="The report, one file without outside resources.")
]
JsonFile = Annotated[Path | None, typer.Option("--json", metavar="F", help="All that is in the report.")]
Png = Annotated[
    Path | None, typer.Option("--png", metavar="F", help="The heat maps of every head as a picture.")
]
Corpus = Annotated[
    Path | None,
    typer.Option("--corpus", metavar="X", help="X.en and X.fr: statistics of every head over them."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Sentences of --corpus.")]
Conllu = Annotated[
    Path | None,
    typer.Option("--conllu", metavar="F", help="Parsed source sentences: which heads follow grammar."),
]
Word = Annotated[
    str | None, typer.Option("--word", metavar="W", help="Compare a word across --context sentences.")
]
Context = Annotated[
    list[str] | None,
    typer.Option("--context", metavar="S", help="A sentence with the word; two or more."),
]
Prune = Annotated[
    int | None,
    typer.Option(
        "--prune",
        metavar="N",
        min=0,
        help="Mask each head in turn on --corpus, then remove the N least important ones.",
    ),
]
AtOnce = Annotated[
    int, typer.Option("--at-once", metavar="N", min=1, help="Heads removed between measurements.")
]
SavePruned = Annotated[
    Path | None,
    typer.Option("--save-pruned", metavar="DIR", help="Model folder without the N heads of --prune."),
]


def attention(
    text: Text = None,
    target: Target = None,
    *,
    html: Html = Path("attention.html"),
    json_file: JsonFile = None,
    png: Png = None,
    model: Model = None,
    corpus: Corpus = None,
    limit: Limit = 200,
    conllu: Conllu = None,
    word: Word = None,
    context: Context = None,
    prune: Prune = None,
    at_once: AtOnce = 5,
    save_pruned: SavePruned = None,
    device: Device = "auto",
) -> None:
    """Show what every attention head looks at, and what it is worth.

    Writes a report that needs no network, no notebook and no server.
    """
    if text is None and corpus is None and word is None and conllu is None:
        raise ConfigError("nothing to look at: give TEXT, --corpus X, --conllu F or --word W")
    if prune is not None and corpus is None:
        raise ConfigError("--prune measures on a corpus: add --corpus X, a development set")
    if save_pruned is not None and not prune:
        raise ConfigError("--save-pruned needs --prune N, the number of heads to remove")
    if (word is None) != (not context):
        raise ConfigError("--word W and --context S (twice or more) go together")
    load("training.explore.attention:explore", extra="train")(
        model,
        text,
        target,
        html=html,
        json_file=json_file,
        png=png,
        corpus=corpus,
        limit=limit,
        conllu=conllu,
        word=word,
        contexts=context or [],
        prune=prune,
        at_once=at_once,
        save_pruned=save_pruned,
        device=device,
    )
