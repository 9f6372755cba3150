"""``nmt translate``: texts, lines of standard input, markup, or documents."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from typer.core import TyperCommand

from nmt.commands.direction import source_of
from nmt.commands.lines import lines, warn
from nmt.commands.loading import load
from nmt.commands.memory import Threshold, recalling
from nmt.commands.options import (
    Beam,
    Device,
    Engine,
    GlossaryFile,
    Model,
    Source,
    Target,
    named_as_typed,
)
from nmt.config import GenerationConfig, parse
from nmt.errors import ConfigError, InputError
from nmt.model_folder.registry import languages_of, resolve_model
from nmt.options import Formality, Quality, TranslationOptions
from nmt.text.glossary import Glossary

if TYPE_CHECKING:
    from collections import Counter

    from nmt.documents.translate import FileTask
    from nmt.translator import Translation, Translator

LINES_AT_ONCE = 256
"""Lines of standard input translated together; on a terminal each line is answered by itself."""

FIELDS = ("french_typography", "min_confidence")
"""Fields of ``TranslationOptions``, as errors name them."""

MarkupKind = Literal["html", "xml"]

Texts = Annotated[
    list[str] | None, typer.Argument(metavar="TEXT", help="Texts; without any: lines of stdin.")
]
NBest = Annotated[
    int | None,
    typer.Option(
        "--n-best", metavar="K", min=1, max=64, help="Print K translations: INDEX ||| TEXT ||| SCORE."
    ),
]
CoveragePenalty = Annotated[
    float | None,
    typer.Option(
        "--coverage-penalty", metavar="B", min=0, max=5, help="Beta of Wu et al. 2016: against dropped words."
    ),
]
Alignment = Annotated[
    bool, typer.Option("--alignment", help="Add word links: TEXT ||| 0-0 1-2 (words and punctuation marks).")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line, with all that is known.")]
Markup = Annotated[
    MarkupKind | None,
    typer.Option("--markup", help="Texts are HTML or XML, stdin one whole; tags are kept."),
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        metavar="IN",
        help="A document (docx pptx xlsx odt epub html md srt po json ...), or a folder; repeatable.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="OUT",
        help="Of --file; default: NAME.LANGUAGE.SUFFIX beside it, of a folder NAME.LANGUAGE.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="With --file: replace OUT if it is there.")]
Everything = Annotated[
    bool, typer.Option("--everything", help="With --file: also what has a translation (po, xliff, ts).")
]
Memory = Annotated[
    Path | None,
    typer.Option(
        "--memory", metavar="F", help="A translation memory (nmt tm): what it has is its translation."
    ),
]
Address = Annotated[Formality, typer.Option("--formality", help="How French addresses people.")]
Typography = Annotated[
    bool, typer.Option("--french-typography", help="In French: « » and no-break spaces before ; : ! ?")
]
Effort = Annotated[
    Quality, typer.Option("--quality", help="What it may cost: fast, balanced or best (docs/quality.md).")
]
MinConfidence = Annotated[
    float | None,
    typer.Option(
        "--min-confidence", metavar="P", min=0, max=1, help="A sentence of less confidence keeps its source."
    ),
]
Column = Annotated[
    str | None,
    typer.Option("--column", metavar="NAME", help="Columns of a csv: names or numbers, with commas."),
]


PANELS = {
    "Model": ("model", "source", "target", "device", "engine"),
    "Search": ("quality", "beam", "coverage_penalty"),
    "Wording": ("glossary", "memory", "threshold", "formality", "french_typography", "min_confidence"),
    "Output of texts": ("n_best", "alignment", "as_json", "markup"),
    "Documents": ("file", "out", "force", "everything", "column"),
}
"""Parameters of ``translate`` as ``--help`` groups them."""


class TranslateCommand(TyperCommand):
    """``nmt translate``, whose help has a section for each of ``PANELS``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's click is private
        """Write arguments and options, by panel."""
        records = {param.name: param.get_help_record(ctx) for param in self.get_params(ctx)}
        panels = {"Arguments": ("text",), **PANELS}
        others = records.keys() - {name for names in panels.values() for name in names}
        for title, names in {**panels, "Other": tuple(sorted(filter(None, others)))}.items():
            if rows := [record for name in names if (record := records[name]) is not None]:
                with formatter.section(title):
                    formatter.write_dl(rows)


def translate(
    text: Texts = None,
    *,
    model: Model = None,
    source: Source = None,
    target: Target = None,
    beam: Beam = None,
    n_best: NBest = None,
    coverage_penalty: CoveragePenalty = None,
    alignment: Alignment = False,
    as_json: AsJson = False,
    markup: Markup = None,
    file: Files = None,
    out: Out = None,
    force: Force = False,
    everything: Everything = False,
    glossary: GlossaryFile = None,
    memory: Memory = None,
    threshold: Threshold = None,
    formality: Address = "default",
    french_typography: Typography = False,
    quality: Effort = "balanced",
    min_confidence: MinConfidence = None,
    column: Column = None,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Translate texts, or the lines of standard input, or documents.

    A blank line stays blank. Standard output holds translations and nothing else.
    """
    shows = alignment or as_json or n_best is not None
    wishes = TranslationOptions(
        confidence=shows,
        formality=formality,
        french_typography=french_typography,
        min_confidence=min_confidence,
        quality=quality,
        alignment="links" if alignment else "none",
    )
    search = partial(_generation, beam=beam, n_best=n_best, coverage_penalty=coverage_penalty)
    asked = _Asked(
        _Chosen(model, source, target, device, engine), wishes, glossary, search, memory, threshold
    )
    _hint_at_files(text or ())
    if file:
        if text or shows or markup is not None:
            raise ConfigError(
                "--file gives a document, one each: leave out TEXT, --alignment, --json, --n-best, --markup"
            )
        _translate_files(file, out, asked, _How(force, everything, column))
    elif out is not None or force or everything or column is not None:
        raise ConfigError("--out, --force, --everything and --column go with --file IN")
    elif markup is not None:
        if shows:
            raise ConfigError("--markup gives markup: leave out --alignment, --json and --n-best")
        _translate_markup(text, markup, asked)
    else:
        _translate_lines(text, asked, as_json=as_json)


@dataclass(frozen=True)
class _Chosen:
    """The model."""

    model: str | None
    source: str | None
    target: str | None
    device: str
    engine: str

    def reading(self, text: str) -> _Chosen:
        """This choice; where it names neither model nor language, the model for the language of ``text``."""
        return dataclasses.replace(self, source=source_of(text)) if self.is_open else self

    @property
    def is_open(self) -> bool:
        """Whether the text decides."""
        return self.model is None and self.source is None and self.target is None

    @property
    def folder(self) -> Path:
        """The model folder."""
        return resolve_model(self.model, source=self.source, target=self.target)

    @property
    def languages(self) -> tuple[str, str]:
        """Languages that it is to read and to write."""
        return languages_of(self.folder, self.source, self.target)

    def load(self) -> Translator:
        """The translator."""
        translator: Translator = load("nmt.translator:Translator").load(
            self.model, source=self.source, target=self.target, device=self.device, engine=self.engine
        )
        return translator


@dataclass(frozen=True)
class _Asked:
    """The model, and the options that need it to be complete."""

    chosen: _Chosen
    wishes: TranslationOptions
    glossary: Path | None
    search: partial[GenerationConfig]
    """The search options asked for, over the defaults of a model."""
    memory: Path | None
    threshold: float | None

    def __post_init__(self) -> None:
        if self.search.keywords["beam"] is not None and self.wishes.quality != "balanced":
            raise ConfigError(
                f"--quality {self.wishes.quality} says how widely to search, as --beam does: leave one out"
            )
        if self.threshold is not None and self.memory is None:
            raise ConfigError("--threshold is of a translation memory: add --memory F")

    def load(self, text: str) -> tuple[Translator, TranslationOptions]:
        """The translator of ``text``, and how it is to translate.

        Raises:
            InputError: the glossary cannot be read, or the memory has nothing in this direction.
        """
        translator = self.chosen.reading(text).load()
        terms = None
        if self.glossary is not None:
            read, written = translator.config.source_language, translator.config.target_language
            terms = Glossary.read(self.glossary, source=read, target=written)
        if self.memory is not None:
            translator = recalling(translator, self.memory, self.threshold)
        generation = self.search(translator.generation)
        return translator, self.wishes.model_copy(update={"glossary": terms, "generation": generation})


@dataclass(frozen=True)
class _How:
    """How documents are read and written."""

    force: bool
    everything: bool
    columns: str | None

    def opened(self, file: Path, out: Path | None, asked: _Asked) -> tuple[FileTask, _Asked]:
        """A document, and what is asked of its language."""
        open_file = load("nmt.documents.translate:open_file", extra="documents")
        chosen = asked.chosen
        if chosen.is_open:
            chosen = chosen.reading(load("nmt.documents.translate:text_of")(file, self.columns))
        task: FileTask = open_file(
            file,
            out,
            languages=chosen.languages,
            force=self.force,
            everything=self.everything,
            columns=self.columns,
        )
        return task, dataclasses.replace(asked, chosen=chosen)


def _translate_folders(files: Sequence[Path], out: Path | None, asked: _Asked, how: _How) -> NoReturn:
    """Documents of folders, each opened, translated and written before the next; ends the command."""
    plan = load("nmt.documents.folders:plan", extra="documents")(files, out, asked.chosen.languages[1])
    loaded: dict[_Chosen, tuple[Translator, TranslationOptions]] = {}

    def translate_one(source: Path, target: Path, label: str) -> None:
        task, wanted = how.opened(source, target, asked)
        if wanted.chosen not in loaded:
            loaded[wanted.chosen] = wanted.load("")
        _translate_file(task, *loaded[wanted.chosen], label=label)

    status = load("nmt.commands.folders:translate_all")(plan, translate_one, force=how.force)
    raise typer.Exit(status)


def _translate_files(files: Sequence[Path], out: Path | None, asked: _Asked, how: _How) -> None:
    """Documents one after the other; all are opened, and what is wrong with one is said, before the first."""
    if any(file.is_dir() for file in files):
        _translate_folders(files, out, asked, how)
    if out is not None and len(files) > 1:
        raise ConfigError(f"--out {out} is for one --file, there are {len(files)}: leave it out")
    tasks: dict[Path, tuple[FileTask, _Asked]] = {}
    for file in files:
        task, wanted = how.opened(file, out, asked)
        if task.target in tasks:
            raise ConfigError(f"--file {file} would write {task.target} twice: name each document once")
        tasks[task.target] = task, wanted
    loaded: dict[_Chosen, tuple[Translator, TranslationOptions]] = {}
    for task, wanted in tasks.values():
        if wanted.chosen not in loaded:
            loaded[wanted.chosen] = wanted.load("")
        _translate_file(task, *loaded[wanted.chosen])


@named_as_typed(*FIELDS)
def _translate_file(
    task: FileTask, translator: Translator, options: TranslationOptions, *, label: str | None = None
) -> None:
    """Write a document's translation and print the name of the file; flags go to standard error."""
    with load("nmt.commands.progress:progress")(label or task.source.name, task.n_characters) as advance:
        flags: Counter[str] = load("nmt.documents.translate:translate_file")(
            translator, task, options=options, advance=advance
        )
    for notice in task.document.notices:
        warn(f"{task.target}: {notice}")
    if task.document.n_done and not task.document.extracts:
        warn(f"{task.target}: add --everything to translate them anew")
    if flags:
        counts = ", ".join(f"{count} {kind}" for kind, count in flags.most_common())
        warn(f"{task.target}: sentences to look at: {counts}")
    print(task.target)


@named_as_typed(*FIELDS)
def _translate_markup(text: list[str] | None, markup: MarkupKind, asked: _Asked) -> None:
    """Texts, or all of standard input, byte for byte but for what is translated."""
    try:
        texts = text or [sys.stdin.buffer.read().decode("utf-8")]
    except UnicodeDecodeError as error:
        raise InputError(f"stdin is not UTF-8 at byte {error.start}; convert it first") from None
    translator, options = asked.load("\n".join(texts))
    translated = load("nmt.markup:translate_markup")(translator, texts, markup, options)
    sys.stdout.write("".join(f"{result}\n" if text else result for result in translated))


@named_as_typed(*FIELDS)
def _translate_lines(text: list[str] | None, asked: _Asked, *, as_json: bool) -> None:
    """Texts, or lines of standard input as they come; the first that are read tell the language of all."""
    n_best = asked.search.keywords["n_best"] or 1
    if asked.wishes.alignment != "none" and n_best > 1 and not as_json:
        raise ConfigError(f"--alignment with --n-best {n_best}: only the best has links; add --json")
    texts = iter(text) if text else lines(sys.stdin.buffer)
    size = max(1, len(text)) if text else 1 if sys.stdin.isatty() else LINES_AT_ONCE
    chunk = list(islice(texts, size)) if asked.chosen.is_open else []
    translator, options = asked.load("\n".join(chunk))
    chunk = chunk or list(islice(texts, size))
    n_best = (options.generation or translator.generation).n_best
    alignment = options.alignment != "none"
    index = 0
    while chunk:
        results = translator.translate(chunk, options)
        for source, result in zip(chunk, results, strict=True):
            for line in _show(index, source, result, n_best=n_best, alignment=alignment, as_json=as_json):
                # A stray line break in a translated line would shift all lines after it.
                sys.stdout.write((line if text else line.replace("\n", " ")) + "\n")
            if result.truncated:
                where = f"{'text' if text else 'line'} {index + 1}"
                warn(f"{where}: stopped at the maximum length; its end may be missing")
            index += 1
        sys.stdout.flush()
        chunk = list(islice(texts, size))


def _hint_at_files(texts: Sequence[str]) -> None:
    """Whoever gave the name of a file as a text is told how to translate the file."""
    for text in texts:
        with suppress(OSError):  # too long for a name
            if Path(text).is_file():
                warn(f"{text} is a file: its name is taken as the text; for what is in it: --file {text}")


def _generation(
    defaults: GenerationConfig, *, beam: int | None, n_best: int | None, coverage_penalty: float | None
) -> GenerationConfig:
    """The model's search options with those of the command line; the beam grows to hold ``n_best``."""
    if beam is not None and n_best is not None and n_best > beam:
        raise ConfigError(f"--n-best {n_best} is more than --beam {beam} finds: raise it")
    values = defaults.model_dump()
    values["n_best"] = 1 if n_best is None else n_best
    values["beam_size"] = max(defaults.beam_size, values["n_best"]) if beam is None else beam
    if coverage_penalty is not None:
        values["coverage_penalty"] = coverage_penalty
    return parse(GenerationConfig, values, where="options")


def _show(
    index: int, source: str, result: Translation, *, n_best: int, alignment: bool, as_json: bool
) -> Iterator[str]:
    """The output lines of one translation, without line ends."""
    if as_json:
        yield json.dumps({"source": source, **dataclasses.asdict(result)}, ensure_ascii=False)
    elif n_best > 1 and result.alternatives:
        for alternative in result.alternatives:
            yield f"{index} ||| {alternative.text} ||| {alternative.score:.4f}"
    elif alignment and result.text.strip():
        links = " ".join(f"{link.source}-{link.target}" for link in result.links or ())
        yield f"{result.text} ||| {links}".rstrip()
    else:
        yield result.text
