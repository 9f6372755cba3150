"""The baseline in ``scores.json``: of the same sentences, and what ships is well ahead of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nmt.errors import DataError
from nmt.model_folder.checkpoint import PRETRAINED, SCORES
from nmt.translator import Translator
from scripts.baseline_scores import anew, baseline
from tests.nmt.conftest import save_tiny_model, train_tokenizer
from training.evaluation.testset import TestSet


def record(sources: str) -> dict[str, Any]:
    return {"evaluations": [{"test_set": one_set(letter, f"set/{letter}")} for letter in sources]}


def one_set(letter: str, name: str) -> dict[str, Any]:
    return {"name": name, "source_sha256": letter, "reference_sha256": letter.upper()}


def report(sources: str, names: tuple[str, ...] = ("rnn", "ours")) -> dict[str, Any]:
    return {
        "models": [{"name": name, "parameters": 7, "training": {"updates": 3}} for name in names],
        "bootstrap": {"samples": 1000},
        "command": "nmt compare",
        "date": "2026-01-01",
        "test_sets": [{**one_set(letter, letter), "significance": [letter]} for letter in sources],
    }


def test_test_sets_are_found_by_their_checksums_and_named_as_the_models() -> None:
    found = baseline(record("abc"), report("ca"), "ours")
    assert found["name"] == "rnn"
    assert found["test_sets"] == [
        {"name": "set/c", "significance": ["c"]},
        {"name": "set/a", "significance": ["a"]},
    ]


@pytest.mark.parametrize("names", [("ours", "rnn"), ("rnn",), ("rnn", "other", "ours")])
def test_a_report_of_other_models_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit, match="wanted: a baseline, then ours"):
        baseline(record("abc"), report("a", names), "ours")


def test_a_report_of_other_sentences_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"the report has d, which the model's scores\.json has not"):
        baseline(record("abc"), report("ad"), "ours")


def test_a_model_trained_on_is_tested_against_the_translations_that_were_kept(
    tmp_path: Path,
) -> None:
    (tmp_path / "tokenizer.model").write_bytes(train_tokenizer())
    save_tiny_model(tmp_path / "ours", tmp_path / "tokenizer.model")
    translator = Translator.load(tmp_path / "ours")
    sources, references = tmp_path / "few.en", tmp_path / "few.fr"
    sources.write_text("A dog runs.\nIt rains.\n", encoding="utf-8")
    written = "".join(f"{each.text}\n" for each in translator.translate(["A dog runs.", "It rains."]))
    references.write_text(written, encoding="utf-8")
    kept = tmp_path / "few" / "rnn.txt"
    kept.parent.mkdir()
    kept.write_text("Un chien.\nIl pleut.\n", encoding="utf-8")
    before = {
        **report("", ("rnn", "ours")),
        "bootstrap": {"samples": 100, "seed": 7},
        "test_sets": [{**TestSet.load(sources, references).describe(), "significance": []}],
    }

    after = anew(before, tmp_path, translator, [(sources, references)])

    (test_set,) = after["test_sets"]
    bleu, chrf = test_set["significance"]
    assert (bleu["baseline"], bleu["system"], bleu["metric"], chrf["metric"]) == (
        "rnn",
        "ours",
        "BLEU",
        "chrF2",
    )
    assert chrf["system_score"] == 100 > chrf["baseline_score"]
    assert after["models"] == before["models"]
    assert after["command"] != before["command"]

    kept.write_text("Un chien.\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"2 lines but .* has 1"):
        anew(before, tmp_path, translator, [(sources, references)])
    with pytest.raises(SystemExit, match="the very test sets of the report, all of them: few"):
        anew(before, tmp_path, translator, [(sources, sources)])


def test_what_ships_is_at_least_three_bleu_ahead_of_its_baseline() -> None:
    scores = json.loads((PRETRAINED / "general" / SCORES).read_text(encoding="utf-8"))
    compared = {
        one["name"]: item
        for one in scores["baseline"]["test_sets"]
        for item in one["significance"]
        if (item["metric"], item["scale"]) == ("BLEU", "cased-detokenized")
    }
    assert set(compared) == {
        "tatoeba/test",
        "multi30k/test_2016_flickr",
        "flores/devtest",
        "news/newstest2014",
    }
    for item in compared.values():
        assert item["difference"] >= 3
        assert item["p_value"] < 0.01
