"""Corpora of every kind give the same pairs; a broken one is told where it is broken."""

import gzip
import json
import lzma
from pathlib import Path

import datasets
import pyarrow
import pyarrow.parquet
import pytest

from nmt.errors import DataError
from testbed.corpora import write_text
from training.data.corpus import Corpus, open_corpora
from training.recipe import DataConfig, Source

PAIRS = [
    ("Hello.", "Bonjour."),
    ("null", "NA"),
    ('"open', '"Fermé" dit-il'),
    ('null NA "quoted', "c'est «\u202fça\u202f»"),
    ("one\u2028line\x0c\x85", "une\u2028ligne"),
    ("12", "34"),
]
NESTED = [{"id": number, "translation": {"en": en, "fr": fr}} for number, (en, fr) in enumerate(PAIRS)]
HUB_CARD = """---
dataset_info:
  features:
  - {name: en, dtype: string}
  - {name: fr, dtype: string}
  - {name: image, dtype: binary}
configs:
- config_name: default
  data_files: [{split: validation, path: part-*}]
---
"""


def corpus(folder: Path, **source: object) -> Corpus:
    parsed = Source.model_validate(source)
    (found,) = open_corpora([parsed], DataConfig(dir=folder, train=(parsed,), dev=(parsed,)))
    return found


def read(folder: Path, **source: object) -> list[tuple[str, str]]:
    return list(corpus(folder, **source).pairs())


def error_of(folder: Path, **source: object) -> str:
    with pytest.raises(DataError) as error:
        read(folder, **source)
    assert "\n" not in str(error.value)
    return str(error.value)


def compress(path: Path, suffix: str) -> None:
    packed = {".gz": gzip.compress, ".xz": lzma.compress}[suffix](path.read_bytes())
    path.with_name(path.name + suffix).write_bytes(packed)
    path.unlink()


def write_parquet(path: Path, columns: dict[str, list[object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A folder in the form of a hub data set: Parquet with a column of pictures beside the text."""
    folder = tmp_path / "owner" / "captions"
    folder.mkdir(parents=True)
    columns = {
        "en": [en for en, _ in PAIRS],
        "fr": [fr for _, fr in PAIRS],
        "image": [b"\xff\xd8"] * len(PAIRS),
    }
    write_parquet(folder / "part-0.parquet", columns)
    (folder / "README.md").write_text(HUB_CARD, encoding="utf-8")
    return folder


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_parallel_text_breaks_lines_at_line_feeds_alone_compressed_or_not(tmp_path: Path, suffix: str):
    write_text(tmp_path, "train", PAIRS)
    if suffix:
        compress(tmp_path / "train.en", suffix)
    assert read(tmp_path, kind="text", path="train") == PAIRS


def test_windows_line_ends_a_byte_order_mark_and_a_missing_last_line_feed_leave_no_trace(tmp_path: Path):
    (tmp_path / "t.en").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (tmp_path / "t.fr").write_bytes(b"un\ndeux")
    assert read(tmp_path, kind="text", path="t") == [("one", "un"), ("two", "deux")]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_tsv_takes_columns_by_number_and_every_cell_as_text(tmp_path: Path, suffix: str):
    pairs = [pair for pair in PAIRS if "\u2028" not in pair[0]]
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{en}\tCC-BY\t{fr}\n" for en, fr in pairs), encoding="utf-8")
    if suffix:
        compress(path, suffix)
    assert read(tmp_path, kind="tsv", path="a.tsv", source_field="0", target_field="2") == pairs


def test_tsv_with_a_header_takes_columns_by_name(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("fr\ten\nun\tone\n", encoding="utf-8")
    assert read(tmp_path, kind="tsv", path="a.tsv", header=True, source_field="en", target_field="fr") == [
        ("one", "un")
    ]


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_json_lines_lead_into_nested_records(tmp_path: Path, suffix: str):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in NESTED), encoding="utf-8")
    if suffix:
        compress(path, suffix)
    assert read(tmp_path, kind="jsonl", path="a.jsonl") == PAIRS


def test_parquet_takes_a_dot_in_a_column_name_as_it_stands_and_a_missing_value_as_empty(tmp_path: Path):
    write_parquet(tmp_path / "a.parquet", {"text.en": ["one", None], "text.fr": ["un", "deux"]})
    fields = {"source_field": "text.en", "target_field": "text.fr"}
    assert read(tmp_path, kind="parquet", path="a.parquet", **fields) == [("one", "un"), ("", "deux")]


@pytest.mark.parametrize("streaming", [True, False])
def test_a_hub_data_set_gives_the_text_columns_of_the_split(
    hub: Path, streaming: bool, monkeypatch, tmp_path: Path
):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    loaded = []
    load = datasets.load_dataset

    def spy(*args: object, **options: object) -> object:
        loaded.append(options)
        return load(*args, **options, cache_dir=str(tmp_path / "cache"))

    monkeypatch.setattr(datasets, "load_dataset", spy)
    fields = {"source_field": "en", "target_field": "fr", "split": "validation", "streaming": streaming}
    assert read(tmp_path, kind="hub", hub=str(hub), **fields) == PAIRS
    assert loaded[0]["columns"] == ["en", "fr"]
    assert loaded[0]["streaming"] is streaming


def test_a_hub_source_is_read_from_its_local_copy_once_data_dir_is_set(tmp_path: Path):
    write_text(tmp_path / "captions", "train", PAIRS)
    source = Source(kind="hub", hub="no/such", path="captions/train")
    local = open_corpora([source], DataConfig(dir=tmp_path, train=(source,), dev=(source,)))[0]
    assert list(local.pairs()) == PAIRS
    assert set(local.describe()["files"]) == {"train.en", "train.fr"}
    remote = open_corpora([source], DataConfig(train=(source,), dev=(source,)))[0]
    assert remote.describe() == {"name": "no/such", "kind": "hub", "hub": "no/such", "split": "train"}


def test_the_suffix_of_a_local_copy_tells_its_kind(tmp_path: Path):
    path = tmp_path / "copy.jsonl"
    path.write_text(json.dumps(NESTED[0]) + "\n", encoding="utf-8")
    compress(path, ".gz")
    assert read(tmp_path, kind="hub", hub="no/such", path="copy.jsonl") == PAIRS[:1]


def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path):
    write_text(tmp_path, "train", PAIRS)
    (tmp_path / "train.fr").unlink()
    error = error_of(tmp_path, kind="text", path="train", name="captions")
    assert error.startswith(f"{tmp_path / 'train.fr'}: no such file")
    assert "'captions'" in error
    assert "set data.dir" in error


def test_an_optional_source_may_be_missing_but_not_by_half(tmp_path: Path):
    source = Source(kind="text", path="train", optional=True)
    data = DataConfig(dir=tmp_path, train=(source,), dev=(source,))
    assert open_corpora([source], data) == []
    (tmp_path / "train.en").write_text("one\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"train\.fr: no such file"):
        open_corpora([source], data)


def test_unequal_sides_are_told_with_both_counts_and_the_first_line(tmp_path: Path):
    write_text(tmp_path, "t", [("a", "b")] * 60)
    (tmp_path / "t.fr").write_text("b\n" * 57, encoding="utf-8")
    error = error_of(tmp_path, kind="text", path="t")
    assert f"{tmp_path / 't.en'} has 60 lines but {tmp_path / 't.fr'} has 57" in error
    assert error.endswith("line 58 is the first without a partner")


def test_unequal_sides_are_told_with_the_first_empty_line_where_the_shift_may_be(tmp_path: Path):
    (tmp_path / "t.en").write_text("a\nb\n\nc\n", encoding="utf-8")
    (tmp_path / "t.fr").write_text("a\nb\nc\n", encoding="utf-8")
    error = error_of(tmp_path, kind="text", path="t")
    assert "has 4 lines" in error
    assert (
        "has 3: line 3 of t.en is empty, the first sign of a shift, and line 4 is the first without" in error
    )


@pytest.mark.parametrize(("path", "kind"), [("t", "text"), ("t.jsonl", "jsonl"), ("t.tsv", "tsv")])
def test_broken_utf8_is_told_with_file_line_and_byte_but_not_the_text(tmp_path: Path, path: str, kind: str):
    lines = b"one\tun\n" * 4 + b"caf\xe9\tsecret\n"
    for name in ("t.en", "t.jsonl", "t.tsv"):
        (tmp_path / name).write_bytes(lines)
    (tmp_path / "t.fr").write_bytes(b"un\n" * 5)
    error = error_of(tmp_path, kind=kind, path=path, source_field="0", target_field="1")
    file = tmp_path / (path if kind != "text" else "t.en")
    assert error.startswith(f"{file}: line 5, byte 4 of the line (0xe9) is not UTF-8")
    assert "secret" not in error


def test_a_side_that_is_empty_throughout_is_refused(tmp_path: Path):
    write_text(tmp_path, "t", [("one", ""), ("two", " ")])
    assert error_of(tmp_path, kind="text", path="t") == "t: all 2 lines of the target side are empty"


def test_a_corpus_without_a_pair_is_refused(tmp_path: Path):
    write_text(tmp_path, "t", [])
    assert error_of(tmp_path, kind="text", path="t") == "t: no sentence pairs; the corpus is empty"


def test_a_truncated_archive_is_told_with_the_line_it_reaches(tmp_path: Path):
    write_text(tmp_path, "t", [(f"line {number} {hash(number) % 977}", "x") for number in range(5000)])
    compress(tmp_path / "t.en", ".gz")
    packed = (tmp_path / "t.en.gz").read_bytes()
    (tmp_path / "t.en.gz").write_bytes(packed[: len(packed) // 2])
    assert "t.en.gz: cannot be read after line " in error_of(tmp_path, kind="text", path="t")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"source_field": "en", "target_field": "de"}, "no column 'de'; its columns are en, fr, image"),
        (
            {"source_field": "en.text", "target_field": "fr"},
            "record 1 has no field 'en.text'; its columns are en, fr",
        ),
        ({"source_field": "en", "target_field": "image"}, "field 'image' of record 1 is bytes, not text"),
        (
            {"source_field": "en", "target_field": "fr", "split": "dev"},
            "Bad split: dev. Available splits: ['validation']",
        ),
    ],
)
def test_a_hub_data_set_without_what_the_recipe_asks_says_what_it_has(
    hub: Path, options: dict[str, str], expected: str
):
    assert expected in error_of(hub, **{"kind": "hub", "hub": str(hub), "split": "validation", **options})


def test_a_hub_data_set_that_is_not_there_points_to_local_copies(tmp_path: Path):
    error = error_of(tmp_path, kind="hub", hub=str(tmp_path / "absent"))
    assert "cannot be read" in error
    assert error.endswith("check the name and the network, or set data.dir to local copies")


def test_a_damaged_file_is_one_line_of_error_that_names_it(tmp_path: Path):
    (tmp_path / "a.parquet").write_bytes(b"nothing")
    assert error_of(tmp_path, kind="parquet", path="a.parquet").startswith(
        f"{tmp_path / 'a.parquet'}: cannot be read"
    )
    (tmp_path / "a.jsonl").write_text('{"en": "a"}\n{oops\n', encoding="utf-8")
    assert error_of(tmp_path, kind="jsonl", path="a.jsonl").startswith(
        f"{tmp_path / 'a.jsonl'}: cannot be read"
    )
    (tmp_path / "a.tsv").write_text("a\tb\nc\td\te\n", encoding="utf-8")
    error = error_of(tmp_path, kind="tsv", path="a.tsv", source_field="0", target_field="1")
    assert "Expected 2 fields in line 2, saw 3" in error
