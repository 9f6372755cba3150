"""Evaluating a model: what the record holds, and that each line of a file is one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from nmt.errors import ConfigError, DataError
from nmt.model_folder.checkpoint import MANIFEST, WEIGHTS
from nmt.translator import Translator
from tests.stub_translator import StubTranslator
from training.evaluation.evaluate import evaluate, evaluate_on, search_options
from training.evaluation.testset import TestSet, load_all

SOURCES = ["le chat dort sur le tapis", "il pleut depuis ce matin", "la gare est loin de la ville"]


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A source and a reference file; the stub gets two of three lines right."""
    references = [line.upper() for line in SOURCES]
    references[1] = "IL PLEUT DEPUIS CE SOIR"
    return write(tmp_path, "captions.en", SOURCES), write(tmp_path, "captions.fr", references)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with ten weights; loading it gives a stub that shouts."""
    folder = tmp_path / "runs" / "shouting" / "model"
    folder.mkdir(parents=True)
    save_file({"a": torch.zeros(2, 3), "b": torch.zeros(4)}, folder / WEIGHTS)
    (folder / MANIFEST).write_text("manifest\n", encoding="ascii")
    monkeypatch.setattr(Translator, "load", lambda *_, **__: StubTranslator(name="shouting"))
    return str(folder)


def test_json_record_says_how_every_number_was_made(
    model: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(model, [files[0]], [files[1]], lowercase_tokenized=True, beam=2, as_json=True)

    record = json.loads(capsys.readouterr().out)
    assert (record["model"]["name"], record["model"]["parameters"]) == ("shouting", 10)
    assert record["generation"]["beam_size"] == 2
    assert {"command", "commit", "versions", "machine", "date"} <= record.keys()
    [evaluation] = record["evaluations"]
    assert evaluation["test_set"]["sentences"] == 3
    assert len(evaluation["test_set"]["reference_sha256"]) == 64
    assert {(item["metric"], item["scale"]) for item in evaluation["scores"]} == {
        ("BLEU", "cased-detokenized"),
        ("chrF2", "cased-detokenized"),
        ("TER", "cased-detokenized"),
        ("BLEU", "lowercase-tokenized"),
    }
    assert all(item["signature"] for item in evaluation["scores"])
    assert evaluation["speed"]["sentences_per_second"] > 0


def test_scores_are_those_of_the_translations(model: str, files: tuple[Path, Path]) -> None:
    result = evaluate_on(StubTranslator(), TestSet.load(*files), StubTranslator().generation)

    scores = {item.metric: item.score for item in result.scores}
    assert 50 < scores["BLEU"] < 100
    assert scores["TER"] == pytest.approx(100 / 18, abs=1e-3), "1 of 18 words is wrong"
    assert result.hypotheses[0] == "LE CHAT DORT SUR LE TAPIS"


def test_tables_show_score_scale_and_signature(
    model: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    evaluate(model, [files[0]], [files[1]])

    shown = capsys.readouterr().out
    assert "shouting on captions (3 sentences), beam 3" in shown
    assert "nrefs:1|case:mixed|eff:no|tok:13a" in shown
    assert "lowercase-tokenized" not in shown


def test_hypotheses_are_written_one_a_line_even_if_the_model_writes_a_line_break(
    tmp_path: Path, model: str, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub = StubTranslator(lambda text: text.replace(" ", "\n", 1))
    monkeypatch.setattr(Translator, "load", lambda *_, **__: stub)

    evaluate(model, [files[0]], [files[1]], hypotheses=tmp_path / "out", as_json=True)

    assert (tmp_path / "out" / "captions.fr").read_text(encoding="utf-8").splitlines() == SOURCES


def test_truncated_translations_are_counted(files: tuple[Path, Path]) -> None:
    stub = StubTranslator(truncates=lambda text: "gare" in text)

    assert evaluate_on(stub, TestSet.load(*files), stub.generation).truncated == 1


def test_search_options_are_the_models_own_with_one_best() -> None:
    stub = StubTranslator()

    assert search_options(stub, None) == stub.generation
    assert search_options(stub, 7).beam_size == 7
    with pytest.raises(ConfigError, match="beam_size = 65"):
        search_options(stub, 65)


def test_unequal_files_are_refused_with_both_counts_and_the_first_line(tmp_path: Path) -> None:
    pair = write(tmp_path, "x.en", ["a", "b", "c"]), write(tmp_path, "x.fr", ["a", "b"])

    with pytest.raises(DataError, match=r"x\.en has 3 lines but .*x\.fr has 2: line 3 is the first without"):
        TestSet.load(*pair)


def test_a_line_separator_inside_a_line_ends_no_line(tmp_path: Path) -> None:
    pair = write(tmp_path, "x.en", ["a\u2028b", "c\x0cd"]), write(tmp_path, "x.fr", ["a", "b"])

    assert TestSet.load(*pair).sources == ("a\u2028b", "c\x0cd")


@pytest.mark.parametrize(("content", "message"), [(b"", "no lines"), (b"ok\n\xff\n", "not UTF-8 at byte 3")])
def test_empty_and_broken_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x").write_bytes(content)

    with pytest.raises(DataError, match=message):
        TestSet.load(tmp_path / "x", tmp_path / "x")


def test_sources_and_references_must_come_in_pairs(files: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match="2 --source but 1 --reference"):
        load_all([files[0], files[0]], [files[1]])


def test_two_test_sets_of_one_name_are_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match="two test sets are named 'captions'"):
        load_all([files[0], files[0]], [files[1], files[1]])
