"""A translation memory of generated units: import and look-up; and BLEU with a memory and without.

    python -m benchmarks.translation_memory units --out benchmarks/results/memory_units.json
    python -m benchmarks.translation_memory bleu --data X --out benchmarks/results/memory_bleu.json

``units``: two sentences of the sample that ships, with a third of their words drawn from the others, are a
unit; they are written to a TMX file and imported as ``nmt tm import`` does. Then texts that differ from a
unit in one word are looked up, the page cache warm. ``bleu``: every other pair of X.en and X.fr is in the
memory; the others are translated with it and without, with ``--matched`` those that it has something for.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sacrebleu.metrics import BLEU, CHRF

from nmt.memory.file import MemoryFile
from nmt.memory.files import read_units, write_units
from nmt.memory.recall import recall
from nmt.memory.segments import Reading
from nmt.memory.unit import TranslationUnit
from nmt.options import TranslationOptions
from nmt.translator import Translator
from training.provenance import provenance

LANGUAGES = ("en", "fr")
SAMPLE = Path(__file__).parent.parent / "training" / "sample"


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("units", "bleu"))
    parser.add_argument("--units", type=int, default=1_000_000)
    parser.add_argument("--lookups", type=int, default=2000)
    parser.add_argument("--data", type=Path, help="Development set: X.en and X.fr.")
    parser.add_argument("--pairs", type=int, help="Of --data; all by default.")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--matched", action="store_true", help="Sentences that have a match alone.")
    parser.add_argument("--threshold", type=float, default=0.75)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    record: dict[str, Any] = provenance()
    record["versions"] |= {"rapidfuzz": version("rapidfuzz"), "sqlite": sqlite3.sqlite_version}
    record |= measure_units(options) if options.what == "units" else measure_bleu(options)
    options.out.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2, ensure_ascii=False))


def measure_units(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds and memory of an import, and milliseconds of look-ups."""
    chosen = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        tmx = Path(folder) / "units.tmx"
        with tmx.open("wb") as file:
            for piece in write_units(generated(options.units), "tmx", LANGUAGES):
                file.write(piece)
        before = peak_mb()
        opened = MemoryFile(Path(folder) / "memory.sqlite3", create=True)
        began, began_cpu = time.perf_counter(), time.process_time()
        with tmx.open("rb") as stream:
            reading = Reading(LANGUAGES)
            n_added = opened.add_read(read_units(stream, "tmx", reading), reading)
        imported = {
            "units": n_added,
            "tmx_mb": round(tmx.stat().st_size / 1e6, 1),
            "database_mb": round(opened.path.stat().st_size / 1e6, 1),
            "seconds": round(time.perf_counter() - began, 1),
            "cpu_seconds": round(time.process_time() - began_cpu, 1),
            "peak_memory_mb": {"before": before, "after": peak_mb()},
        }
        memory = opened.memory(*LANGUAGES)
        words = vocabulary()
        last = opened.connection.execute("SELECT max(id) FROM memory_units").fetchone()[0]
        asked = []
        for _ in range(options.lookups):
            [unit] = opened.units.page(memory.number, chosen.randrange(last), 1)
            parts = unit.source.split()
            parts[chosen.randrange(len(parts))] = chosen.choice(words)
            asked.append((" ".join(parts), unit.source))
        for text, _ in asked:  # warm
            memory.search(text, options.threshold, 1)
        spent, spent_cpu, n_found = [], [], 0
        for text, _ in asked:
            began, began_cpu = time.perf_counter(), time.process_time()
            found = memory.search(text, options.threshold, 1)
            spent.append(1000 * (time.perf_counter() - began))
            spent_cpu.append(1000 * (time.process_time() - began_cpu))
            n_found += bool(found)
        opened.close()
    return {
        "import": imported,
        "lookup": {
            "texts": len(asked),
            "with_a_match": n_found,
            "threshold": options.threshold,
            "wall_ms": quantiles(spent),
            "cpu_ms": quantiles(spent_cpu),
        },
    }


def measure_bleu(options: argparse.Namespace) -> dict[str, Any]:
    """BLEU and chrF with a memory and without, of all sentences and of those it had something for."""
    sides = [
        Path(f"{options.data}.{language}").read_text(encoding="utf-8").splitlines() for language in LANGUAGES
    ]
    pairs = list(zip(*sides, strict=True))[: options.pairs]
    held, asked = pairs[::2], pairs[1::2]
    translator = Translator.load(source="en", target="fr", device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        opened = MemoryFile(Path(folder) / "memory.sqlite3", create=True)
        units = [TranslationUnit(*pair) for pair in held if all(side.strip() for side in pair)]
        opened.add(LANGUAGES, units)
        memory = opened.memory(*LANGUAGES)
        matches = {source: recall(memory, [source], options.threshold) for source, _ in asked}
        opened.close()
    asked = [pair for pair in asked if matches[pair[0]] or not options.matched][: options.sentences]
    sources = [source for source, _ in asked]
    without = translator.translate(sources)
    used = tuple(match for source in dict.fromkeys(sources) for match in matches[source])
    found = translator.translate(sources, TranslationOptions(memory=used))
    references = [target for _, target in asked]
    uses = {
        use: [index for index, one in enumerate(found) if any(part.use == use for part in one.memory)]
        for use in ("translation", "repair", "suggestion")
    }
    groups = {"all": list(range(len(asked))), **uses}
    return {
        "data": f"{options.data.parent.name}/{options.data.name}",
        "sentences": len(asked),
        "units": len(units),
        "threshold": options.threshold,
        "groups": {
            name: {
                "sentences": len(indices),
                "without": scores([without[i].text for i in indices], [references[i] for i in indices]),
                "with": scores([found[i].text for i in indices], [references[i] for i in indices]),
            }
            for name, indices in groups.items()
            if indices
        },
        "signature": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp",
    }


def scores(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """BLEU and chrF2."""
    return {
        "bleu": round(BLEU().corpus_score(hypotheses, [references]).score, 2),
        "chrf": round(CHRF().corpus_score(hypotheses, [references]).score, 2),
    }


def sample() -> list[tuple[str, str]]:
    """The pairs of the sample that ships."""
    sides = [(SAMPLE / f"train.{language}").read_text("utf-8").splitlines() for language in LANGUAGES]
    return list(zip(*sides, strict=True))


def vocabulary() -> list[str]:
    """The words of the sample's sources, as often as they are there."""
    return [word for source, _ in sample() for word in source.split()]


def generated(n_units: int) -> Iterator[TranslationUnit]:
    """Units that share most of their words with many others."""
    chosen = random.Random(0)
    pairs, words = sample(), vocabulary()
    for number in range(n_units):
        two = chosen.choice(pairs), chosen.choice(pairs)
        parts = " ".join(source for source, _ in two).split()
        target = " ".join(target for _, target in two)
        for _ in range(1 + len(parts) // 3):
            parts[chosen.randrange(len(parts))] = chosen.choice(words)
        yield TranslationUnit(" ".join(parts), f"{target} ({number})")


def quantiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the most."""
    cuts = statistics.quantiles(milliseconds, n=100)
    return {"p50": round(cuts[49], 2), "p99": round(cuts[98], 2), "max": round(max(milliseconds), 2)}


def peak_mb() -> float:
    """The most memory that this process has had."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3, 1)


if __name__ == "__main__":
    main()
