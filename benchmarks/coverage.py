r"""Dropped and repeated words with and without coverage, and what it does to BLEU, on a development set.

    python -m benchmarks.coverage --data data/multi30k/val --out benchmarks/results/coverage.json \
        --model runs/multi30k_rnn_attention/model --model runs/control/model --model runs/linguistic/model

Every model translates the set with each coverage penalty (Wu et al. 2016, beta of eq. 14). Dropped words are
told by one aligner for all, the model that ships (``nmt.explore.omissions``), so that the counts compare.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nmt.checkpoint import resolve_model
from nmt.explore.omissions import count_omissions
from nmt.translator import Translator
from training.evaluate import describe_model
from training.provenance import provenance, public_path
from training.scoring import score_bleu
from training.testset import TestSet

BETAS = (0.0, 0.05, 0.1, 0.2, 0.4)


def measure(
    name: str, test_set: TestSet, aligner: Translator, betas: list[float], beam: int
) -> dict[str, Any]:
    """Every penalty of one model."""
    translator = Translator.load(name, device="cpu")
    rows = []
    for beta in betas:
        asked = {"coverage_penalty": beta, "beam_size": beam, "repair_loops": False}
        options = translator.generation.model_copy(update=asked)
        found = translator.translate(test_set.sources, options=options)
        texts = [result.text for result in found]
        links = aligner.align(list(zip(test_set.sources, texts, strict=True)), whitespace=False)
        counts = count_omissions(
            test_set.sources, texts, [{link.source for link in result.links} for result in links]
        )
        score = score_bleu(texts, test_set.references)
        lengths = sum(len(text.split()) for text in texts) / sum(
            len(text.split()) for text in test_set.references
        )
        row = {"beta": beta, "bleu": score.score, "length_ratio": round(lengths, 4), **asdict(counts)}
        rows.append({**row, "signature": score.signature})
        print(translator.config.name, row, flush=True)
    return {
        **describe_model(translator, resolve_model(name)),
        "folder": public_path(Path(name)),
        "rows": rows,
    }


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="X of X.en and X.fr, a development set")
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--beta", action="append", type=float)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--limit", type=int, default=0, help="sentences; 0: all")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()

    test_set = TestSet.load(Path(f"{asked.data}.en"), Path(f"{asked.data}.fr"))
    if asked.limit:
        kept = {"sources": test_set.sources[: asked.limit], "references": test_set.references[: asked.limit]}
        test_set = TestSet(
            test_set.name,
            **kept,
            source_sha256=test_set.source_sha256,
            reference_sha256=test_set.reference_sha256,
        )
    aligner = Translator.load(None, device="cpu")
    results = [
        measure(name, test_set, aligner, asked.beta or list(BETAS), asked.beam) for name in asked.model
    ]
    record = {
        "data": {**test_set.describe(), "first_lines": len(test_set)},
        "aligner": aligner.config.name,
        "beam_size": asked.beam,
        "models": results,
        **provenance(),
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
