"""The one command table: ``nmt translate | serve | prepare | train | evaluate | ... | align | info``.

A command's module is named as a string and imported when the command runs, so that ``nmt --help`` waits for
neither torch nor a missing extra, and ``nmt`` never depends on ``training`` or ``service``.

Standard output holds results and nothing else; progress, warnings and errors go to standard error. An error
is one line. Exit status: 0 success, 1 failure, 2 wrong usage, configuration or input, 3 a full disk,
130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from nmt import __version__
from nmt.alignment.pharaoh import (
    Extraction,
    Pair,
    alignment_scores,
    parse_pharaoh,
    to_pharaoh,
)
from nmt.commands.align import align_links, align_probe, align_train
from nmt.commands.attention import attention
from nmt.commands.bench import bench_app
from nmt.commands.blend import blend
from nmt.commands.check import check
from nmt.commands.corpus import translate_corpus
from nmt.commands.export import export
from nmt.commands.grow import grow
from nmt.commands.import_model import import_model
from nmt.commands.keys import database_app, keys_app
from nmt.commands.learn import learn
from nmt.commands.lines import lines_of
from nmt.commands.loading import load as _load
from nmt.commands.mcp import mcp
from nmt.commands.memory import memory_app
from nmt.commands.options import (
    Beam,
    Device,
    LowercaseTokenized,
    Model,
    Overrides,
    Recipe,
    References,
    Sources,
    named_as_typed,
)
from nmt.commands.translate import TranslateCommand, translate
from nmt.config import AlignmentConfig
from nmt.errors import ConfigError, DataError, DiskFullError, InputError, PasserelleError

if TYPE_CHECKING:
    from nmt.translator import Translator

app = typer.Typer(
    name="nmt",
    help="Translate between English and French, and train, measure and serve the models that do.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command(cls=TranslateCommand)(translate)
app.command("translate-corpus")(translate_corpus)
app.add_typer(keys_app, name="keys")
app.add_typer(database_app, name="db")
app.add_typer(bench_app, name="bench")
app.add_typer(memory_app, name="tm")
app.command("align-links")(align_links)
app.command("align-train")(align_train)
app.command("align-probe")(align_probe)
app.command()(attention)
app.command()(blend)
app.command()(grow)
app.command()(check)
app.command()(export)
app.command("import")(import_model)
app.command()(learn)
app.command()(mcp)


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
def serve(
    host: Annotated[str, typer.Option("--host", metavar="H", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="P", min=0, max=65535)] = 8000,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="DIR",
            help="Model folder, or the name of one that ships; repeatable, one for each direction, the "
            "default first. Without any: all that ship.",
        ),
    ] = None,
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
    _load("training.data.prepare:prepare", extra="train")(recipe, out, overrides or [], processes)


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
    _load("training.data.packing:pack_command", extra="train")(folder, out, piece_mib, leave_out or [])


@app.command()
def unpack(
    pieces: Annotated[Path, typer.Argument(metavar="PIECES", help="What 'nmt pack' wrote.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="New folder.")],
) -> None:
    """Check the pieces of a folder and put it together again."""
    _load("training.data.packing:unpack", extra="train")(pieces, folder)


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
    _load("training.evaluation.evaluate:evaluate", extra="train")(
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
    _load("training.evaluation.compare:compare", extra="train")(
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
    """How case, typos, numbers, names and placeholders survive, from English to French.

    Prints a table in Markdown. Without --data the sentences are those of the sample that ships.
    """
    _load("training.robustness.report:robustness", extra="train")(
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
    _load("training.evaluation.calibrate:calibrate", extra="train")(
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
    with named_as_typed("layer", "head"):
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
    print("\n".join(_load("nmt.info:shown")(facts)))


def _pairs(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    sources, targets = list(lines_of(source)), list(lines_of(target))
    if len(sources) != len(targets):
        raise DataError(
            f"{source} has {len(sources)} lines but {target} has {len(targets)}: "
            f"line {min(len(sources), len(targets)) + 1} is the first without a partner"
        )
    return zip(sources, targets, strict=True)


def _gold(path: Path, n_pairs: int) -> tuple[list[set[Pair]], list[set[Pair]]]:
    """Sure and possible links of each line of ``path``."""
    lines = list(lines_of(path))
    if len(lines) != n_pairs:
        raise DataError(f"{path} has {len(lines)} lines for {n_pairs} sentence pairs")
    try:
        parsed = [parse_pharaoh(line) for line in lines]
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    return [sure for sure, _ in parsed], [possible for _, possible in parsed]


def _one_line(message: str) -> str:
    return " ".join(message.replace("Value error, ", "").split()).rstrip(".") + "."


def _fail(message: str, status: int) -> NoReturn:
    print(f"nmt: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
