"""Put the baseline beside a model that ships into its ``scores.json``, from a report of ``nmt compare``.

    nmt compare RNN general --source ... --reference ... --report docs/reports/general_beside_rnn
    python scripts/baseline_scores.py general docs/reports/general_beside_rnn/report.json

Only test sets of ``scores.json`` itself count, found by the checksums of their files.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from nmt.checkpoint import PRETRAINED, SCORES, verify_manifest, write_manifest


def main() -> None:
    """Read both, check that they are of one model and of the same sentences, and write."""
    arguments = _arguments()
    folder = PRETRAINED / arguments.model
    report = json.loads(arguments.report.read_text(encoding="utf-8"))
    scores = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    verify_manifest(folder)
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


def _sentences(test_set: dict[str, Any]) -> tuple[str, str]:
    return test_set["source_sha256"], test_set["reference_sha256"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("model", help="name of a model that ships")
    parser.add_argument("report", type=Path, help="report.json of nmt compare: the baseline, then the model")
    return parser.parse_args()


if __name__ == "__main__":
    main()
