"""Shards: what is written is what is read, and a folder that is not whole is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmt.errors import DataError
from testbed.corpora import PAIRS, write_toy
from training.data.prepare import prepare
from training.data.shards import PreparedCorpus, Side, SideWriter, differences, token_dtype
from training.recipe import load_recipe

sentences = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12)


@pytest.fixture(scope="module")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("shards"))


@pytest.fixture
def folder(recipe_file: Path, tmp_path: Path) -> Path:
    return prepare(str(recipe_file), tmp_path / "data", [])


def error_of(folder: Path, **options: object) -> str:
    with pytest.raises(DataError) as error:
        PreparedCorpus.open(folder, **options)
    return str(error.value)


@settings(deadline=None, max_examples=30)
@given(
    rows=st.lists(
        st.tuples(sentences, st.lists(st.integers(0, 69_999), min_size=1, max_size=9)), min_size=1, max_size=9
    ),
    cut=st.integers(0, 9),
)
def test_ids_and_text_come_back_however_they_were_batched(
    rows, cut, tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("side")
    dtype = token_dtype(70_000)
    with SideWriter(folder, "train.en", dtype) as writer:
        for part in (rows[:cut], rows[cut:]):
            writer.write([text for text, _ in part], [ids for _, ids in part])
    side = Side.map(folder, "train.en", dtype)
    assert [(side.sentence(index), side.ids(index).tolist()) for index in range(len(rows))] == rows
    assert (folder / "train.en").read_bytes().count(b"\n") == len(rows)


def test_two_bytes_serve_65536_ids_and_four_serve_more():
    assert token_dtype(65_536) == np.uint16
    assert token_dtype(65_537) == np.int32


def test_a_writer_that_failed_leaves_no_offsets(tmp_path: Path):
    with (
        pytest.raises(ValueError, match="argument 2 is shorter"),
        SideWriter(tmp_path, "x.en", token_dtype(9)) as writer,
    ):
        writer.write(["one", "two"], [[5]])
    assert not (tmp_path / "x.en.offsets").exists()


def test_pairs_stay_together_and_lengths_count_ids_without_markers(folder: Path):
    corpus = PreparedCorpus.open(folder)
    pairs = corpus.split("train")
    assert len(pairs) == 60
    for index in (0, 17, 59):
        assert (pairs.source_text(index), pairs.target_text(index)) == PAIRS[index]
        assert len(pairs.source(index)) == pairs.source_lengths[index]
        assert len(pairs.target(index)) == pairs.target_lengths[index]
    assert pairs.source_lengths.dtype == np.int32
    assert pairs.source(0).dtype == np.uint16
    assert not pairs.source(0).flags.writeable
    assert (np.concatenate([pairs.target(index) for index in range(60)]) > 3).all()


def test_a_split_index_below_zero_or_past_the_end_is_no_sentence(folder: Path):
    pairs = PreparedCorpus.open(folder).split("dev")
    with pytest.raises(IndexError):
        pairs.source(len(pairs))
    with pytest.raises(IndexError):
        pairs.source_text(len(pairs))


def test_the_corpus_knows_its_languages_tokenizer_report_and_test_sets(folder: Path):
    corpus = PreparedCorpus.open(folder)
    assert (corpus.source_language, corpus.target_language) == ("en", "fr")
    assert corpus.vocab_size == 320
    assert corpus.tokenizer_file.is_file()
    assert corpus.report["train"]["pairs"] == 60
    source, reference = corpus.test_sets()["held-out"]
    assert source.read_text(encoding="utf-8").splitlines() == [en for en, _ in PAIRS[70:]]
    assert reference.read_text(encoding="utf-8").splitlines() == [fr for _, fr in PAIRS[70:]]


def test_a_folder_that_is_not_there_says_what_to_run(tmp_path: Path):
    assert error_of(tmp_path / "none").endswith("no such folder; run 'nmt prepare' with the recipe first")


def test_a_folder_of_something_else_is_told_apart(tmp_path: Path):
    assert "manifest.json: No such file or directory; this is no folder" in error_of(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", "{}", "\xff"])
def test_a_damaged_manifest_is_refused(folder: Path, content: str):
    (folder / "manifest.json").write_text(content, encoding="latin-1")
    assert "manifest.json: damaged; delete the folder and prepare it again" in error_of(folder)


def test_a_folder_of_a_later_format_is_refused(folder: Path):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps({**manifest, "format_version": 2}), encoding="utf-8")
    assert "format_version 2, this version of the library reads 1" in error_of(folder)


def test_a_missing_or_cut_file_is_named(folder: Path):
    tokens = folder / "train.fr.tokens"
    whole = tokens.read_bytes()
    tokens.write_bytes(whole[:-2])
    assert f"{tokens}: {len(whole) - 2} bytes, manifest.json says {len(whole)}" in error_of(folder)
    tokens.unlink()
    assert f"{tokens}: missing" in error_of(folder)


def test_a_flipped_bit_is_found_when_asked_to_verify(folder: Path):
    tokens = folder / "train.en.tokens"
    content = bytearray(tokens.read_bytes())
    content[7] ^= 1
    tokens.write_bytes(content)
    PreparedCorpus.open(folder)
    assert f"{tokens}: corrupt" in error_of(folder, verify=True)


def test_a_folder_of_another_recipe_names_each_difference(folder: Path, recipe_file: Path):
    PreparedCorpus.open(folder, load_recipe(str(recipe_file), ["training.seed=3"]))
    other = load_recipe(str(recipe_file), ["tokenizer.vocab_size=400", "data.cleaning.max_words=7"])
    error = error_of(folder, recipe=other)
    assert "prepared by another recipe than 'small'" in error
    assert "data.cleaning.max_words: 100 there, 7 here" in error
    assert "tokenizer.vocab_size: 320 there, 400 here" in error
    assert "--out" in error


def test_differences_lead_into_nested_values():
    there = {"a": {"b": [1, {"c": 2}]}, "d": [1], "e": 1}
    here = {"a": {"b": [1, {"c": 3}]}, "d": [1, 2], "f": 1}
    assert differences(there, there) == []
    assert differences(there, here) == [
        "a.b.1.c: 2 there, 3 here",
        "d: 1 entries there, 2 here",
        "e: 1 there, None here",
        "f: None there, 1 here",
    ]


def test_a_copy_without_training_text_serves_all_but_subword_sampling(folder: Path):
    for name in ("train.en", "train.fr", "train.en.lines", "train.fr.lines"):
        (folder / name).unlink()
    pairs = PreparedCorpus.open(folder, verify=True).split("train")
    assert len(pairs.source(0)) > 0
    with pytest.raises(DataError, match=r"training.subword_sampling"):
        pairs.source_text(0)


def test_development_text_may_not_be_left_out(folder: Path):
    (folder / "dev.en").unlink()
    assert "dev.en: missing" in error_of(folder)


@pytest.mark.parametrize("split", ["train", "dev"])
def test_some_pairs_are_spread_over_all(folder: Path, split: str) -> None:
    pairs = PreparedCorpus.open(folder).split(split)
    some = pairs.evenly(3)
    indices = [0, len(pairs) // 3, 2 * len(pairs) // 3]
    assert [some.source(index).tolist() for index in range(3)] == [pairs.source(i).tolist() for i in indices]
    assert [some.target_text(index) for index in range(3)] == [pairs.target_text(i) for i in indices]
    assert some.target_lengths.tolist() == pairs.target_lengths[indices].tolist()
    assert pairs.evenly(len(pairs)) is pairs
    assert pairs.evenly(None) is pairs
