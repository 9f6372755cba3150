"""How far each engine is from the model as it is written: BLEU, equal translations, log-probabilities.

    python -m benchmarks.engines --source F --reference F --out benchmarks/results/engines.json

Sentences are translated in batches of similar length, with the model folder's own options.
Speeds are the business of ``benchmarks.decoding``.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import sacrebleu
import torch

from nmt.alignment import length_batches
from nmt.batch import Batch
from nmt.checkpoint import LoadedModel, load_model_folder, resolve_model
from nmt.compilation import compile_steps
from nmt.engines.choose import Choice, build_decoder, choose
from nmt.files import sha256
from nmt.search import Hypothesis, search

EAGER, ENGINES = "eager", ("float32", "bfloat16", "int8")
CPU = torch.device("cpu")


def main() -> None:
    """Read the arguments, translate with each engine, write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model")
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--reference", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=10**9, help="only the first so many")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=ENGINES, help="beside eager")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--merge", action="store_true", help="keep the engines of --out that are not run now")
    arguments = parser.parse_args()
    loaded = load_model_folder(resolve_model(arguments.model))
    sources = arguments.source.read_text(encoding="utf-8").splitlines()[: arguments.sentences]
    references = arguments.reference.read_text(encoding="utf-8").splitlines()[: arguments.sentences]
    record: dict[str, Any] = {
        "model": loaded.config.name,
        "test_set": {
            "source": arguments.source.name,
            "sentences": len(sources),
            "source_sha256": sha256(arguments.source),
            "reference_sha256": sha256(arguments.reference),
        },
        "options": loaded.generation.model_dump(),
        "machine": {"processor": torch.cpu.get_capabilities().get("cpu_name", platform.machine())},
        "torch": torch.__version__,
        "engines": {},
    }
    bleu = sacrebleu.BLEU()
    eager: list[Hypothesis] = []
    if arguments.merge and arguments.out.exists():
        record["engines"] = json.loads(arguments.out.read_text(encoding="utf-8"))["engines"]
    for contestant in contestants(loaded, arguments.engine):
        name, found = contestant.name, translate(loaded, sources, contestant)
        eager = eager or found
        texts = [loaded.tokenizer.decode_pieces(hypothesis.tokens)[0] for hypothesis in found]
        record["engines"][name] = {
            "why": contestant.choice.why,
            "bleu": round(bleu.corpus_score(texts, [references]).score, 2),
            "equal_to_eager": sum(
                mine.tokens == theirs.tokens for mine, theirs in zip(found, eager, strict=True)
            ),
            "largest_difference_of_log_prob_a_token_where_equal": round(largest_difference(found, eager), 6),
        }
        record["signature"] = str(bleu.get_signature())
        print(name, record["engines"][name], flush=True)
    arguments.out.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


class Contestant(NamedTuple):
    """An engine, and how many padded source tokens it takes at once."""

    name: str
    choice: Choice
    batch_tokens: int


def contestants(loaded: LoadedModel, engines: Sequence[str]) -> Iterator[Contestant]:
    """The model as it is written, and each engine; then that with its steps compiled where that can be done.

    Compiled, it also takes one sentence at a time.
    """
    model, beam_size = loaded.model, loaded.generation.beam_size
    batch_tokens = 4096 // beam_size
    for name in (EAGER, *engines):
        choice = choose(model, CPU, name, compiled=False)
        yield Contestant(name, choice, batch_tokens)
        if compile_steps(model, choice):
            compiled = choose(model, CPU, name)
            if compiled.bound is not None:
                yield Contestant(f"{name}, compiled", compiled, batch_tokens)
            yield Contestant(f"{name}, compiled, one sentence at a time", compiled, 1)


def translate(loaded: LoadedModel, sources: list[str], contestant: Contestant) -> list[Hypothesis]:
    """The best hypothesis of each line, taken as one sentence."""
    decoder = build_decoder(loaded.model, contestant.choice)
    ids = loaded.tokenizer.encode_batch(sources)
    found: dict[int, Hypothesis] = {}
    for places in length_batches([len(row) + 1 for row in ids], contestant.batch_tokens):
        batch = Batch.from_ids([ids[place] for place in places], special=loaded.config.special_ids)
        for place, hypotheses in zip(
            places, search(decoder, batch, loaded.generation, loaded.config.special_ids), strict=True
        ):
            found[place] = hypotheses[0]
    return [found[place] for place in range(len(sources))]


def largest_difference(found: list[Hypothesis], eager: list[Hypothesis]) -> float:
    """Of the mean log-probability of a token, over sentences with the same translation."""
    return max(
        (
            abs(mine.log_prob - theirs.log_prob) / (len(mine.tokens) + 1)
            for mine, theirs in zip(found, eager, strict=True)
            if mine.tokens == theirs.tokens
        ),
        default=0.0,
    )


if __name__ == "__main__":
    main()
