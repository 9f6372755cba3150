"""Options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from nmt.errors import ConfigError, InputError

Model = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="DIR", help="Model folder, or the name of one that ships with the package."
    ),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]
Beam = Annotated[
    int | None,
    typer.Option("--beam", metavar="N", min=1, max=64, help="Beam size; 1 is greedy search."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one value of the recipe; repeatable."),
]
Recipe = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A TOML file, or the name of a recipe that ships.")
]
Sources = Annotated[
    list[Path], typer.Option("--source", metavar="F", help="Source sentences, one a line; repeatable.")
]
References = Annotated[
    list[Path],
    typer.Option("--reference", metavar="F", help="Their reference translations; one for each --source."),
]
LowercaseTokenized = Annotated[
    bool,
    typer.Option(
        "--lowercase-tokenized",
        help="Also give BLEU on the Multi30k literature's scale: lower-cased, normalised, Moses-tokenised.",
    ),
]
Engine = Annotated[
    str, typer.Option("--engine", help="auto, eager, int8, float32, bfloat16 or float16: see nmt info.")
]
GlossaryFile = Annotated[
    Path | None,
    typer.Option("--glossary", metavar="F", help="Terms: SOURCE tab TARGET [tab inflect], or TBX."),
]

Source = Annotated[
    str | None,
    typer.Option("--from", metavar="CODE", help="Language of the text; by default the text tells."),
]
Target = Annotated[str | None, typer.Option("--to", metavar="CODE", help="Language to translate to.")]


@contextmanager
def named_as_typed(*fields: str) -> Iterator[None]:
    """An error of the block that begins with one of ``fields`` names it as typed: ``--min-confidence``."""
    try:
        yield
    except (ConfigError, InputError) as error:
        found = re.match(r"\w+", str(error))
        if found is None or found[0] not in fields:
            raise
        option = f"--{found[0].replace('_', '-')}"
        raise type(error)(str(error).replace(found[0], option)) from None
