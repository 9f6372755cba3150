"""Fine-tuning measured: a model before and after some minutes on a domain, and what it loses elsewhere.

    python -m benchmarks.adaptation general --data DIR --seen PREPARED --work WORK --json FILE

The domain is federal acts (``laws/train`` of DIR). The model may have been trained on part of it, so only
those pairs are used that its recipe left out: of the pairs that cleaning kept, those not drawn by ``cap``,
whose sentences are on neither side of a drawn pair. PREPARED is the corpus the model was trained on; its
report must count the same pairs, else the draw is not the one that was made. What is left is divided in order
of fingerprint: test, development, own pairs; no sentence of the test is among those. Elsewhere means
development sets alone. Time is processor time of one core.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt.model_folder.checkpoint import resolve_model
from nmt.model_folder.files import sha256
from nmt.translator import Translator
from training.data.clean import Cleaner, Kept, overlap_key
from training.data.corpus import open_corpora
from training.evaluation.evaluate import evaluate_on, search_options
from training.evaluation.testset import TestSet
from training.provenance import provenance
from training.recipe import Recipe, load_recipe
from training.train import train

ELSEWHERE = ("tatoeba/dev", "news/newstest2013", "multi30k/val")
LEAST_WORDS = 6


def main() -> None:
    """Make the files, measure, train, measure again, write the JSON."""
    arguments = _arguments()
    work: Path = arguments.work
    if (work / "run").exists():
        raise SystemExit(f"{work / 'run'}: there is a run; only a whole one is timed: remove it")
    unseen = unseen_pairs(
        load_recipe("general", [f"data.dir={arguments.data}"]), arguments.seen, arguments.domain
    )
    n_test, n_dev = arguments.sentences, arguments.dev
    test_set = _write_test(work / "domain", [one.pair for one in unseen[:n_test]])
    tested = {overlap_key(source) for source in test_set.sources}
    own = [one for one in unseen[n_test + n_dev :] if overlap_key(one.pair[0]) not in tested]
    own = own[: arguments.pairs]
    for name, part in (("dev", unseen[n_test : n_test + n_dev]), ("train", own)):
        text = "".join(f"{source}\t{target}\n" for source, target in (one.pair for one in part))
        (work / f"{name}.tsv").write_text(text, encoding="utf-8")
    tests = [test_set, *(_first_of(arguments.data / name, work, n_test) for name in ELSEWHERE)]

    before = _score(arguments.model, tests)
    start_s = _processor_s()
    overrides = [f"data.dir={work}", *arguments.overrides]
    adapted = train("adapt", work / "run", overrides=overrides, init_from=arguments.model)
    spent_s = _processor_s() - start_s
    after = _score(str(adapted), tests)
    record = {
        "model": {
            "name": arguments.model,
            "sha256": sha256(resolve_model(arguments.model) / "model.safetensors"),
        },
        "domain": arguments.domain,
        "own_pairs": len(own),
        "training_processor_minutes": round(spent_s / 60, 2),
        "overrides": arguments.overrides,
        "sets": [
            {**test.describe(), "before": before[test.name], "after": after[test.name]} for test in tests
        ],
        **provenance(),
    }
    arguments.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for row in record["sets"]:
        print(row["name"], *(f"{row[when]['BLEU']['score']:.2f}" for when in ("before", "after")))


def unseen_pairs(recipe: Recipe, seen: Path, domain: str) -> list[Kept]:
    """The pairs of ``domain`` that ``recipe`` did not draw, by fingerprint."""
    (source,) = (source for source in recipe.data.train if source.name == domain)
    if source.cap is None:
        raise SystemExit(f"{domain}: the recipe takes all of it; choose a source with a cap")
    (corpus,) = open_corpora([source], recipe.data)
    cleaner = Cleaner(recipe.data.cleaning, (recipe.data.source_language, recipe.data.target_language), set())
    kept = list({one.key: one for one in cleaner.clean(corpus.pairs())}.values())
    report = json.loads((seen / "report.json").read_text(encoding="utf-8"))
    (counted,) = (entry for entry in report["train"]["sources"] if entry["name"] == domain)
    if counted["kept"] != len(kept):
        raise SystemExit(f"{seen}: kept {counted['kept']} pairs of {domain}, here {len(kept)}: another draw")
    drawn = set(random.Random(f"{recipe.data.seed} {domain}").sample(range(len(kept)), source.cap))
    sentences = {overlap_key(side) for index in drawn for side in kept[index].pair}
    left = [
        one
        for index, one in enumerate(kept)
        if index not in drawn
        and len(one.pair[0].split()) >= LEAST_WORDS
        and not sentences & set(map(overlap_key, one.pair))
    ]
    return sorted(left, key=lambda one: one.key)


def _score(model: str, tests: Sequence[TestSet]) -> dict[str, dict[str, Any]]:
    translator = Translator.load(model, device="cpu")
    scores = {}
    for test in tests:
        evaluation = evaluate_on(translator, test, search_options(translator, None))
        scores[test.name] = {
            score.metric: {"score": round(score.score, 2), "signature": score.signature}
            for score in evaluation.scores
        }
    return scores


def _first_of(prefix: Path, work: Path, n_sentences: int) -> TestSet:
    """The first sentences of a development set."""
    sides = [
        Path(f"{prefix}.{language}").read_text(encoding="utf-8").split("\n") for language in ("en", "fr")
    ]
    pairs = list(zip(sides[0][:n_sentences], sides[1][:n_sentences], strict=True))
    return _write_test(work / f"{prefix.parent.name}-{prefix.name}", pairs)


def _write_test(stem: Path, pairs: Sequence[tuple[str, str]]) -> TestSet:
    stem.parent.mkdir(parents=True, exist_ok=True)
    files = [stem.with_name(f"{stem.name}.{language}") for language in ("en", "fr")]
    for side, file in enumerate(files):
        file.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return TestSet.load(*files)


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", help="name or folder")
    parser.add_argument("--data", type=Path, required=True, help="the folder of the corpora")
    parser.add_argument("--seen", type=Path, required=True, help="the prepared corpus of the model")
    parser.add_argument("--work", type=Path, required=True, help="own pairs and the run go here")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--domain", default="laws")
    parser.add_argument("--pairs", type=int, default=20_000, help="own pairs, at most")
    parser.add_argument("--sentences", type=int, default=500, help="of each set that is scored")
    parser.add_argument("--dev", type=int, default=200, help="pairs that choose the best weights")
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
