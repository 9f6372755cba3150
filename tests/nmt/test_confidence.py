"""Features, probabilities and calibration error, by hand."""

from __future__ import annotations

import math

import pytest

from nmt.confidence import (
    SENTENCE_FEATURES,
    WORD_FEATURES,
    Calibration,
    Evidence,
    LogisticRegression,
    bins,
    expected_calibration_error,
    sentence_features,
    word_features,
)
from nmt.config import parse
from nmt.errors import ConfigError
from nmt.text.words import words
from nmt.tokenizer import Piece

EVIDENCE = Evidence(
    source="A cat, Tom",
    target="Un chat, Tom",
    n_source_tokens=5,
    pieces=(Piece(5, "▁Un", 0, 2), Piece(6, "▁ch", 3, 5), Piece(7, "at", 5, 7), Piece(8, ",", 7, 8)),
    token_log_probs=(-0.1, -0.2, -0.4, -0.8, -1.6),
    length_ratio=1.15,
)


def regression(features, **values):
    n = len(features)
    base = {"means": (0.0,) * n, "scales": (1.0,) * n, "weights": (0.0,) * n, "bias": 0.0, "good": "good"}
    return {"features": features, **base, **values}


def calibration(**values):
    base = {
        "weights_sha256": "0" * 64,
        "sentence_model": regression(SENTENCE_FEATURES),
        "word_model": regression(WORD_FEATURES),
        "fitted_on": ("dev",),
        "measured": {},
    }
    return parse(Calibration, {**base, **values}, where="calibration.json")


def test_features_of_a_sentence_by_hand():
    features = dict(zip(SENTENCE_FEATURES, sentence_features(EVIDENCE), strict=True))
    assert features["mean_log_prob"] == pytest.approx(-3.1 / 5)
    assert features["min_log_prob"] == features["low_log_prob"] == features["end_log_prob"] == -1.6
    assert features["log_n_tokens"] == pytest.approx(math.log(5))
    assert features["length_ratio"] == pytest.approx(abs(math.log(13 / 12.5)))
    assert features["pieces_per_word"] == pytest.approx(5 / 3)


def test_features_of_words_by_hand_and_a_copied_word_is_certain():
    rows = word_features(EVIDENCE, words(EVIDENCE.target), [0.9, 0.8, 0.0, 1.0])
    un, chat, comma, tom = [dict(zip(WORD_FEATURES, row, strict=True)) for row in rows]
    assert un["mean_log_prob"] == -0.1
    assert chat["mean_log_prob"] == pytest.approx(-0.3)
    assert (chat["min_log_prob"], chat["n_pieces"], chat["link_score"]) == (-0.4, 2, 0.8)
    assert (chat["before_log_prob"], chat["after_log_prob"]) == (-0.1, -0.8)
    assert (comma["is_mark"], chat["is_mark"]) == (1.0, 0.0)
    assert (tom["is_copied"], tom["mean_log_prob"], tom["after_log_prob"]) == (1.0, 0.0, -1.6)
    assert un["before_log_prob"] == 0.0


def test_a_probability_is_the_sigmoid_of_the_weighted_features():
    model = LogisticRegression(
        features=("a", "b"), means=(1.0, 0.0), scales=(2.0, 1.0), weights=(3.0, -1.0), bias=0.5, good="x"
    )
    assert model.probability((3.0, 2.0)) == pytest.approx(1 / (1 + math.exp(-1.5)))
    each = [model.probability(row) for row in ((3.0, 2.0), (9.0, 0.0))]
    assert model.probabilities([(3.0, 2.0), (9.0, 0.0)]) == pytest.approx(each)
    assert model.probabilities([]) == []
    assert model.probability((1e9, 0.0)) == model.probability((9.0, 0.0)), "four deviations are the most"


def test_a_calibration_gives_a_probability_for_the_sentence_and_each_word():
    sure = calibration(sentence_model=regression(SENTENCE_FEATURES, bias=2.0))
    assert sure.sentence(EVIDENCE) == pytest.approx(1 / (1 + math.exp(-2)))
    assert sure.words(EVIDENCE, words(EVIDENCE.target), [0.0] * 4) == [0.5] * 4


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"word_model": regression(SENTENCE_FEATURES)}, "run nmt calibrate again"),
        ({"sentence_model": regression(SENTENCE_FEATURES, weights=(1.0,))}, "one mean, scale and weight"),
        ({"sentence_model": regression(SENTENCE_FEATURES, scales=(0.0,) * 7)}, "positive"),
        ({"format_version": 2}, "format_version"),
        ({"mystery": 1}, "unknown key 'mystery'"),
    ],
)
def test_a_broken_calibration_is_an_error_that_says_what_is_wrong(values, message):
    with pytest.raises(ConfigError, match=message):
        calibration(**values)


def test_calibration_error_by_hand():
    assert expected_calibration_error([0.9, 0.9, 0.9, 0.9, 0.1], [True, True, True, False, False]) == (
        pytest.approx((abs(3.6 - 3) + 0.1) / 5)
    )
    assert expected_calibration_error([1.0, 0.0], [True, False]) == 0.0
    assert expected_calibration_error([], []) == 0.0
    assert bins([0.0, 0.05, 0.5, 1.0], 2) == [[0, 1], [2, 3]]
