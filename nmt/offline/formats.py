"""Shards of text, a sentence or more a line, and of Parquet, a text a row: read and written piece by piece.

A text shard gives one line for each line. A Parquet shard keeps its columns and gets two more:
``translation``, and ``flags``, what may be wrong with it; a null stays null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import ConfigError, DataError

if TYPE_CHECKING:
    from nmt.pipeline.result import Translation

SUFFIXES = (".txt", ".parquet")
ROWS_AT_ONCE = 1024
"""Texts translated together; enough for full batches of sentences of similar length."""
ADDED = ("translation", "flags")

Translate = Callable[[Sequence[str]], "list[Translation]"]


def translate_file(source: Path, target: Path, column: str, translate: Translate) -> int:
    """Translate one shard; return its number of rows.

    Args:
        source: what to read.
        target: what to write, as its suffix says; not flushed.
        column: of the texts in Parquet.
        translate: called with up to ``ROWS_AT_ONCE`` texts.

    Raises:
        DataError: the shard cannot be read.
        ConfigError: it has no such column of strings, or a column that would be overwritten.
    """
    if source.suffix == ".parquet":
        return _translate_parquet(source, target, column, translate)
    return _translate_text(source, target, translate)


def _translate_text(source: Path, target: Path, translate: Translate) -> int:
    n_rows = 0
    with source.open("rb") as read, target.open("wb") as written:
        while lines := read.readlines(64 * ROWS_AT_ONCE):
            texts = [_decoded(source, n_rows + index, line) for index, line in enumerate(lines, start=1)]
            for start in range(0, len(texts), ROWS_AT_ONCE):
                for result in translate(texts[start : start + ROWS_AT_ONCE]):
                    # A line break in a translated line would shift all lines after it.
                    written.write(result.text.replace("\n", " ").encode() + b"\n")
            n_rows += len(texts)
    return n_rows


def _decoded(source: Path, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{source.name}: line {number} is not UTF-8 at byte {error.start}; convert the shard first"
        ) from None


def _translate_parquet(source: Path, target: Path, column: str, translate: Translate) -> int:
    import pyarrow as pa  # noqa: PLC0415 - of the extra ray
    from pyarrow import parquet  # noqa: PLC0415

    try:
        file = parquet.ParquetFile(source)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{source.name}: cannot be read as Parquet ({type(error).__name__})") from None
    with file:
        _check_columns(source, file.schema_arrow, column)
        schema = file.schema_arrow.append(pa.field(ADDED[0], pa.string()))
        schema = schema.append(pa.field(ADDED[1], pa.list_(pa.string())))
        n_rows = 0
        with parquet.ParquetWriter(target, schema) as writer:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                texts = batch.column(column).to_pylist()
                results = iter(translate([text for text in texts if text is not None]))
                found = [None if text is None else next(results) for text in texts]
                translations = [None if result is None else result.text for result in found]
                flags = [
                    None if result is None else sorted({flag.kind for flag in result.flags})
                    for result in found
                ]
                writer.write_batch(
                    pa.RecordBatch.from_arrays(
                        [
                            *batch.columns,
                            pa.array(translations, schema[-2].type),
                            pa.array(flags, schema[-1].type),
                        ],
                        schema=schema,
                    )
                )
                n_rows += len(texts)
    return n_rows


def _check_columns(source: Path, schema: object, column: str) -> None:
    """Raises ``ConfigError``."""
    import pyarrow as pa  # noqa: PLC0415

    assert isinstance(schema, pa.Schema)
    if column not in schema.names or not pa.types.is_string(schema.field(column).type):
        strings = [field.name for field in schema if pa.types.is_string(field.type)]
        raise ConfigError(
            f"{source.name}: no column {column!r} of strings; --column names one of {', '.join(strings)[:99]}"
        )
    if taken := [name for name in ADDED if name in schema.names]:
        raise ConfigError(f"{source.name}: has a column {taken[0]!r} already; rename it first")
