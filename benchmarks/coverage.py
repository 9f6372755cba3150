r"""Dropped and repeated words with and without coverage, and what it does to BLEU, on a development set.

    python -m benchmarks.coverage --data data/news/newstest2013 --model general --out F.json
    python -m benchmarks.coverage --data data/multi30k/val --out F.json --model runs/control/model \
        --model runs/linguistic/model

Every model translates the set with each coverage penalty (Wu et al. 2016, beta of eq. 14), and once with
three-word repetitions forbidden, for comparison. ``--join 3`` joins three lines to one input, more than what
a model of captions was trained on, where recurrent attention loses its place (Tu et al. 2016, figure 6).
Dropped words are told by one aligner for all, the model that ships (``nmt.explore.omissions``).

The record has one entry for each set; those of other sets stay as they are in a file that is there already.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nmt.explore.omissions import count_omissions
from nmt.model_folder.checkpoint import resolve_model
from nmt.options import TranslationOptions
from nmt.translator import Translator
from training.evaluation.evaluate import describe_model
from training.evaluation.scoring import metrics, score_bleu
from training.evaluation.significance import paired_bootstrap
from training.evaluation.testset import TestSet
from training.provenance import provenance, public_path

BETAS = (0.0, 0.1, 0.2, 0.5, 1.0)
SAMPLES, SEED = 1000, 12345


@dataclass(frozen=True)
class Lines:
    """What is translated, and what it is compared with."""

    sources: list[str]
    references: list[str]

    @classmethod
    def of(cls, test_set: TestSet, limit: int, join: int) -> Lines:
        """The first ``limit`` lines (0: all), each ``join`` of them as one."""
        return cls(
            *(
                [" ".join(lines[first : first + join]) for first in range(0, len(lines) - join + 1, join)]
                for lines in (
                    list(whole[: limit or None]) for whole in (test_set.sources, test_set.references)
                )
            )
        )


def measure(name: str, lines: Lines, aligner: Translator, betas: list[float], beam: int) -> dict[str, Any]:
    """Every penalty of one model; the first row is what the others are tested against."""
    translator = Translator.load(name, device="cpu")
    languages = translator.config.source_language, translator.config.target_language
    if languages != ("en", "fr"):
        raise SystemExit(f"{name} translates {' to '.join(languages)}; the lines are read as en to fr")
    asked = [{"coverage_penalty": beta} for beta in betas] + [{"no_repeat_ngram_size": 3}]
    rows: list[dict[str, Any]] = []
    plain: list[str] = []
    for changes in asked:
        fixed = {"coverage_penalty": 0.0, "beam_size": beam, "repair_loops": False}
        options = translator.generation.model_copy(update={**fixed, **changes})
        found = translator.translate(
            lines.sources, TranslationOptions(generation=options, split_sentences=False)
        )
        texts = [result.text for result in found]
        plain = plain or texts
        rows.append(
            {**changes, **_scores(lines, texts, plain), **_counts(lines, texts, aligner)},
        )
        print(translator.config.name, rows[-1], flush=True)
    return {
        **describe_model(translator, resolve_model(name)),
        "folder": public_path(Path(name)),
        "rows": rows,
    }


def _scores(lines: Lines, texts: list[str], plain: list[str]) -> dict[str, Any]:
    """BLEU, its p-value against the first row, and how much was written."""
    score = score_bleu(texts, lines.references)
    (tested,) = paired_bootstrap(
        {"plain": plain, "this": texts},
        lines.references,
        {"BLEU": metrics()["BLEU"]},
        scale="cased-detokenized",
        samples=SAMPLES,
        seed=SEED,
    )
    written, wanted = (sum(len(text.split()) for text in side) for side in (texts, lines.references))
    return {
        "bleu": round(score.score, 2),
        "p_value": tested.p_value,
        "signature": score.signature,
        "length_ratio": round(written / wanted, 4),
        "changed": sum(one != other for one, other in zip(plain, texts, strict=True)),
    }


def _counts(lines: Lines, texts: list[str], aligner: Translator) -> dict[str, Any]:
    links = aligner.align(list(zip(lines.sources, texts, strict=True)), whitespace=False)
    linked = [{link.source for link in result.links} for result in links]
    return asdict(count_omissions(lines.sources, texts, linked))


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="X of X.en and X.fr, a development set")
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--beta", action="append", type=float)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--limit", type=int, default=0, help="lines; 0: all")
    parser.add_argument("--join", type=int, default=1, help="lines that become one input")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()

    test_set = TestSet.load(Path(f"{asked.data}.en"), Path(f"{asked.data}.fr"))
    lines = Lines.of(test_set, asked.limit, asked.join)
    aligner = Translator.load(None, source="en", target="fr", device="cpu")
    betas = asked.beta or list(BETAS)
    entry = {
        "data": {**test_set.describe(), "inputs": len(lines.sources), "lines_of_each": asked.join},
        "aligner": aligner.config.name,
        "beam_size": asked.beam,
        "bootstrap": {"samples": SAMPLES, "seed": SEED},
        "models": [measure(name, lines, aligner, betas, asked.beam) for name in asked.model],
        **provenance(),
    }
    record = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.exists() else {}
    joined = f", {asked.join} lines as one" if asked.join > 1 else ""
    record[f"{public_path(Path(asked.data))}{joined}"] = entry
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
