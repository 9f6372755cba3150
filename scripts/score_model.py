"""Score a model that ships on test sets, as its users have it: with calibration, lexicon and table of words.

    python -m scripts.score_model general --test data/tatoeba/test.en data/tatoeba/test.fr ...

``scores.json`` becomes that of ``nmt evaluate``'s own functions, in float32 on any machine. A comparison with
a baseline that is there stays.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from nmt.model_folder.checkpoint import PRETRAINED, WEIGHTS
from nmt.model_folder.files import sha256
from nmt.model_folder.manifest import write_manifest
from nmt.translator import Translator
from training.evaluation.evaluate import evaluate_on, search_options
from training.evaluation.testset import TestSet
from training.provenance import provenance

ENGINE = "float32"
SCORES, BASELINE = "scores.json", "baseline"


def main() -> None:
    """Translate, score, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", help="of the model that ships")
    parser.add_argument("--test", type=Path, nargs=2, action="append", required=True, metavar=("EN", "FR"))
    arguments = parser.parse_args()
    place = PRETRAINED / arguments.name
    translator = Translator.load(place, engine=ENGINE)
    options = search_options(translator, None)
    evaluations = [
        evaluate_on(translator, test_set, options, lowercase_tokenized="multi30k" in test_set.name)
        for test_set in (in_its_folder(*pair) for pair in arguments.test)
    ]
    former = json.loads((place / SCORES).read_text(encoding="utf-8"))
    scores = {
        "weights_sha256": sha256(place / WEIGHTS),
        "generation": options.model_dump(),
        "engine": ENGINE,
        "evaluations": [evaluation.record() for evaluation in evaluations],
        **provenance(),
        **{key: former[key] for key in (BASELINE,) if key in former},
    }
    (place / SCORES).write_text(json.dumps(scores, indent=2) + "\n", encoding="utf-8")
    write_manifest(place)
    for evaluation in evaluations:
        shown = ", ".join(f"{item.metric} ({item.scale}) {item.score:.2f}" for item in evaluation.scores)
        print(f"{evaluation.test_set.name}: {shown}")


def in_its_folder(source: Path, reference: Path) -> TestSet:
    """Named as ``tatoeba/test``: files of several corpora are called ``test``."""
    return replace(TestSet.load(source, reference), name=f"{source.parent.name}/{source.stem}")


if __name__ == "__main__":
    main()
