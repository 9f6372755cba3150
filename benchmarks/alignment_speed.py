"""What word links add to the time of a translation: the same sentences without and with, in turn.

    python -m benchmarks.alignment_speed --source F [--model M] [--sentences N] [--turns N] [--out FILE]

Each turn takes the next N sentences of the file and translates them once unmeasured, so that search meets
no new shape in either measurement; the links do, and what that costs counts. The ratio of each pair is taken,
and their median printed, so that the machine's other work cancels. One core.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from itertools import islice
from pathlib import Path

import torch

from nmt.options import TranslationOptions
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
    torch.set_num_threads(1)
    translator = Translator.load(arguments.model, device="cpu")
    with arguments.source.open(encoding="utf-8") as stream:
        texts = [line.strip() for line in islice(stream, arguments.sentences * (arguments.turns + 1))]
    seconds(translator, texts[: arguments.sentences], "links")
    turns = []
    for first in range(arguments.sentences, len(texts), arguments.sentences):
        own = texts[first : first + arguments.sentences]
        seconds(translator, own, "none")
        turns.append((seconds(translator, own, "none"), seconds(translator, own, "links")))
    record = {
        "model": translator.config.name,
        "engine": translator.engine.name,
        "sentences_a_turn": arguments.sentences,
        "what": "processor time of Translator.translate without links, and with",
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
    translator.translate(texts, TranslationOptions(alignment=alignment))
    return time.process_time() - started


if __name__ == "__main__":
    main()
