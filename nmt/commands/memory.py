"""``nmt tm``: a translation memory in a file of one's own; and ``--memory`` of ``nmt translate``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import platformdirs
import typer

from nmt.commands.lines import note
from nmt.commands.loading import load
from nmt.commands.options import named_as_typed
from nmt.errors import InputError
from nmt.memory.unit import DEFAULT_THRESHOLD, check_threshold
from nmt.options import DEFAULTS, TranslationOptions

if TYPE_CHECKING:
    from nmt.memory.file import MemoryFile
    from nmt.memory.index import TranslationMemory
    from nmt.memory.unit import MemoryMatch
    from nmt.spans import Span
    from nmt.translator import Translation, Translator

memory_app = typer.Typer(help="A translation memory: import, search, export.")

FILE = "memory.sqlite3"

MemoryOption = Annotated[
    Path | None,
    typer.Option("--memory", metavar="F", help=f"File of the memory; default: {FILE} in the data folder."),
]
Threshold = Annotated[
    float | None,
    typer.Option("--threshold", metavar="P", help=f"Least score, 0.5 to 1; default {DEFAULT_THRESHOLD}."),
]
Read = Annotated[str, typer.Option("--from", metavar="CODE", help="Language of the source.")]
Written = Annotated[str, typer.Option("--to", metavar="CODE", help="Language of the target.")]


@memory_app.command("import")
def tm_import(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="tmx, tsv, xliff or xlf.")],
    *,
    memory: MemoryOption = None,
    read: Annotated[
        str | None, typer.Option("--from", metavar="CODE", help="Source language; a TMX or XLIFF tells.")
    ] = None,
    written: Annotated[
        str | None, typer.Option("--to", metavar="CODE", help="Target language; a TMX or XLIFF tells.")
    ] = None,
) -> None:
    """Store the units of files; what is there already is not stored again."""
    if (read is None) != (written is None):
        raise InputError("--from and --to go together: name both, or neither")
    languages = None if read is None or written is None else (read, written)
    opened = _open(memory, create=True)
    try:
        for file in files:
            try:
                _import(opened, file, languages)
            except InputError as error:
                raise InputError(f"{file}: {error}") from None
    finally:
        opened.close()


@memory_app.command("search")
def tm_search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A segment.")],
    *,
    memory: MemoryOption = None,
    read: Read = "en",
    written: Written = "fr",
    threshold: Threshold = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=100)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each unit.")] = False,
) -> None:
    """Print the units most like a text: SCORE, SOURCE and TARGET between tabs."""
    least = _threshold(threshold)
    opened = _open(memory)
    try:
        found: list[MemoryMatch] = opened.memory(read, written).search(text, least, limit)
    finally:
        opened.close()
    for match in found:
        if as_json:
            typer.echo(json.dumps(dataclasses.asdict(match), ensure_ascii=False))
        else:
            fields = (f"{match.score:.2f}", match.source, match.target)
            typer.echo("\t".join(" ".join(field.split()) for field in fields))


@memory_app.command("export")
def tm_export(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new file: .tmx, .tsv, .xliff or .xlf.")],
    *,
    memory: MemoryOption = None,
    read: Read = "en",
    written: Written = "fr",
) -> None:
    """Write all units of a direction, in the order in which they came."""
    kind = load("nmt.memory.files:format_of")(out.name)
    opened = _open(memory)
    try:
        units = opened.all_units(read, written)
        opened.memory(read, written)
        try:
            with out.open("xb") as file:
                for piece in load("nmt.memory.files:write_units")(units, kind, (read, written)):
                    file.write(piece)
        except FileExistsError:
            raise InputError(f"{out} is there already: choose another name") from None
    finally:
        opened.close()
    typer.echo(out)


def recalling(translator: Translator, path: Path, threshold: float | None) -> Translator:
    """A translator that looks texts up in a memory first.

    Raises:
        InputError: there is no such memory, or it has no units in the translator's direction.
    """
    languages = translator.config.source_language, translator.config.target_language
    memory: TranslationMemory = _open(path).memory(*languages)
    return cast("Translator", _Recalling(translator, memory, _threshold(threshold)))


class _Recalling:
    """Methods of a ``Translator`` that commands need."""

    def __init__(self, translator: Translator, memory: TranslationMemory, threshold: float) -> None:
        self.config, self.generation = translator.config, translator.generation
        self._translator, self._memory, self._threshold = translator, memory, threshold

    def translate(
        self,
        texts: Sequence[str],
        options: TranslationOptions = DEFAULTS,
        *,
        keep: Sequence[Sequence[Span]] | None = None,
    ) -> list[Translation]:
        """As ``Translator.translate``."""
        matches = load("nmt.memory.recall:recall", extra="memory")(
            self._memory, texts, self._threshold, split_sentences=options.split_sentences
        )
        return self._translator.translate(texts, options.model_copy(update={"memory": matches}), keep=keep)


def _open(path: Path | None, *, create: bool = False) -> MemoryFile:
    chosen = platformdirs.user_data_path("passerelle") / FILE if path is None else path
    opened: MemoryFile = load("nmt.memory.file:MemoryFile", extra="memory")(chosen, create=create)
    return opened


def _import(opened: MemoryFile, file: Path, languages: tuple[str, str] | None) -> None:
    reading: Any = load("nmt.memory.segments:Reading")(languages)
    kind = load("nmt.memory.files:format_of")(file.name)
    with file.open("rb") as stream:
        units = load("nmt.memory.files:read_units")(stream, kind, reading)
        n_added = opened.add_read(units, reading)
    source, target = reading.languages
    note(
        f"{file}: {n_added} units from {source} to {target} are new of {reading.n_units}; left out: "
        f"{reading.n_other_languages} of other languages, {reading.n_unfit} blank or too long"
    )


def _threshold(given: float | None) -> float:
    with named_as_typed("threshold"):
        return check_threshold("threshold", DEFAULT_THRESHOLD if given is None else given)
