"""``nmt check``: what seems wrong with a translation that anybody made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nmt.commands.loading import load
from nmt.commands.options import GlossaryFile
from nmt.errors import InputError
from nmt.text.glossary import Glossary

if TYPE_CHECKING:
    from nmt.pipeline.check import Problem


def check(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A text; with --files a file of lines.")],
    translation: Annotated[str, typer.Argument(metavar="TRANSLATION", help="The same of its translation.")],
    *,
    read: Annotated[str, typer.Option("--from", metavar="CODE", help="Language of SOURCE.")] = "en",
    written: Annotated[str, typer.Option("--to", metavar="CODE", help="Language of TRANSLATION.")] = "fr",
    files: Annotated[bool, typer.Option("--files", help="Both are files, compared line by line.")] = False,
    glossary: GlossaryFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each line.")] = False,
) -> None:
    """Compare numbers, placeholders, marks, words and terms of a text and its translation.

    In files a short line that comes three times, and a term, are to be translated alike. The exit status is 1
    if anything seems wrong. No model is asked.
    """
    terms = None if glossary is None else Glossary.read(glossary, source=read, target=written)
    pairs = list(_pairs(source, translation, files=files))
    unlike: list[list[Problem]] = load("nmt.pipeline.consistency:inconsistent_terms")(pairs, terms)
    n_wrong = 0
    for number, (one, other) in enumerate(pairs, start=1):
        problems: list[Problem] = load("nmt.pipeline.check:check_translation")(
            one, other, (read, written), terms
        )
        problems += unlike[number - 1]
        n_wrong += bool(problems)
        if as_json:
            found = [{"kind": problem.kind, "detail": problem.detail} for problem in problems]
            line: dict[str, Any] = {"source": one, "translation": other, "problems": found}
            typer.echo(json.dumps(line, ensure_ascii=False))
            continue
        for problem in problems:
            where = f"line {number}: " if files else ""
            typer.echo(f"{where}{problem.kind}: {problem.detail}")
    if n_wrong:
        raise typer.Exit(1)


def _pairs(source: str, translation: str, *, files: bool) -> Iterator[tuple[str, str]]:
    if not files:
        yield source, translation
        return
    lines = [_lines(Path(name)) for name in (source, translation)]
    if len(lines[0]) != len(lines[1]):
        raise InputError(
            f"{source} has {len(lines[0])} lines, {translation} has {len(lines[1])}: each line must be the "
            "translation of that line of the other"
        )
    yield from zip(*lines, strict=True)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 at byte {error.start}; convert it first") from None
