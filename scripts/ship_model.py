"""Put a trained model into the package: half-precision weights, a card, and scores measured on what ships.

    python scripts/ship_model.py runs/general/model --card docs/models/general.md \
        --test data/tatoeba/test.en data/tatoeba/test.fr --test data/multi30k/test_2016_flickr.en ...

The scores in ``scores.json`` are those of the very weights that ship, by ``nmt evaluate``'s own functions, in
float32 on any machine.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from nmt.config import AlignmentConfig
from nmt.model_folder.checkpoint import PRETRAINED, WEIGHTS, load_model_folder, save_model_folder
from nmt.model_folder.files import sha256
from nmt.translator import Translator
from training.evaluation.evaluate import evaluate_on, search_options
from training.evaluation.testset import TestSet
from training.provenance import provenance

LIMIT_BYTES = 48 * 10**6
ENGINE = "float32"


def main() -> None:
    """Save in half precision, evaluate what was saved, save again with the scores."""
    arguments = _arguments()
    loaded = load_model_folder(arguments.model)
    config = loaded.config.model_copy(
        update={
            "name": arguments.name or loaded.config.name,
            "alignment": AlignmentConfig(layer=arguments.alignment_layer),
        }
    )
    parts: dict[str, Any] = {
        "config": config,
        "model": loaded.model,
        "tokenizer_file": arguments.model / "tokenizer.model",
        "generation": loaded.generation,
        "card": arguments.card.read_text(encoding="utf-8"),
        "dtype": "float16",
    }
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / config.name
        save_model_folder(trial, scores={}, **parts)
        translator = Translator.load(trial, engine=ENGINE)
        options = search_options(translator, None)
        evaluations = [
            evaluate_on(translator, test_set, options, lowercase_tokenized="multi30k" in test_set.name)
            for test_set in (_in_its_folder(*pair) for pair in arguments.test)
        ]
        scores = {
            "weights_sha256": sha256(trial / WEIGHTS),
            "generation": options.model_dump(),
            "engine": ENGINE,
            "evaluations": [evaluation.record() for evaluation in evaluations],
            **provenance(),
        }
    place = PRETRAINED / config.name
    save_model_folder(place, scores=scores, **parts)
    size = sum(path.stat().st_size for path in place.iterdir())
    if size > LIMIT_BYTES:
        raise SystemExit(f"{place}: {size} bytes, more than the {LIMIT_BYTES} that may ship")
    for evaluation in evaluations:
        shown = ", ".join(f"{item.metric} ({item.scale}) {item.score:.2f}" for item in evaluation.scores)
        print(f"{evaluation.test_set.name}: {shown}")
    print(f"{place}: {size / 1e6:.1f} MB")


def _in_its_folder(source: Path, reference: Path) -> TestSet:
    """Named as ``tatoeba/test``: files of several corpora are called ``test``."""
    return replace(TestSet.load(source, reference), name=f"{source.parent.name}/{source.stem}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", type=Path, help="model folder of a run")
    parser.add_argument("--name", help="what it is to be called; by default as its recipe")
    parser.add_argument("--card", type=Path, required=True, help="what becomes card.md")
    parser.add_argument(
        "--alignment-layer", type=int, default=None, help="decoder layer that links come from"
    )
    parser.add_argument("--test", type=Path, nargs=2, action="append", required=True, metavar=("EN", "FR"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
