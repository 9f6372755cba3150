r"""What each quality gives and costs: BLEU and chrF on development sets, latency, throughput.

    python -m benchmarks.quality --data news=data/news/newstest2013 --data software=data/software/dev \
        --model general --skip 200 --out benchmarks/results/quality.json

Every set is translated with each ``TranslationOptions.quality``, ``--limit`` lines of it together; then
some lines alone, the qualities in turn. A core's throughput is by processor time, which a busy machine does
not stretch; latency is by the clock, and it does. The record has an entry for each model; those of others
stay as they are. ``--skip``: the weight of quality best was chosen on the first 200 lines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any, get_args

from nmt.options import BEST_BEAM, Quality, TranslationOptions
from nmt.translator import Translator
from training.evaluation.scoring import score
from training.provenance import provenance, public_path

QUALITIES: tuple[Quality, ...] = get_args(Quality)
MEASURES = ("BLEU", "chrF2")


def measure(translator: Translator, sources: list[str], references: list[str], alone: int) -> dict[str, Any]:
    """All qualities on one set."""
    found: dict[str, Any] = {}
    for quality in QUALITIES:
        options = TranslationOptions(quality=quality)
        began_s = time.process_time()
        texts = [one.text for one in translator.translate(sources, options)]
        spent_s = time.process_time() - began_s
        scores = {one.metric: one for one in score(texts, references) if one.metric in MEASURES}
        found[quality] = {
            **{name: round(one.score, 2) for name, one in scores.items()},
            "signature": scores["BLEU"].signature,
            "sentences_per_core_second": round(len(sources) / spent_s, 2),
        }
        print(quality, found[quality], flush=True)
    seconds: dict[Quality, list[float]] = {quality: [] for quality in QUALITIES}
    for text in sources[:alone]:
        for quality in QUALITIES:
            began_s = time.perf_counter()
            translator.translate([text], TranslationOptions(quality=quality))
            seconds[quality].append(time.perf_counter() - began_s)
    for quality in QUALITIES:
        found[quality]["latency_ms"] = round(1000 * statistics.median(seconds[quality]), 1)
    return found


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", action="append", required=True, metavar="NAME=X", help="X of X.en and X.fr")
    parser.add_argument("--model", required=True)
    parser.add_argument("--limit", type=int, default=200, help="lines of each set")
    parser.add_argument("--skip", type=int, default=0, help="lines of each set before them")
    parser.add_argument("--alone", type=int, default=25, help="of them, lines whose latency is measured")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()

    translator = Translator.load(asked.model, device="cpu")
    source, target = translator.config.source_language, translator.config.target_language
    translator.translate(["A first one warms it up."])
    sets: dict[str, Any] = {}
    for named in asked.data:
        name, _, path = named.partition("=")
        sides = {
            language: Path(f"{path}.{language}")
            .read_text(encoding="utf-8")
            .splitlines()[asked.skip :][: asked.limit]
            for language in (source, target)
        }
        sets[name] = {
            "data": public_path(Path(path)),
            "lines": len(sides[source]),
            "skipped": asked.skip,
            "qualities": measure(translator, sides[source], sides[target], asked.alone),
        }
    record = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out.exists() else {}
    record[translator.config.name] = {
        "direction": f"{source}-{target}",
        "engine": translator.engine.name,
        "beam_sizes": {"fast": 1, "balanced": translator.generation.beam_size, "best": BEST_BEAM},
        "sets": sets,
        **provenance(),
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
