"""Calibration: labels and fit by hand, then the command on a tiny model."""

from __future__ import annotations

import json
import math
import random

import pytest

from nmt.confidence import expected_calibration_error
from nmt.config import GenerationConfig
from nmt.errors import ConfigError, DataError
from nmt.model_folder.checkpoint import load_model_folder
from nmt.options import TranslationOptions
from nmt.translator import Translator
from tests.nmt.conftest import SENTENCES, save_tiny_model, train_tokenizer
from training.evaluation.calibrate import area_under_roc, calibrate, curve, fit, matched_words


def test_words_are_right_where_the_edit_distance_leaves_them() -> None:
    hypothesis = ["le", "chien", "est", "la", "table", "rouge"]
    reference = ["le", "chat", "est", "sur", "la", "table"]
    assert matched_words(hypothesis, reference) == (True, False, True, True, True, False)
    assert matched_words(["a"], []) == (False,)
    assert matched_words([], ["a"]) == ()


def test_the_fit_finds_the_probabilities_that_made_the_data() -> None:
    generator = random.Random(1)

    def drawn(n: int) -> tuple[list[tuple[float, float]], list[bool]]:
        rows = [(generator.gauss(5, 2), generator.gauss(0, 1)) for _ in range(n)]
        return rows, [generator.random() < 1 / (1 + math.exp(5 - x)) for x, _ in rows]

    model = fit(("x", "noise"), *drawn(1500), good="")
    rows, outcomes = drawn(1500)
    probabilities = model.probabilities(rows)
    assert expected_calibration_error(probabilities, outcomes) < 0.04
    assert area_under_roc(probabilities, outcomes) > 0.85
    assert abs(model.weights[1]) < 0.2
    assert model.weights[0] > 1.5


def test_area_under_roc_by_hand() -> None:
    assert area_under_roc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]) == 0.75
    assert area_under_roc([0.5, 0.5], [True, False]) == 0.5
    assert area_under_roc([0.9, 0.8], [True, True]) == 0.5


def test_the_curve_leaves_empty_bins_out() -> None:
    assert curve([0.05, 0.06, 0.95], [False, True, True]) == [
        {"confidence": 0.055, "frequency": 0.5, "n": 2},
        {"confidence": 0.95, "frequency": 1.0, "n": 1},
    ]


@pytest.fixture
def folder(tmp_path):
    tokenizer = tmp_path / "tokenizer.model"
    tokenizer.write_bytes(train_tokenizer())
    options = GenerationConfig(beam_size=1, repair_loops=False, max_length_ratio=1.0, max_length_offset=5)
    save_tiny_model(tmp_path / "model", tokenizer, generation=options)
    (tmp_path / "dev.en").write_text("".join(f"{line}\n" for line in SENTENCES[::2] * 3))
    (tmp_path / "dev.fr").write_text("".join(f"{line}\n" for line in SENTENCES[1::2] * 3))
    return tmp_path


def test_the_command_makes_a_model_folder_that_gives_confidence(folder) -> None:
    model = folder / "model"
    with pytest.raises(ConfigError, match="not calibrated; run nmt calibrate"):
        Translator.load(model, device="cpu").translate(["The cat."], TranslationOptions(min_confidence=0.5))
    plain = Translator.load(model, device="cpu").translate(
        [SENTENCES[0]], TranslationOptions(alignment="links")
    )[0]
    assert (plain.confidence, plain.word_confidence) == (None, None)

    calibrate(str(model), [folder / "dev.en"], [folder / "dev.fr"], report=folder / "report", device="cpu")

    assert load_model_folder(model).calibration is not None
    record = json.loads((folder / "report/tiny.json").read_text())
    assert record["measured"]["all"]["sentence"]["n"] == 15
    assert (folder / "report/tiny.png").read_bytes().startswith(b"\x89PNG")
    translator = Translator.load(model, device="cpu")
    translation = translator.translate([SENTENCES[0]], TranslationOptions(alignment="links"))[0]
    assert 0 <= translation.confidence <= 1
    assert translation.sentences[0].confidence == pytest.approx(translation.confidence)
    assert len(translation.word_confidence) == len(translation.target_tokens)
    assert translation.text == plain.text


def test_a_sentence_below_the_asked_confidence_keeps_its_source_and_is_flagged(folder) -> None:
    calibrate(str(folder / "model"), [folder / "dev.en"], [folder / "dev.fr"], device="cpu")
    translator = Translator.load(folder / "model", device="cpu")
    text = f"{SENTENCES[0]}\n12:30"
    translation = translator.translate([text], TranslationOptions(min_confidence=1.0, alignment="links"))[0]
    assert translation.text == text
    flags = [(flag.kind, flag.sentence) for flag in translation.flags]
    assert set(flags) <= {("below_min_confidence", 0), ("loop", 0)}
    assert ("below_min_confidence", 0) in flags
    assert translation.sentences[0].confidence < 1.0
    assert translation.sentences[1].confidence == 1.0
    unchanged = translator.translate([text], TranslationOptions(min_confidence=0.0))[0]
    assert unchanged.text == translator.translate([text])[0].text != text
    with pytest.raises(ValueError, match=r"min_confidence\n.*less than or equal to 1"):
        TranslationOptions(min_confidence=1.5)


def test_too_few_sentences_are_an_error(folder) -> None:
    for name in ("dev.en", "dev.fr"):
        (folder / name).write_text("\n".join((folder / name).read_text().splitlines()[:5]))
    with pytest.raises(DataError, match="5 sentences to calibrate on; at least 20"):
        calibrate(str(folder / "model"), [folder / "dev.en"], [folder / "dev.fr"], device="cpu")
