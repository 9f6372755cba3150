"""What plain text pays for literals, shape and checks: ``Translator.translate`` beside the model alone.

Both translate the same sentences, which hold no literal, in turn: search and decoding alone, and everything.
The ratio of each pair of turns is taken, and their median printed, so that the machine's other work cancels.

    python -m benchmarks.faithful --source sentences.en [--model M] [--beam N ...] [--turns N] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from nmt.config import GenerationConfig
from nmt.options import TranslationOptions
from nmt.pipeline.requests import Search
from nmt.text.segment import split
from nmt.translator import Translator
from training.provenance import provenance


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, help="one sentence a line")
    parser.add_argument("--model")
    parser.add_argument("--beam", type=int, action="append", help="repeatable; default 1")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--out", type=Path, help="JSON record")
    arguments = parser.parse_args()
    translator = Translator.load(arguments.model, device="cpu")
    with arguments.source.open(encoding="utf-8") as stream:
        texts = list(islice((line.strip() for line in stream), arguments.sentences))
    plans = translator.plan(texts)
    plain = [
        text
        for text, plan in zip(texts, plans, strict=True)
        if all(not sentence.copied for sentence in plan.sentences) and not any(map(str.isdigit, text))
    ]

    record = {
        "model": translator.config.name,
        "sentences": len(plain),
        "turns": arguments.turns,
        "what": "processor time of Translator.translate / of search and decoding alone",
        "beams": {
            str(beam): measure(translator, plain, GenerationConfig(beam_size=beam), arguments.turns)
            for beam in arguments.beam or [1]
        },
        **provenance(),
    }
    print(json.dumps(record["beams"], indent=2))
    if arguments.out:
        arguments.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def measure(
    translator: Translator, texts: list[str], options: GenerationConfig, turns: int
) -> dict[str, float]:
    """Ratio of each pair of turns: their median and spread; and the share of what comes before search."""

    def alone() -> None:
        """Sentences, ids, search and text, as a translator without anything else does it."""
        sentences = [sentence.text for text in texts for sentence in split(text, "en")]
        ids = translator.tokenizer.encode_batch(sentences)
        answers = translator.answer([Search(tuple(row), options) for row in ids])
        for hypotheses in answers:
            if isinstance(hypotheses, list):
                translator.tokenizer.decode_pieces(hypotheses[0].tokens)

    def everything() -> None:
        translator.translate(texts, TranslationOptions(generation=options))

    def seconds(action: Callable[[], None]) -> float:
        start = time.process_time()
        action()
        return time.process_time() - start

    def preparation() -> None:
        translator.plan(texts, TranslationOptions(generation=options))

    for action in (alone, everything):
        action()
    pairs = [(seconds(alone), seconds(everything), seconds(preparation)) for _ in range(turns)]
    ratios = [whole / bare for bare, whole, _ in pairs]
    return {
        "median": round(statistics.median(ratios), 3),
        "least": round(min(ratios), 3),
        "most": round(max(ratios), 3),
        "planning": round(statistics.median(part / bare for bare, _, part in pairs), 3),
    }


if __name__ == "__main__":
    main()
