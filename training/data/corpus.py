"""Read sentence pairs, one at a time, from wherever a recipe says they are.

Hub data sets, TSV, JSON lines and Parquet go through ``datasets.load_dataset``, as streams. Parallel text is
read here, because its errors need exact places: a line ends at a line feed alone (a carriage return before it
is dropped), and never at U+2028, U+0085 or a form feed, at which ``str.splitlines`` would shift one side.
"""

from __future__ import annotations

import csv
import gzip
import logging
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, cast

import datasets
import pyarrow

from nmt.errors import DataError
from nmt.model_folder.files import sha256
from training.recipe import CORPORA, LOCAL_SUFFIXES, DataConfig, Kind, Source

Pair = tuple[str, str]

COMPRESSED = (".gz", ".xz")
LOADERS: Mapping[Kind, str] = {"tsv": "csv", "jsonl": "json", "parquet": "parquet"}
"""Kind -> the loader of ``datasets`` that reads it."""
LOADING_ERRORS = (datasets.exceptions.DatasetsError, pyarrow.ArrowException, OSError, EOFError, ValueError)
"""Errors of ``datasets`` for a data set that is absent, out of reach or not in the form it claims."""


@dataclass(frozen=True)
class Corpus:
    """A source of a recipe with its files found: iterate over ``pairs``."""

    source: Source
    kind: Kind
    files: Mapping[Path, str]
    """Local files, each with its SHA-256: two of parallel text, none from the hub."""

    def pairs(self) -> Iterator[Pair]:
        """Every pair, as it is written there; a missing value is an empty text.

        Raises:
            DataError: unequal sides, broken UTF-8, no such field, a hub out of reach, nothing or only empty
                lines on a side.
        """
        if self.kind == "text":
            pairs = _read_parallel(*self.files)
        else:
            pairs = _read_records(self._records(), self.source)
        return _refuse_empty_sides(pairs, self.source.name)

    def describe(self) -> dict[str, Any]:
        """Identity of its contents: files by name and SHA-256, or the hub's name and revision."""
        description: dict[str, Any] = {"name": self.source.name, "kind": self.kind}
        if self.files:
            description["files"] = {file.name: checksum for file, checksum in self.files.items()}
        else:
            keys = {"hub", "config", "revision", "split"}
            description |= self.source.model_dump(include=keys, exclude_none=True)
        return description

    def _records(self) -> Iterator[Mapping[str, Any]]:
        """Stream records through ``datasets``; its errors become ours, in one line."""
        where = ", ".join(map(str, self.files)) or f"hub data set {self.source.name}"
        hint = "" if self.files else "; check the name and the network, or set data.dir to local copies"
        try:
            yield from cast("Iterable[Mapping[str, Any]]", self._load())
        except LOADING_ERRORS as error:
            first_line = str(error).strip().partition("\n")[0][:200]
            raise DataError(f"{where}: cannot be read: {type(error).__name__}: {first_line}{hint}") from None

    def _load(self) -> Any:  # noqa: ANN401 - datasets has no types
        datasets.logging.set_verbosity(logging.CRITICAL)  # each error that it logs, it also raises
        if not self.files:
            return _load_hub(self.source)
        options: dict[str, Any] = {}
        if self.kind != "parquet":
            for file in self.files:
                _refuse_broken_utf8(file)
        if self.kind == "tsv":
            options = _tsv_options(next(iter(self.files)), header=self.source.header)
        files = [str(file) for file in self.files]
        return datasets.load_dataset(
            LOADERS[self.kind], data_files=files, split="train", streaming=True, **options
        )


def open_corpora(sources: Iterable[Source], data: DataConfig) -> list[Corpus]:
    """Find where each source is read from, and leave out the ``optional`` ones that are not there.

    Raises:
        DataError: a local file is missing.
    """
    return [corpus for source in sources if (corpus := _find(source, data)) is not None]


def _find(source: Source, data: DataConfig) -> Corpus | None:
    if source.path is None or (source.kind == "hub" and data.dir is None and not source.ships):
        return Corpus(source, "hub", {})
    kind = _local_kind(source)
    path = (CORPORA if source.ships else (data.dir or Path()).expanduser()) / source.path
    languages = (data.source_language, data.target_language)
    names = [f"{path}.{language}" for language in languages] if kind == "text" else _matching(path)
    found = [
        next(filter(Path.is_file, (Path(name + end) for end in ("", *COMPRESSED))), None) for name in names
    ]
    files = {file: sha256(file) for file in found if file is not None}
    if len(files) == len(names):
        return Corpus(source, kind, files)
    if source.optional and not files:
        return None
    raise DataError(
        f"{names[found.index(None)]}: no such file, nor with .gz or .xz; the recipe's source "
        f"'{source.name}' is read there: set data.dir to the folder that holds it"
    )


def _matching(path: Path) -> list[str]:
    """The files that ``*`` in the name stands for, in order of name; without any, ``path`` itself."""
    found = sorted(map(str, path.parent.glob(path.name))) if "*" in path.name else []
    return found or [str(path)]


def _load_hub(source: Source) -> Any:  # noqa: ANN401 - datasets has no types
    """Load a hub data set; of Parquet with known columns only those of the text are fetched."""
    name = cast("str", source.hub)
    options: dict[str, Any] = {"name": source.config, "revision": source.revision}
    builder = datasets.load_dataset_builder(name, **options)
    known = builder.info.features
    if known is not None:
        columns = sorted({_column(field, known) for field in (source.source_field, source.target_field)})
        for column in columns:
            if column not in known:
                raise DataError(f"{source.name}: no column '{column}'; its columns are {', '.join(known)}")
        if hasattr(builder.config, "columns"):
            options["columns"] = columns
    return datasets.load_dataset(name, split=source.split, streaming=source.streaming, **options)


def _tsv_options(file: Path, *, header: bool) -> dict[str, Any]:
    """No quoting, no "NA" that means nothing, nothing but text; columns as in the first line, or numbered."""
    cells = next(_lines(file), "").split("\t")
    names = cells if header else [str(number) for number in range(len(cells))]
    return {
        "sep": "\t",
        "quoting": csv.QUOTE_NONE,
        "keep_default_na": False,
        "column_names": names,
        "header": 0 if header else None,
        "features": datasets.Features({name: datasets.Value("string") for name in names}),
    }


def _local_kind(source: Source) -> Kind:
    if source.kind != "hub":
        return source.kind
    path = Path(str(source.path))
    suffix = path.with_suffix("").suffix if path.suffix in COMPRESSED else path.suffix
    return LOCAL_SUFFIXES.get(suffix, "text")


def _read_parallel(source: Path, target: Path) -> Iterator[Pair]:
    """Line i of ``source`` with line i of ``target``."""
    counts = [0, 0]
    first_empty: str | None = None
    for number, sides in enumerate(zip_longest(_lines(source), _lines(target)), start=1):
        for index, side in enumerate(sides):
            counts[index] += side is not None
        if first_empty is None and any(side is not None and not side.strip() for side in sides):
            empty = source if sides[0] is not None and not sides[0].strip() else target
            first_empty = f"line {number} of {empty.name} is empty"
        if sides[0] is not None and sides[1] is not None:
            yield sides[0], sides[1]
    if counts[0] != counts[1]:
        first = f"line {min(counts) + 1} is the first without a partner"
        first = f"{first_empty}, the first sign of a shift, and {first}" if first_empty else first
        raise DataError(f"{source} has {counts[0]} lines but {target} has {counts[1]}: {first}")


def _lines(path: Path) -> Iterator[str]:
    """Lines of a UTF-8 file, plain or compressed, without their ends and without a byte order mark."""
    number = 0
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                text = line.decode()
                yield (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: line {number}, byte {error.start + 1} of the line (0x{error.object[error.start]:02x}) "
            "is not UTF-8; convert the file to UTF-8"
        ) from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise DataError(f"{path}: cannot be read after line {number}: {error}") from None


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path))
    return lzma.open(path) if path.suffix == ".xz" else path.open("rb")


def _refuse_broken_utf8(path: Path) -> None:
    """Name the line and byte that ``datasets`` would only complain of."""
    for _ in _lines(path):
        pass


def _read_records(records: Iterable[Mapping[str, Any]], source: Source) -> Iterator[Pair]:
    for number, record in enumerate(records, start=1):
        sides = [
            _value(record, field, source, number) for field in (source.source_field, source.target_field)
        ]
        yield sides[0], sides[1]


def _value(record: Mapping[str, Any], field: str, source: Source, number: int) -> str:
    """The text at ``field``: a column of that name, or the path into nested records that its dots are."""
    value: Any = record
    for key in [field] if field in record else field.split("."):
        if not isinstance(value, Mapping) or key not in value:
            columns = ", ".join(record)
            raise DataError(
                f"{source.name}: record {number} has no field '{field}'; its columns are {columns}"
            )
        value = value[key]
    if value is not None and not isinstance(value, str):
        raise DataError(
            f"{source.name}: field '{field}' of record {number} is {type(value).__name__}, not text"
        )
    return value or ""


def _column(field: str, known: Mapping[str, Any]) -> str:
    """The top-level column that ``field`` is or leads through."""
    return field if field in known else field.partition(".")[0]


def _refuse_empty_sides(pairs: Iterator[Pair], name: str) -> Iterator[Pair]:
    """Pass ``pairs`` on; at the end refuse a corpus of which a side, or all, was empty."""
    n_pairs = 0
    has_text = [False, False]
    for pair in pairs:
        n_pairs += 1
        if not all(has_text):
            has_text = [known or bool(side.strip()) for known, side in zip(has_text, pair, strict=True)]
        yield pair
    if not n_pairs:
        raise DataError(f"{name}: no sentence pairs; the corpus is empty")
    for side, has in zip(("source", "target"), has_text, strict=True):
        if not has:
            raise DataError(f"{name}: all {n_pairs} lines of the {side} side are empty")
