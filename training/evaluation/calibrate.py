"""``nmt calibrate``: fit the confidence of a model on sentences with references, and measure it.

Each source is translated, and two logistic regressions learn from what search knows (``nmt.confidence``):
whether a sentence scores chrF2 >= ``GOOD_CHRF`` against its reference, and whether a word is matched in the
edit distance of translation and reference, the label of TER-based quality estimation (Specia et al. 2018).
Half of the sentences are learnt from. On the other half the reliability curve and the expected calibration
error are measured: those numbers stand in ``calibration.json`` and in the report.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.lib_ter import BeamEditDistance

from nmt.commands.progress import progress
from nmt.confidence import (
    MOST_DEVIATIONS,
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
from nmt.errors import DataError
from nmt.model_folder.checkpoint import WEIGHTS, resolve_model, save_calibration
from nmt.model_folder.files import sha256
from nmt.options import TranslationOptions
from nmt.text.words import Token, words
from nmt.translator import Translator
from training.evaluation.plots import reliability_curves, save_png
from training.evaluation.testset import TestSet, load_all
from training.provenance import provenance

GOOD_CHRF = 50.0
SENTENCES_AT_ONCE = 256
LEAST_SENTENCES = 20
PENALTY = 1e-3
"""Factor of the squared weights; features are standardised."""
SEED = 1


@dataclass
class Recorder:
    """A ``ConfidenceModel`` that is not sure of anything and keeps what it is asked about, by source."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    linked_words: dict[str, tuple[Sequence[Token], Sequence[float]]] = field(default_factory=dict)

    def sentence(self, evidence: Evidence) -> float:
        """Keep it."""
        self.evidence[evidence.source] = evidence
        return 0.5

    def words(self, evidence: Evidence, words: Sequence[Token], link_scores: Sequence[float]) -> list[float]:
        """Keep it."""
        self.linked_words[evidence.source] = (words, link_scores)
        return [0.5] * len(words)


@dataclass(frozen=True)
class Example:
    """A translated sentence: features, and whether it and each of its words are good."""

    test_set: str
    features: tuple[float, ...]
    good: bool
    word_features: tuple[tuple[float, ...], ...]
    good_words: tuple[bool, ...]


def calibrate(
    model: str,
    sources: Sequence[Path],
    references: Sequence[Path],
    *,
    report: Path | None = None,
    device: str = "auto",
) -> None:
    """The command: write ``calibration.json`` into the model folder and print what was measured.

    Args:
        model: folder or name; its manifest is written anew.
        sources: development sets. Never a test set: its sentences would be learnt from.
        references: one for each.
        report: a folder for the reliability curves, as JSON and PNG.
        device: as ``Translator.load``.

    Raises:
        DataError: a set is missing or broken, or there are too few sentences.
        ModelFolderError: the model folder is missing or corrupt.
    """
    folder = resolve_model(model)
    test_sets = load_all(sources, references)
    translator = Translator.load(folder, device=device)
    found = [example for test_set in test_sets for example in examples(translator, test_set)]
    fitting, held_out = halves(found)
    sentence_model = fit(
        SENTENCE_FEATURES,
        [example.features for example in fitting],
        [example.good for example in fitting],
        good=f"chrF2 >= {GOOD_CHRF:g} against the reference",
    )
    word_model = fit(
        WORD_FEATURES,
        [row for example in fitting for row in example.word_features],
        [good for example in fitting for good in example.good_words],
        good="matched in the edit distance to the reference",
    )
    measured, curves = measure(sentence_model, word_model, held_out)
    calibration = Calibration(
        weights_sha256=sha256(folder / WEIGHTS),
        sentence_model=sentence_model,
        word_model=word_model,
        fitted_on=tuple(test_set.name for test_set in test_sets),
        measured=measured,
    )
    save_calibration(folder, calibration)
    _print(measured)
    if report is not None:
        report.mkdir(parents=True, exist_ok=True)
        record = {
            "model": translator.config.name,
            "sets": [test_set.describe() for test_set in test_sets],
            "measured": measured,
            "curves": curves,
            **provenance(),
        }
        text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
        (report / f"{translator.config.name}.json").write_text(text, encoding="utf-8")
        save_png(reliability_curves(curves), report / f"{translator.config.name}.png")


def examples(translator: Translator, test_set: TestSet) -> list[Example]:
    """Translate a set; lines of several sentences, and those the model did not write, are left out."""
    recorder = Recorder()
    translator.judge = dataclasses.replace(translator.judge, model=recorder)
    with progress(f"{translator.config.name} on {test_set.name}", len(test_set)) as advance:
        for start in range(0, len(test_set), SENTENCES_AT_ONCE):
            chunk = test_set.sources[start : start + SENTENCES_AT_ONCE]
            translator.translate(chunk, TranslationOptions(alignment="links"))
            advance(len(chunk))
    metric = CHRF()
    found: list[Example] = []
    for source, reference in zip(test_set.sources, test_set.references, strict=True):
        evidence = recorder.evidence.get(source.strip())
        if evidence is None or evidence.source not in recorder.linked_words:
            continue
        target_words, link_scores = recorder.linked_words[evidence.source]
        found.append(
            Example(
                test_set.name,
                sentence_features(evidence),
                metric.sentence_score(evidence.target, [reference]).score >= GOOD_CHRF,
                tuple(word_features(evidence, target_words, link_scores)),
                matched_words([word.text for word in target_words], [word.text for word in words(reference)]),
            )
        )
    return found


def matched_words(hypothesis: list[str], reference: list[str]) -> tuple[bool, ...]:
    """For each word of ``hypothesis`` whether the edit distance to ``reference`` leaves it as it is."""
    if not reference:
        return (False,) * len(hypothesis)
    _, trace = BeamEditDistance(reference)(hypothesis)
    return tuple(edit == " " for edit in trace if edit != "i")


def halves(found: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """A random half to fit on and the other to measure on.

    Raises:
        DataError: there are too few.
    """
    if len(found) < LEAST_SENTENCES:
        raise DataError(
            f"{len(found)} sentences to calibrate on; at least {LEAST_SENTENCES} are needed, each on its line"
        )
    shuffled = list(found)
    random.Random(SEED).shuffle(shuffled)
    return shuffled[::2], shuffled[1::2]


def fit(
    features: tuple[str, ...], rows: Sequence[Sequence[float]], outcomes: Sequence[bool], *, good: str
) -> LogisticRegression:
    """Logistic regression by maximum likelihood with a small L2 penalty."""
    values_NF = torch.tensor(rows, dtype=torch.float64)
    outcomes_N = torch.tensor(outcomes, dtype=torch.float64)
    means_F, scales_F = values_NF.mean(dim=0), values_NF.std(dim=0).clamp(min=1e-6)
    values_NF = ((values_NF - means_F) / scales_F).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
    weights_F = torch.zeros(len(features), dtype=torch.float64, requires_grad=True)
    bias = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights_F, bias], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(values_NF @ weights_F + bias, outcomes_N)
        loss = loss + PENALTY * weights_F.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return LogisticRegression(
        features=features,
        means=tuple(means_F.tolist()),
        scales=tuple(scales_F.tolist()),
        weights=tuple(weights_F.tolist()),
        bias=bias.item(),
        good=good,
    )


def measure(
    sentence_model: LogisticRegression, word_model: LogisticRegression, held_out: Sequence[Example]
) -> tuple[dict[str, Any], dict[str, list[dict[str, float]]]]:
    """Numbers for all held-out sentences and for each set, and the reliability curves."""
    measured: dict[str, Any] = {}
    curves: dict[str, list[dict[str, float]]] = {}
    for name in ["all", *sorted({example.test_set for example in held_out})]:
        chosen = [example for example in held_out if name in ("all", example.test_set)]
        kinds = {
            "sentence": (
                sentence_model.probabilities([example.features for example in chosen]),
                [example.good for example in chosen],
            ),
            "word": (
                word_model.probabilities([row for example in chosen for row in example.word_features]),
                [good for example in chosen for good in example.good_words],
            ),
        }
        measured[name] = {kind: _numbers(*pair) for kind, pair in kinds.items()}
        if name == "all":
            curves = {kind: curve(*pair) for kind, pair in kinds.items()}
    return measured, curves


def curve(probabilities: Sequence[float], outcomes: Sequence[bool]) -> list[dict[str, float]]:
    """The reliability curve: mean probability and frequency of good ones in each bin that is not empty."""
    return [
        {
            "confidence": round(sum(probabilities[row] for row in rows) / len(rows), 4),
            "frequency": round(sum(outcomes[row] for row in rows) / len(rows), 4),
            "n": len(rows),
        }
        for rows in bins(probabilities)
        if rows
    ]


def _numbers(probabilities: Sequence[float], outcomes: Sequence[bool]) -> Mapping[str, float]:
    n = len(probabilities)
    return {
        "n": n,
        "good": round(sum(outcomes) / n, 4),
        "mean_confidence": round(sum(probabilities) / n, 4),
        "expected_calibration_error": round(expected_calibration_error(probabilities, outcomes), 4),
        "area_under_roc": round(area_under_roc(probabilities, outcomes), 4),
    }


def area_under_roc(probabilities: Sequence[float], outcomes: Sequence[bool]) -> float:
    """The probability that a good one has more confidence than a bad one; 0.5 when one kind is missing."""
    n_good = sum(outcomes)
    n_bad = len(outcomes) - n_good
    if not n_good or not n_bad:
        return 0.5
    # an equal pair counts half: each value's rank is the mean of the places of its equals
    places: dict[float, list[int]] = {}
    for place, probability in enumerate(sorted(probabilities), start=1):
        places.setdefault(probability, []).append(place)
    rank = {probability: sum(found) / len(found) for probability, found in places.items()}
    ranks = sum(rank[p] for p, good in zip(probabilities, outcomes, strict=True) if good)
    return (ranks - n_good * (n_good + 1) / 2) / (n_good * n_bad)


def _print(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    console = Console()
    for name, kinds in measured.items():
        for kind, numbers in kinds.items():
            console.print(
                f"{name}, {kind}s: {numbers['n']} held out, {100 * numbers['good']:.1f} % good, ECE "
                f"{numbers['expected_calibration_error']:.3f}, AUC {numbers['area_under_roc']:.3f}",
                highlight=False,
            )
