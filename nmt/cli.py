"""The one command table: ``nmt translate | serve | prepare | train | evaluate | ... | align | info``.

A command's module is named as a string and imported when the command runs, so that ``nmt --help`` waits for
neither torch nor a missing extra, and ``nmt`` never depends on ``training`` or ``service``.

Standard output holds results and nothing else; progress, warnings and errors go to standard error. An error
is one line. Exit status: 0 success, 1 failure, 2 wrong usage, configuration or input, 3 a full disk,
130 interrupted.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from nmt import __version__
from nmt.commands.align import align_links, align_train
from nmt.commands.attention import attention
from nmt.commands.bench import bench_app
from nmt.commands.export import export
from nmt.commands.loading import load as _load
from nmt.commands.shortlist import shortlist
from nmt.config import AlignmentConfig, GenerationConfig, parse
from nmt.errors import ConfigError, DataError, DiskFullError, InputError, PasserelleError
from nmt.pharaoh import (
    Extraction,
    Pair,
    alignment_scores,
    parse_pharaoh,
    to_pharaoh,
)

if TYPE_CHECKING:
    from collections import Counter

    from nmt.documents.translate import FileTask
    from nmt.translator import AlignmentKind, Translation, Translator

LINES_AT_ONCE = 256
"""Lines of standard input translated together; on a terminal each line is answered by itself."""

app = typer.Typer(
    name="nmt",
    help="Translate English into French, and train, measure and serve the models that do.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

keys_app = typer.Typer(help="Keys of the service: create, list, revoke, limits.")
database_app = typer.Typer(help="Tables of the service's database: upgrade.")
app.add_typer(keys_app, name="keys")
app.add_typer(database_app, name="db")
app.add_typer(bench_app, name="bench")
app.command("align-links")(align_links)
app.command("align-train")(align_train)
app.command()(attention)
app.command()(export)
app.command()(shortlist)

MarkupKind = Literal["html", "xml"]
KeyId = Annotated[str, typer.Argument(metavar="ID", help="As nmt keys list shows it.")]
Rate = Annotated[int, typer.Option(metavar="N", min=0, help="0: no limit.")]
NewRate = Annotated[int | None, typer.Option(metavar="N", min=0, help="0: no limit.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="DIR", help="Model folder, or the name of one that ships with the package."
    ),
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")]
Engine = Annotated[
    str, typer.Option("--engine", help="auto, eager, float32, bfloat16 or int8: see nmt info.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override one value of the recipe; repeatable."),
]
Recipe = Annotated[
    str, typer.Argument(metavar="RECIPE", help="A TOML file, or the name of a recipe that ships.")
]
Beam = Annotated[int | None, typer.Option("--beam", metavar="N", help="Beam size; 1 is greedy search.")]
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


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its status; every error of ours becomes one line on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    command = typer.main.get_command(app)
    try:
        status = command.main(
            args=None if arguments is None else list(arguments), prog_name="nmt", standalone_mode=False
        )
        sys.stdout.flush()
    except typer.TyperException as error:
        _fail(f"{_one_line(error.format_message())} See: nmt --help", error.exit_code)
    except (ConfigError, DataError, InputError) as error:
        _fail(str(error), 2)
    except DiskFullError as error:
        _fail(str(error), 3)
    except PasserelleError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        # Whoever read our output has left (`nmt translate | head`); keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", 1)
    sys.exit(status if isinstance(status, int) else 0)


@app.callback(invoke_without_command=True)
def _common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"passerelle {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(2)


@app.command()
def translate(
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="Texts; without any: lines of stdin."),
    ] = None,
    *,
    model: Model = None,
    beam: Beam = None,
    n_best: Annotated[
        int | None,
        typer.Option("--n-best", metavar="K", help="Print K translations: INDEX ||| TEXT ||| SCORE."),
    ] = None,
    coverage_penalty: Annotated[
        float | None,
        typer.Option(
            "--coverage-penalty",
            metavar="B",
            min=0,
            max=5,
            help="Beta of Wu et al. 2016: against dropped words.",
        ),
    ] = None,
    alignment: Annotated[
        bool,
        typer.Option("--alignment", help="Add word links: TEXT ||| 0-0 1-2 (words and punctuation marks)."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, with all that is known.")
    ] = False,
    markup: Annotated[
        MarkupKind | None,
        typer.Option("--markup", help="Texts are HTML or XML, stdin one whole; tags are kept."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", metavar="IN", help="A document: txt md html docx odt srt vtt po xliff json yaml."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="OUT", help="Of --file; default: NAME.fr.SUFFIX beside it. Of --ray: a folder."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="With --file: replace OUT if it is there.")] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="With --file: also what has a translation (po, xliff).")
    ] = False,
    glossary: Annotated[
        Path | None,
        typer.Option("--glossary", metavar="F", help="Terms: SOURCE tab TARGET [tab inflect], or TBX."),
    ] = None,
    formality: Annotated[
        Literal["default", "formal", "informal"], typer.Option(help="How French addresses people.")
    ] = "default",
    french_typography: Annotated[
        bool, typer.Option("--french-typography", help="« » and no-break spaces before ; : ! ?")
    ] = False,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence",
            metavar="P",
            min=0,
            max=1,
            help="A sentence of less confidence keeps its source.",
        ),
    ] = None,
    ray: Annotated[
        Path | None,
        typer.Option("--ray", metavar="DIR", help="A folder of .txt or .parquet shards, on a Ray cluster."),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="With --ray: of texts in Parquet; text.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=1, help="With --ray; default: one a core, or GPU."),
    ] = None,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Translate texts, or the lines of standard input, or a document, or a corpus.

    A blank line stays blank. Standard output holds translations and nothing else.
    """

    def load() -> tuple[Translator, GenerationConfig]:
        translator: Translator = _load("nmt.translator:Translator").load(model, device=device, engine=engine)
        options = _generation(translator.generation, beam, n_best, coverage_penalty)
        return _wishing(translator, glossary, formality, french_typography, min_confidence), options

    if ray is not None or column is not None or workers is not None:
        others = (text, file, alignment, as_json, force, everything, n_best, markup)
        wishes = (glossary, formality != "default", french_typography, min_confidence)
        if ray is None or out is None or any((*others, *wishes)):
            raise ConfigError(
                "a corpus takes --ray DIR and --out DIR, and --model, --beam, --device, --column, --workers"
            )
        translate_folder = _load("nmt.offline.cluster:translate_folder", extra="ray")
        slots: dict[str, Any] = {"device": device, "workers": workers}
        print(translate_folder(ray, out, model=model, beam=beam, column=column or "text", **slots))
        return
    if file is not None:
        if text or alignment or as_json or n_best is not None or markup is not None:
            raise ConfigError(
                "--file gives a document: leave out TEXT, --alignment, --json, --n-best, --markup"
            )
        task = _load("nmt.documents.translate:open_file", extra="documents")(
            file, out, force=force, everything=everything
        )
        _translate_file(task, *load())
        return
    if out is not None or force or everything:
        raise ConfigError("--out, --force and --everything go with --file IN")
    if markup is not None:
        if alignment or as_json or n_best is not None:
            raise ConfigError("--markup gives markup: leave out --alignment, --json and --n-best")
        _translate_markup(text, markup, *load())
        return
    if alignment and (n_best or 1) > 1 and not as_json:
        raise ConfigError(f"--alignment with --n-best {n_best}: only the best has links; add --json")
    translator, options = load()
    texts = iter(text) if text else _lines(sys.stdin.buffer)
    size = max(1, len(text)) if text else 1 if sys.stdin.isatty() else LINES_AT_ONCE
    index = 0
    while chunk := list(islice(texts, size)):
        kind: AlignmentKind = "links" if alignment else "none"
        for source, result in zip(
            chunk, translator.translate(chunk, alignment=kind, options=options), strict=True
        ):
            for line in _show(
                index, source, result, n_best=options.n_best, alignment=alignment, as_json=as_json
            ):
                # A stray line break in a translated line would shift all lines after it.
                sys.stdout.write((line if text else line.replace("\n", " ")) + "\n")
            if result.truncated:
                where = f"{'text' if text else 'line'} {index + 1}"
                _warn(f"{where}: stopped at the maximum length; its end may be missing")
            index += 1
        sys.stdout.flush()


def _wishing(
    translator: Translator,
    glossary: Path | None,
    formality: str,
    french_typography: bool,
    min_confidence: float | None,
) -> Translator:
    """The translator with these arguments set in each of its translations; itself if there are none.

    Raises:
        InputError: the glossary cannot be read.
    """
    wishes: dict[str, Any] = {}
    if glossary is not None:
        languages = {
            "source": translator.config.source_language,
            "target": translator.config.target_language,
        }
        wishes["glossary"] = _load("nmt.terms:Glossary").read(glossary, **languages)
    if formality != "default":
        wishes["formality"] = formality
    if french_typography:
        wishes["french_typography"] = True
    if min_confidence is not None:
        wishes["min_confidence"] = min_confidence
    if wishes:
        translator.translate = partial(translator.translate, **wishes)  # type: ignore[method-assign]
    return translator


def _translate_markup(
    text: list[str] | None, markup: MarkupKind, translator: Translator, options: GenerationConfig
) -> None:
    """Texts, or all of standard input, byte for byte but for what is translated."""
    try:
        texts = text or [sys.stdin.buffer.read().decode("utf-8")]
    except UnicodeDecodeError as error:
        raise InputError(f"stdin is not UTF-8 at byte {error.start}; convert it first") from None
    translated = _load("nmt.markup:translate_markup")(translator, texts, markup, options=options)
    sys.stdout.write("".join(f"{result}\n" if text else result for result in translated))


def _translate_file(task: FileTask, translator: Translator, options: GenerationConfig) -> None:
    """Write a document's translation and print the name of the file; flags go to standard error."""
    with _load("training.progress:progress")(task.source.name, task.n_characters) as advance:
        flags: Counter[str] = _load("nmt.documents.translate:translate_file")(
            translator, task, options=options, advance=advance
        )
    if flags:
        counts = ", ".join(f"{count} {kind}" for kind, count in flags.most_common())
        _warn(f"{task.target}: sentences to look at: {counts}")
    print(task.target)


@app.command()
def serve(
    host: Annotated[str, typer.Option("--host", metavar="H", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="P", min=0, max=65535)] = 8000,
    model: Model = None,
) -> None:
    """Serve the REST API and its web page."""
    _load("service.main:serve", extra="serve")(host=host, port=port, model=model)


@app.command()
def prepare(
    recipe: Recipe,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Default: runs/NAME/data.")] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", min=1, help="Default: one for each core. Changes no byte."),
    ] = None,
    overrides: Overrides = None,
) -> None:
    """Clean a corpus, learn sub-words, write shards and a report; goes on where it was interrupted."""
    _load("training.prepare:prepare", extra="train")(recipe, out, overrides or [], processes)


@app.command()
def train(
    recipe: Recipe,
    run: Annotated[Path | None, typer.Option("--run", metavar="DIR", help="Default: runs/NAME.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint of the run.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="A folder that 'nmt prepare' wrote; default: RUN/data."),
    ] = None,
    init_from: Annotated[
        str | None,
        typer.Option("--init-from", metavar="MODEL", help="Begin with this model's weights and sub-words."),
    ] = None,
    overrides: Overrides = None,
) -> None:
    """Train a model and write its model folder."""
    _load("training.train:train", extra="train")(
        recipe, run, resume, overrides or [], data=data, init_from=init_from
    )


@app.command()
def pack(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A prepared corpus, a model folder, ...")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="New folder for the pieces.")],
    piece_mib: Annotated[int, typer.Option("--piece-mib", metavar="N", min=1)] = 40,
    leave_out: Annotated[
        list[str] | None, typer.Option("--leave-out", metavar="FILE", help="Repeatable.")
    ] = None,
) -> None:
    """Compress a folder into pieces of bounded size, with checksums."""
    _load("training.pieces:pack_command", extra="train")(folder, out, piece_mib, leave_out or [])


@app.command()
def unpack(
    pieces: Annotated[Path, typer.Argument(metavar="PIECES", help="What 'nmt pack' wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder.")],
) -> None:
    """Check the pieces of a folder and put it together again."""
    _load("training.pieces:unpack", extra="train")(pieces, folder)


@app.command()
def evaluate(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder or name.")],
    source: Sources,
    reference: References,
    lowercase_tokenized: LowercaseTokenized = False,
    beam: Beam = None,
    hypotheses: Annotated[
        Path | None, typer.Option("--hypotheses", metavar="DIR", help="Write the translations here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    device: Device = "auto",
) -> None:
    """BLEU, chrF and TER with signatures, and decoding speed."""
    _load("training.evaluate:evaluate", extra="train")(
        model,
        source,
        reference,
        lowercase_tokenized=lowercase_tokenized,
        beam=beam,
        hypotheses=hypotheses,
        as_json=as_json,
        device=device,
    )


@app.command()
def compare(
    *,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL_A MODEL_B...", help="Two or more model folders; the first is the baseline."
        ),
    ],
    source: Sources,
    reference: References,
    report: Annotated[Path, typer.Option("--report", metavar="DIR", help="Folder to write the report to.")],
    run: Annotated[
        list[Path] | None,
        typer.Option("--run", metavar="DIR", help="Run folder with training curves; repeatable."),
    ] = None,
    lowercase_tokenized: LowercaseTokenized = False,
    beam: Beam = None,
    samples: Annotated[int, typer.Option("--samples", min=100, help="Bootstrap samples.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=1, help="Seed of the bootstrap.")] = 12345,
    device: Device = "auto",
) -> None:
    """Significance, length buckets and plots, as a report.

    Every pair of models is tested by paired bootstrap; the first model is the baseline.
    """
    _load("training.compare:compare", extra="train")(
        models,
        source,
        reference,
        report,
        runs=run or [],
        lowercase_tokenized=lowercase_tokenized,
        beam=beam,
        samples=samples,
        seed=seed,
        device=device,
    )


@app.command()
def robustness(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder or name.")],
    against: Annotated[
        str | None, typer.Option("--against", metavar="MODEL2", help="Another model to set beside it.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="X", help="Development set: X.en and X.fr; repeatable."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="F", help="Write every number and what failed here.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Cases of each behaviour.")] = 300,
    beam: Beam = None,
    device: Device = "auto",
) -> None:
    """How case, typos, numbers, names and placeholders survive.

    Prints a table in Markdown. Without --data the sentences are those of the sample that ships.
    """
    _load("training.robustness:robustness", extra="train")(
        model,
        against=against,
        data=data or [],
        json_file=json_file,
        limit=limit,
        beam=beam,
        device=device,
    )


@app.command()
def calibrate(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model folder or name; it is changed.")],
    source: Sources,
    reference: References,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="DIR", help="Write the reliability curves here.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Learn what a model's confidence means, from development sets with references."""
    _load("training.calibrate:calibrate", extra="train")(
        model, source, reference, report=report, device=device
    )


@app.command()
def align(
    source: Annotated[Path, typer.Option("--source", metavar="F", help="Source sentences, one a line.")],
    target: Annotated[Path, typer.Option("--target", metavar="F", help="Their translations, line by line.")],
    model: Model = None,
    gold: Annotated[
        Path | None,
        typer.Option("--gold", metavar="F", help="Gold links, 0-0 sure, 0p0 possible: gives the AER."),
    ] = None,
    layer: Annotated[
        int | None, typer.Option(metavar="N", help="Decoder layer to read; the model's own by default.")
    ] = None,
    head: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Head of that layer; repeatable, all by default.")
    ] = None,
    extraction: Annotated[
        Extraction,
        typer.Option(help="How links follow; by default what the model does best."),
    ] = "default",
    device: Device = "auto",
) -> None:
    """Link the words of given sentence pairs.

    One Pharaoh line for each pair, over the white-space tokens of the files.
    """
    pairs = list(_pairs(source, target))
    gold_links = None if gold is None else _gold(gold, len(pairs))
    translator: Translator = _load("nmt.translator:Translator").load(model, device=device)
    attention = None
    if layer is not None or head:
        attention = AlignmentConfig(layer=layer, heads=tuple(head) if head else None)
    results = translator.align(pairs, extraction=extraction, attention=attention)
    links = [result.links for result in results]
    for found in links:
        print(to_pharaoh(found))
    if gold_links is not None:
        scores = alignment_scores(links, *gold_links)
        print(
            f"AER {100 * scores.error_rate:.2f} precision {100 * scores.precision:.2f} "
            f"recall {100 * scores.recall:.2f} F1 {100 * scores.f1:.2f}",
            file=sys.stderr,
        )


@app.command()
def info(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Model folder or name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show a model folder's facts and this machine's devices."""
    facts: dict[str, Any] = _load("nmt.info:info")(model)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, indent=2))
        return
    for section, rows in facts.items():
        print(section)
        for name, value in rows.items():
            print(f"  {name:<22} {value}")


@keys_app.command("create")
def keys_create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is; for people, need not be unique.")],
    *,
    days: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="It expires after so many days.")
    ] = None,
    requests_per_minute: Rate = 600,
    characters_per_minute: Rate = 300_000,
    characters_per_month: Rate = 0,
) -> None:
    """Make a key, and print it this once."""
    _load("service.key_commands:create", extra="serve")(
        name,
        days=days,
        requests_per_minute=requests_per_minute,
        characters_per_minute=characters_per_minute,
        characters_per_month=characters_per_month,
    )


@keys_app.command("list")
def keys_list(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List keys with their limits and this month's characters; never their secrets."""
    _load("service.key_commands:show", extra="serve")(as_json=as_json)


@keys_app.command("revoke")
def keys_revoke(key: KeyId) -> None:
    """Revoke a key for good, from its next request on."""
    _load("service.key_commands:revoke", extra="serve")(key)


@keys_app.command("limits")
def keys_limits(
    key: KeyId,
    *,
    requests_per_minute: NewRate = None,
    characters_per_minute: NewRate = None,
    characters_per_month: NewRate = None,
) -> None:
    """Change limits of a key, from its next request on; what is not named stays."""
    _load("service.key_commands:limit", extra="serve")(
        key,
        requests_per_minute=requests_per_minute,
        characters_per_minute=characters_per_minute,
        characters_per_month=characters_per_month,
    )


@database_app.command("upgrade")
def database_upgrade() -> None:
    """Bring the tables to this version; SQLite does so by itself."""
    _load("service.key_commands:upgrade", extra="serve")()


def _generation(
    defaults: GenerationConfig, beam: int | None, n_best: int | None, coverage_penalty: float | None = None
) -> GenerationConfig:
    """The model's search options with those of the command line; the beam grows to hold ``n_best``."""
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


def _lines(stream: Iterable[bytes]) -> Iterator[str]:
    """Lines of UTF-8 without their ends.

    Raises:
        InputError: a line is not UTF-8; its number is named.
    """
    for number, line in enumerate(stream, start=1):
        try:
            yield line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise InputError(f"line {number}: not UTF-8 at byte {error.start}; convert it first") from None


def _lines_of(path: Path) -> Iterator[str]:
    try:
        with path.open("rb") as stream:
            yield from _lines(stream)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    sources, targets = list(_lines_of(source)), list(_lines_of(target))
    if len(sources) != len(targets):
        raise DataError(
            f"{source} has {len(sources)} lines but {target} has {len(targets)}: "
            f"line {min(len(sources), len(targets)) + 1} is the first without a partner"
        )
    return zip(sources, targets, strict=True)


def _gold(path: Path, n_pairs: int) -> tuple[list[set[Pair]], list[set[Pair]]]:
    """Sure and possible links of each line of ``path``."""
    lines = list(_lines_of(path))
    if len(lines) != n_pairs:
        raise DataError(f"{path} has {len(lines)} lines for {n_pairs} sentence pairs")
    try:
        parsed = [parse_pharaoh(line) for line in lines]
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return [sure for sure, _ in parsed], [possible for _, possible in parsed]


def _one_line(message: str) -> str:
    return " ".join(message.split()).rstrip(".") + "."


def _warn(message: str) -> None:
    print(f"nmt: warning: {message}", file=sys.stderr)


def _fail(message: str, status: int) -> NoReturn:
    print(f"nmt: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
