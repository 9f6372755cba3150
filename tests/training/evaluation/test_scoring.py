"""Scores: numbers worked by hand, signatures, and the two scales that must not be mixed."""

from __future__ import annotations

import pytest

from training.evaluation.scoring import lowercase_tokenizer, score, score_lowercase_tokenized


def test_bleu_is_the_number_worked_by_hand() -> None:
    # Precisions 4/5, 3/4, 2/3, 1/2; equal lengths: BLEU is the fourth root of their product, 1/5.
    bleu = score(["a b c d e"], ["a b c d f"])[0]

    assert bleu.metric == "BLEU"
    assert bleu.score == pytest.approx(100 * 0.2**0.25, abs=1e-3)


def test_a_perfect_translation_has_full_bleu_and_chrf_and_no_ter() -> None:
    lines = ["Le chat dort sur le tapis rouge.", "Il pleut depuis ce matin."]

    assert {item.metric: item.score for item in score(lines, lines)} == {"BLEU": 100, "chrF2": 100, "TER": 0}


def test_case_counts_on_the_reported_scale_for_every_metric() -> None:
    for item in score(["LE CHAT DORT SUR LE TAPIS"], ["le chat dort sur le tapis"]):
        assert (item.score > 90) == (not item.higher_is_better)
        assert item.scale == "cased-detokenized"


def test_case_does_not_count_on_the_literature_scale() -> None:
    item = score_lowercase_tokenized(["LE CHAT DORT SUR LE TAPIS"], ["le chat dort sur le tapis"], "fr")

    assert item.score == pytest.approx(100)
    assert item.scale == "lowercase-tokenized"


def test_every_score_carries_its_signature() -> None:
    signatures = {item.metric: item.signature for item in score(["un deux"], ["un deux"])}

    assert "case:mixed" in signatures["BLEU"]
    assert "tok:13a" in signatures["BLEU"]
    assert "nc:6" in signatures["chrF2"]
    assert "case:mixed" in signatures["TER"]
    assert all("version:" in signature for signature in signatures.values())


def test_literature_scale_is_signed_as_scored_without_tokenizer() -> None:
    assert "tok:none" in score_lowercase_tokenized(["un deux"], ["un deux"], "fr").signature


# What lowercase.perl | normalize-punctuation.perl -l fr | tokenizer.perl -l fr of Moses make of these.
@pytest.mark.parametrize(
    ("raw", "treated"),
    [
        ("Un chien court.", "un chien court ."),
        ("L'homme n'est pas là.", "l&apos; homme n&apos; est pas là ."),
        ("L’homme n’est pas là.", "l&apos; homme n&apos; est pas là ."),
        ("Il jette un coup d’œil.", "il jette un coup d &quot; œil ."),
        ('Un café nommé "Le Port."', "un café nommé &quot; le port &quot; ."),
        ("Il dit « bonjour », puis sort.", "il dit &quot; bonjour &quot; , puis sort ."),
        ("Un T-shirt bleu-vert…", "un t-shirt bleu-vert ..."),
        ("Élan & cerf [3,5 km]", "élan &amp; cerf &#91; 3,5 km &#93;"),
    ],
)
def test_literature_scale_treats_text_as_the_perl_scripts_do(raw: str, treated: str) -> None:
    assert lowercase_tokenizer("fr")(raw) == treated


def test_hypotheses_and_references_are_treated_alike() -> None:
    raw = ["L’homme dit « bonjour ».", 'Un café nommé "Le Port."']

    assert score_lowercase_tokenized(raw, raw, "fr").score == pytest.approx(100)
