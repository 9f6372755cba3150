"""What word links add to the time of a translation: the same sentences with and without, in turn.

    python -m benchmarks.alignment_speed --source F [--model M] [--sentences N] [--turns N] [--out FILE]

The ratio of each pair of turns is taken, and their median printed, so that the machine's other work cancels.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import islice
from pathlib import Path

from nmt.translator import AlignmentKind, Translator
from training.provenance import provenance


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, help="one sentence a line")
    parser.add_argument("--model")
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", type=Path, help="JSON record")
    arguments = parser.parse_args()
    translator = Translator.load(arguments.model, device="cpu")
    with arguments.source.open(encoding="utf-8") as stream:
        texts = [line.strip() for line in islice(stream, arguments.sentences)]
    turns = [
        (seconds(translator, texts, "none"), seconds(translator, texts, "links"))
        for _ in range(arguments.turns)
    ]
    record = {
        "model": translator.config.name,
        "sentences": len(texts),
        "what": "processor time of Translator.translate with alignment links / with alignment none",
        "turns": [[round(value, 3) for value in turn] for turn in turns],
        "median_ratio": round(statistics.median(links / none for none, links in turns), 4),
        **provenance(),
    }
    print(json.dumps({key: record[key] for key in ("turns", "median_ratio")}))
    if arguments.out:
        arguments.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def seconds(translator: Translator, texts: list[str], alignment: AlignmentKind) -> float:
    """Processor time of one turn."""
    started = time.process_time()
    translator.translate(texts, alignment=alignment)
    return time.process_time() - started


if __name__ == "__main__":
    main()
