"""Make the records of docs/reliability: ``python -m scripts.reliability pathologies|flags [MODEL] ...``.

``pathologies`` translates the texts of testbed/pathologies.py, each by itself, and counts what went wrong.
``flags --source F --reference F ...`` measures each flag on development sets: how often it is raised for the
reference, which is right (a false alarm), and for a translation made wrong on purpose (a hit).
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from nmt.pipeline.flags import FLAG_KINDS, is_unaligned
from nmt.pipeline.quality import Judge
from nmt.pipeline.result import Candidate
from nmt.text.repetition import repeats_itself
from nmt.translator import Translator
from testbed.pathologies import broken_promises, pathologies
from training.evaluation.testset import TestSet, load_all
from training.provenance import provenance

RECORDS = Path(__file__).resolve().parent.parent / "docs" / "reliability"
JUDGE = Judge("en", "fr")
ALIGNED_SENTENCES = 200


def main() -> None:
    """Write one record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("record", choices=("pathologies", "flags"))
    parser.add_argument("--model")
    parser.add_argument("--source", type=Path, action="append", default=[])
    parser.add_argument("--reference", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    translator = Translator.load(arguments.model, device="cpu")
    if arguments.record == "pathologies":
        record = all_pathologies(translator)
    else:
        sets = load_all(arguments.source, arguments.reference)
        record = {"sets": [{**test_set.describe(), **flags_on(translator, test_set)} for test_set in sets]}
    record = {"model": translator.config.name, **record, **provenance()}
    RECORDS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    (RECORDS / f"{arguments.record}.json").write_text(text, encoding="utf-8")


def all_pathologies(translator: Translator) -> dict[str, Any]:
    """Counts over all texts; the names of those that broke a promise, with how."""
    flags: Counter[str] = Counter()
    broken: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    longest = 0.0
    n = characters = 0
    for name, text in pathologies():
        started = time.perf_counter()
        translation = translator.translate([text])[0]
        seconds[name] = round(time.perf_counter() - started, 2)
        n += 1
        characters += len(text)
        flags.update(flag.kind for flag in translation.flags)
        longest = max(longest, len(translation.text) / max(50, len(text)))
        if found := broken_promises(text, translation):
            broken[name] = found[:5]
    slowest = sorted(seconds, key=lambda name: -seconds[name])[:5]
    return {
        "texts": n,
        "characters": characters,
        "texts_that_broke_a_promise": len(broken),
        "broken": broken,
        "flags": dict(flags.most_common()),
        "longest_output_by_input_characters": round(longest, 2),
        "seconds": round(sum(seconds.values()), 1),
        "slowest": {name: seconds[name] for name in slowest},
    }


def flags_on(translator: Translator, test_set: TestSet) -> dict[str, Any]:
    """Rates of false alarms on references and of hits on translations made wrong."""
    pairs = [pair for pair in zip(test_set.sources, test_set.references, strict=True) if all(pair)]
    wrongs: dict[str, Callable[[str, str], str | None]] = {
        "untranslated": lambda source, _: source if len(source.split()) >= 5 else None,
        "wrong_language": lambda source, _: source if len(source.split()) >= 8 else None,
        "number_mismatch": lambda _, reference: with_another_number(reference),
        "truncated": lambda source, reference: reference[: len(reference) // 4] if len(source) > 40 else None,
        "loop": lambda _, reference: with_loop(reference),
    }
    hits: dict[str, dict[str, float]] = {}
    for kind, make in wrongs.items():
        made = [(source, wrong) for source, reference in pairs if (wrong := make(source, reference))]
        raised = sum(kind in raised_for(source, wrong) for source, wrong in made)
        hits[kind] = {"n": len(made), "rate": round(raised / len(made), 4) if made else 0.0}
    alarms = Counter(kind for pair in pairs for kind in raised_for(*pair))
    some = pairs[:ALIGNED_SENTENCES]
    strangers = [(source, reference) for (source, _), (_, reference) in pairwise(some)]
    hits["unaligned"] = {"n": len(strangers), "rate": share_unaligned(translator, strangers)}
    return {
        "false_alarms": {
            **{kind: round(alarms[kind] / len(pairs), 5) for kind in FLAG_KINDS if kind in wrongs},
            "unaligned": share_unaligned(translator, some),
        },
        "hits": hits,
    }


def share_unaligned(translator: Translator, pairs: list[tuple[str, str]]) -> float:
    """How many pairs have a stretch of target words without links."""
    aligned = translator.align(pairs, whitespace=False)
    found = sum(
        is_unaligned(one.source_tokens, one.target_tokens, ((link.source, link.target) for link in one.links))
        for one in aligned
    )
    return round(found / len(aligned), 5)


def raised_for(source: str, target: str) -> set[str]:
    """Flags of a given translation."""
    candidate = Candidate(target, (), 0.0, 0.0, finished=True)
    flags = set(JUDGE.verdict(source, 0, candidate, None).flags)
    return flags | ({"loop"} if repeats_itself(source, target) else set())


def with_another_number(text: str) -> str | None:
    """One number in digits with another digit; None where there is none."""
    places = [match.start() for match in re.finditer(r"\d", text)]
    if not places:
        return None
    place = random.Random(text).choice(places)
    return f"{text[:place]}{(int(text[place]) + 3) % 10}{text[place + 1 :]}"


def with_loop(text: str) -> str | None:
    """Three words of the middle said six times; None for fewer words."""
    words = text.split()
    if len(words) < 6:
        return None
    middle = len(words) // 2
    return " ".join([*words[:middle], *(words[middle : middle + 3] * 6), *words[middle:]])


if __name__ == "__main__":
    main()
