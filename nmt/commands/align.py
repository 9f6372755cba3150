"""``nmt align-links``, ``align-train`` and ``align-probe``: what links words with a model folder."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from nmt.commands.loading import load


def align_train(
    *,
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Model folder, or the name of one that ships.")
    ],
    links: Annotated[
        Path, typer.Option("--links", metavar="F", help="Linked pairs, as nmt align-links writes them.")
    ],
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            "--gold", metavar="X", help="Development set X.en, X.fr, X.gold for the rule; repeatable."
        ),
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", metavar="N", min=1, help="Pairs to learn from.")] = 150_000,
    learning_rate: Annotated[float, typer.Option("--learning-rate", metavar="R", min=0.0)] = 2e-3,
    seed: Annotated[int, typer.Option("--seed", metavar="N")] = 1,
    max_minutes: Annotated[
        float | None,
        typer.Option(
            "--max-minutes", metavar="N", min=0.1, help="Learn from as many pairs as there is time for."
        ),
    ] = None,
    is_reversed: Annotated[
        bool,
        typer.Option("--reversed", help="Links and gold are of the other direction: swap their sides."),
    ] = False,
    init_from: Annotated[
        str | None,
        typer.Option("--init-from", metavar="MODEL", help="Begin with the scorer of this model."),
    ] = None,
    save_to: Annotated[
        Path | None,
        typer.Option("--save-to", metavar="DIR", help="A copy of the model's folder to put it into instead."),
    ] = None,
) -> None:
    """Train the module that links words, beside a model that stays as it is."""
    gold_set = load("training.align.rule:GoldSet", extra="train")
    options = load("training.align.train:AlignTrainingOptions", extra="train")(
        pairs, learning_rate, seed, max_minutes or math.inf, is_reversed, init_from
    )
    config = load("training.align.train:align_train", extra="train")(
        model,
        links,
        gold=[gold_set.read(stem) for stem in gold or []],
        options=options,
        save_to=save_to,
    )
    described = load("training.align.train:describe", extra="train")(config)
    typer.echo(json.dumps(described, indent=2, ensure_ascii=False))


def align_probe(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder that may be changed.")],
    source: Annotated[
        Path, typer.Option("--source", metavar="F", help="A few hundred sentences, one a line.")
    ],
    target: Annotated[
        Path | None,
        typer.Option("--target", metavar="F", help="Their translations; default: the model's own."),
    ] = None,
) -> None:
    """Choose the attention that links words best, for a model without a link scorer.

    Words that both sides spell alike, names and numbers say, tell which it is.
    """
    for one in load("nmt.alignment_choice:choose_attention")(model, source, target)[:5]:
        which = "mean of its heads" if one.head is None else f"head {one.head}"
        typer.echo(f"layer {one.layer}, {which}: {one.n_right} of {one.n_anchors} words")


def align_links(
    *,
    source: Annotated[
        list[Path], typer.Option("--source", metavar="F", help="Source sentences, one a line; repeatable.")
    ],
    target: Annotated[
        list[Path], typer.Option("--target", metavar="F", help="Their translations; one for each --source.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="F", help="Write the links here; .xz compresses.")],
    most: Annotated[
        list[int] | None,
        typer.Option("--most", metavar="N", min=0, help="Pairs of each --source at most; 0: all."),
    ] = None,
    longest: Annotated[
        int, typer.Option("--longest", metavar="N", min=1, help="Leave out pairs of more words on a side.")
    ] = 40,
    seed: Annotated[int, typer.Option("--seed", metavar="N")] = 7,
) -> None:
    """Align parallel text with eflomal, for nmt align-train to learn from."""
    count = load("training.align.links:align_links", extra="train")(
        source, target, out, most=most or [], longest=longest, seed=seed
    )
    typer.echo(f"{out}: {count} pairs", err=True)
