"""What blending an adapted model with the one it began with keeps of each, by share of its weights.

    python -m benchmarks.blending WORK/run/model general --sets WORK/domain WORK/tatoeba-dev --json FILE

A set PREFIX is PREFIX.en and PREFIX.fr. WORK is that of ``benchmarks.adaptation``: its domain is a test set
that neither model has seen, and the others are development sets. Share 0 is the second model, 1 the first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from nmt.model_folder.checkpoint import resolve_model
from nmt.model_folder.files import sha256
from nmt.translator import Translator
from training.blend import blend
from training.evaluation.evaluate import evaluate_on, search_options
from training.evaluation.testset import TestSet
from training.provenance import provenance


def main() -> None:
    """Blend, translate, score, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", help="name or folder")
    parser.add_argument("other", help="name or folder")
    parser.add_argument("--sets", type=Path, nargs="+", required=True, metavar="PREFIX")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.25, 0.5, 0.75, 1.0])
    parser.add_argument("--json", type=Path, required=True)
    arguments = parser.parse_args()
    tests = [TestSet.load(Path(f"{prefix}.en"), Path(f"{prefix}.fr")) for prefix in arguments.sets]
    bleu: dict[str, dict[str, float]] = {test.name: {} for test in tests}
    signature = ""
    for share in arguments.shares:
        with tempfile.TemporaryDirectory() as folder:
            blended = blend(arguments.model, [arguments.other], share, Path(folder) / "model")
            translator = Translator.load(blended, device="cpu")
            for test in tests:
                scores = evaluate_on(translator, test, search_options(translator, None)).scores
                (score,) = (score for score in scores if score.metric == "BLEU")
                bleu[test.name][f"{share:g}"] = round(score.score, 2)
                signature = score.signature
        print(f"{share:g}", *(f"{name} {of[f'{share:g}']:.2f}" for name, of in bleu.items()), flush=True)
    record = {
        "models": [
            sha256(resolve_model(name) / "model.safetensors") for name in (arguments.model, arguments.other)
        ],
        "sets": [{**test.describe(), "BLEU": bleu[test.name]} for test in tests],
        "signature": signature,
        **provenance(),
    }
    arguments.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
