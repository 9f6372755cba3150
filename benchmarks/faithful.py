"""What plain text pays for literals, shape and checks: ``Translator.translate`` beside the model alone.

Both translate the same sentences, which hold no literal, in turn: search and decoding alone, and everything.
The ratio of each pair of turns is taken, and their median printed, so that the machine's other work cancels.

    python benchmarks/faithful.py --source sentences.en [--model M] [--beam N] [--turns N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from nmt.config import GenerationConfig
from nmt.flow import Search
from nmt.segment import split
from nmt.translator import Translator


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, required=True, help="one sentence a line")
    parser.add_argument("--model")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--turns", type=int, default=9)
    arguments = parser.parse_args()
    translator = Translator.load(arguments.model, device="cpu")
    options = GenerationConfig(beam_size=arguments.beam)
    with arguments.source.open(encoding="utf-8") as stream:
        texts = list(islice((line.strip() for line in stream), arguments.sentences))
    plans = translator.plan(texts)
    texts = [
        text
        for text, plan in zip(texts, plans, strict=True)
        if all(not sentence.copied for sentence in plan.sentences) and not any(map(str.isdigit, text))
    ]

    def alone() -> None:
        """Sentences, ids, search and text, as a translator without anything else does it."""
        sentences = [sentence.text for text in texts for sentence in split(text, "en")]
        ids = translator.tokenizer.encode_batch(sentences)
        answers = translator.answer([Search(tuple(row), options) for row in ids])
        for hypotheses in answers:
            if isinstance(hypotheses, list):
                translator.tokenizer.decode_pieces(hypotheses[0].tokens)

    def everything() -> None:
        translator.translate(texts, options=options)

    def seconds(action: Callable[[], None]) -> float:
        start = time.process_time()
        action()
        return time.process_time() - start

    def preparation() -> None:
        translator.plan(texts, options=options)

    for action in (alone, everything):
        action()
    pairs = [(seconds(alone), seconds(everything), seconds(preparation)) for _ in range(arguments.turns)]
    ratios = [whole / bare for bare, whole, _ in pairs]
    prepared = statistics.median(part for _, _, part in pairs) / statistics.median(
        bare for bare, _, _ in pairs
    )
    print(f"{len(texts)} plain sentences, beam {arguments.beam}, {arguments.turns} turns, processor time")
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}"
    print(f"everything / model alone: median {statistics.median(ratios):.3f}, {spread}")
    print(f"plan (split, literals, shape, ids) / model alone: {prepared:.3f}")


if __name__ == "__main__":
    main()
