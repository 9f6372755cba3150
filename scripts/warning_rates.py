"""How many bad translations a reader is warned of, and how many good ones: flags, or a low confidence.

    python -m scripts.warning_rates DATA [--model MODEL]

Takes 300 sentences of the development sets. A translation is bad if its chrF2 against the reference is under
50, which is what the confidence is calibrated to. Prints JSON, with and without the checks of numbers in
words and of copied words.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from sacrebleu.metrics.chrf import CHRF

from nmt.text.numbers import NOTHING_WRONG
from nmt.translator import Translator
from scripts.train_on import DEVELOPMENT_SETS

SENTENCES = 300
GOOD_CHRF = 50.0
LEAST_CONFIDENCE = 0.5


def main() -> None:
    """Measure one model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", default="general")
    asked = parser.parse_args()
    translator = Translator.load(asked.model)
    found = {"with": rates(translator, asked.data)}
    with _without_new_checks():
        found["without"] = rates(translator, asked.data)
    print(json.dumps({"model": translator.config.name, "sentences": SENTENCES, **found}, indent=1))


def rates(translator: Translator, data: Path) -> dict[str, float]:
    """The share of bad and of good translations with a warning."""
    config = translator.config
    pairs = [
        pair
        for development_set in DEVELOPMENT_SETS
        for pair in _spread(data / development_set.path, config.source_language, config.target_language)
    ]
    chrf = CHRF()
    warned: dict[bool, list[bool]] = {True: [], False: []}
    for (_, reference), result in zip(pairs, translator.translate([text for text, _ in pairs]), strict=True):
        is_bad = chrf.sentence_score(result.text, [reference]).score < GOOD_CHRF
        warned[is_bad].append(bool(result.flags) or (result.confidence or 0.0) < LEAST_CONFIDENCE)
    return {
        "bad": len(warned[True]),
        "bad_warned": round(sum(warned[True]) / max(1, len(warned[True])), 3),
        "good_warned": round(sum(warned[False]) / max(1, len(warned[False])), 3),
    }


def _spread(stem: Path, source: str, target: str) -> Iterator[tuple[str, str]]:
    """Equally many pairs of each set, evenly spread."""
    sides = [
        Path(f"{stem}.{language}").read_text(encoding="utf-8").splitlines() for language in (source, target)
    ]
    n = SENTENCES // len(DEVELOPMENT_SETS)
    step = len(sides[0]) // n
    return zip(sides[0][::step][:n], sides[1][::step][:n], strict=True)


@contextmanager
def _without_new_checks() -> Iterator[None]:
    with (
        patch("nmt.pipeline.quality.compare_spelled_numbers", lambda *_, **__: NOTHING_WRONG),
        patch("nmt.pipeline.quality.copied_words", lambda *_: []),
    ):
        yield


if __name__ == "__main__":
    main()
