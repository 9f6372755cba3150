"""Put the baseline beside a model that ships into its ``scores.json``, from a report of ``nmt compare``.

    nmt compare RNN general --source ... --reference ... --report docs/reports/general_beside_rnn
    python -m scripts.baseline_scores general docs/reports/general_beside_rnn/report.json

Only test sets of ``scores.json`` itself count, found by the checksums of their files. When the model has been
trained on since the report was made, ``--test`` names the report's test sets: the model translates them, and
is tested against what the report keeps of the baseline's translations.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt.model_folder.checkpoint import PRETRAINED, SCORES, verify_manifest, write_manifest
from nmt.translator import Translator
from training.evaluation.evaluate import evaluate_on, search_options
from training.evaluation.significance import cased_bootstrap
from training.evaluation.testset import TestSet
from training.provenance import provenance


def main() -> None:
    """Read both, check that they are of one model and of the same sentences, and write."""
    arguments = _arguments()
    folder = PRETRAINED / arguments.model
    report = json.loads(arguments.report.read_text(encoding="utf-8"))
    scores = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    verify_manifest(folder)
    if arguments.test:
        hypotheses = arguments.report.parent / "hypotheses"
        report = anew(report, hypotheses, Translator.load(folder), arguments.test)
    scores["baseline"] = baseline(scores, report, arguments.model)
    (folder / SCORES).write_text(json.dumps(scores, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    write_manifest(folder)


def baseline(scores: dict[str, Any], report: dict[str, Any], system: str) -> dict[str, Any]:
    """What ``report`` says of the model beside ``system``.

    Args:
        scores: of ``system``, whose test sets the report may name otherwise.
        report: from ``nmt compare``, of two models, ``system`` last.
        system: the name of the model that ships.

    Raises:
        SystemExit: the report is of other models, or of other sentences.
    """
    names = [model["name"] for model in report["models"]]
    if len(names) != 2 or names[1] != system:
        raise SystemExit(f"the report compares {' and '.join(names)}; wanted: a baseline, then {system}")
    known = {_sentences(one["test_set"]): one["test_set"]["name"] for one in scores["evaluations"]}
    unknown = [one["name"] for one in report["test_sets"] if _sentences(one) not in known]
    if unknown:
        raise SystemExit(f"the report has {', '.join(unknown)}, which the model's {SCORES} has not")
    return {
        "name": names[0],
        "parameters": report["models"][0]["parameters"],
        "training": report["models"][0]["training"],
        "bootstrap": report["bootstrap"],
        "command": report["command"],
        "date": report["date"],
        "test_sets": [
            {"name": known[_sentences(one)], "significance": one["significance"]}
            for one in report["test_sets"]
        ],
    }


def anew(
    report: dict[str, Any], hypotheses: Path, translator: Translator, files: Sequence[tuple[Path, Path]]
) -> dict[str, Any]:
    """``report`` as it is when its last model translates anew; the baseline's translations are those kept.

    Args:
        report: from ``nmt compare``, of two models.
        hypotheses: the folder of that name beside it.
        translator: the last of its models.
        files: sources and references of the report's test sets, found by their checksums.

    Raises:
        DataError: a file is missing, or there are not as many translations as sentences.
        SystemExit: these are not the report's test sets.
    """
    baseline, system = (model["name"] for model in report["models"])
    test_sets = [(source, TestSet.load(source, reference)) for source, reference in files]
    given = {_sentences(test_set.describe()): (source, test_set) for source, test_set in test_sets}
    if given.keys() != {_sentences(one) for one in report["test_sets"]}:
        names = ", ".join(one["name"] for one in report["test_sets"])
        raise SystemExit(f"--test has to name the very test sets of the report, all of them: {names}")
    results = []
    for one in report["test_sets"]:
        source, test_set = given[_sentences(one)]
        before = TestSet.load(source, hypotheses / one["name"] / f"{baseline}.txt").references
        now = evaluate_on(translator, test_set, search_options(translator, None)).hypotheses
        tests = cased_bootstrap(
            {baseline: before, system: now},
            test_set.references,
            samples=report["bootstrap"]["samples"],
            seed=report["bootstrap"]["seed"],
        )
        results.append({**one, "significance": [result.record() for result in tests]})
    return {**report, **provenance(), "test_sets": results}


def _sentences(test_set: dict[str, Any]) -> tuple[str, str]:
    return test_set["source_sha256"], test_set["reference_sha256"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", help="name of a model that ships")
    parser.add_argument("report", type=Path, help="report.json of nmt compare: the baseline, then the model")
    parser.add_argument(
        "--test",
        action="append",
        nargs=2,
        type=Path,
        default=[],
        metavar=("SOURCE", "REFERENCE"),
        help="a test set of the report, to translate anew; all of them or none",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
