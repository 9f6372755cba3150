"""Shards of text and Parquet: a row in, a row out, with all that was there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from nmt.errors import ConfigError, DataError
from nmt.offline import formats
from nmt.pipeline.result import Translation
from testbed.stub import StubTranslator

TEXTS = ["one two", "", " ", "dog", "é\u2028à"]


def translate(texts: Sequence[str]) -> list[Translation]:
    return StubTranslator().translate(texts)


@pytest.fixture(params=[2, 1024])
def _few_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "ROWS_AT_ONCE", request.param)


@pytest.mark.usefixtures("_few_at_once")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_gives_a_line_whatever_is_in_it(tmp_path: Path, end: str) -> None:
    source, target = tmp_path / "a.txt", tmp_path / "b.txt"
    source.write_bytes((end.join(TEXTS)).encode())

    assert formats.translate_file(source, target, "text", translate) == len(TEXTS)

    assert target.read_bytes().decode() == "".join(f"{text[::-1]}\n" for text in TEXTS)


def test_a_line_that_is_not_utf8_is_named_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\nCANARY\xff\n")

    with pytest.raises(DataError, match=r"a\.txt: line 2") as error:
        formats.translate_file(tmp_path / "a.txt", tmp_path / "b.txt", "text", translate)
    assert "CANARY" not in str(error.value)


@pytest.mark.usefixtures("_few_at_once")
def test_parquet_keeps_its_columns_nulls_and_order(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"id": list(range(6)), "text": [*TEXTS, None], "more": [[i] for i in range(6)]})
    parquet.write_table(table, tmp_path / "a.parquet")

    assert formats.translate_file(tmp_path / "a.parquet", tmp_path / "b.parquet", "text", translate) == 6

    found = parquet.read_table(tmp_path / "b.parquet")
    assert found.select(["id", "text", "more"]).equals(table)
    assert found["translation"].to_pylist() == [*(text[::-1] for text in TEXTS), None]
    assert found["flags"].to_pylist() == [[], [], [], [], [], None]


def test_a_missing_column_names_those_that_are_there(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"en": ["a"], "n": [1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"text": ["a"], "translation": ["b"]}), tmp_path / "c.parquet")
    (tmp_path / "d.parquet").write_bytes(b"no parquet")

    for name, error, message in (
        ("a", ConfigError, r"'text'.*--column names one of en$"),
        ("c", ConfigError, "'translation' already"),
        ("d", DataError, "d.parquet"),
    ):
        with pytest.raises(error, match=message):
            formats.translate_file(tmp_path / f"{name}.parquet", tmp_path / "b.parquet", "text", translate)
