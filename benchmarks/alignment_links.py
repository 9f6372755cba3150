"""eflomal's links of training pairs and of the gold alignments' sentences, from one run over both.

    python -m benchmarks.alignment_links --corpora DIR --links links.tsv.xz --eflomal gold_links.json

DIR is where the corpora are unpacked, with alignment/ among them. The first file trains the link scorer
(``nmt align-train``), the second holds the peer's own links for ``benchmarks.alignment``. The sentences of
the gold alignments are in the text that eflomal counts, as is usual with it; their gold links are not, and
the scorer never sees those sentences.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.alignment import SETS
from nmt.alignment.pharaoh import parse_pharaoh
from nmt.alignment.tokens import counted_tokens
from nmt.text.words import whitespace_words, words
from training.align.links import choose_pairs, counted_lines, eflomal, write_links
from training.align.rule import GoldSet

CORPORA = {
    "europarl/train": 150_000,
    "tatoeba/train": None,
    "multi30k/train": None,
    "news/train": None,
    "docs/train": 12_000,
    "laws/train": 12_000,
}
LANGUAGES = ("en", "fr")
LONGEST, SEED = 40, 7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("corpora", "links", "eflomal"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    sets = [GoldSet.read(arguments.corpora / "alignment" / name) for name in SETS]
    gold = [pair for own in sets for pair in own.pairs]
    pairs: list[tuple[str, str]] = []
    for name, most in CORPORA.items():
        stem = arguments.corpora / name
        pairs += choose_pairs(
            stem.with_name(stem.name + ".en"), stem.with_name(stem.name + ".fr"), most, LONGEST, SEED
        )
    forward, backward = eflomal(
        [counted_lines(pair, LANGUAGES, whitespace_words) for pair in gold]
        + [counted_lines(pair, LANGUAGES, words) for pair in pairs]
    )
    write_links(arguments.links, pairs, forward[len(gold) :], backward[len(gold) :])
    arguments.eflomal.write_text(json.dumps(gold_links(sets, forward, backward)) + "\n", encoding="utf-8")


def gold_links(
    sets: list[GoldSet], forward: list[str], backward: list[str]
) -> dict[str, dict[str, list[str]]]:
    """The links of the sets' white-space tokens; ``forward`` and ``backward`` begin with their sentences."""
    found: dict[str, dict[str, list[str]]] = {}
    first = 0
    for own in sets:
        found[own.name] = {
            direction: [
                of_words(line, *pair)
                for line, pair in zip(lines[first : first + len(own.pairs)], own.pairs, strict=True)
            ]
            for direction, lines in (("forward", forward), ("backward", backward))
        }
        first += len(own.pairs)
    return found


def of_words(line: str, source: str, target: str) -> str:
    """Links of counted tokens -> links of the white-space tokens that they are parts of."""
    at = [
        [token.word for token in counted_tokens(whitespace_words(text), language)]
        for text, language in zip((source, target), LANGUAGES, strict=True)
    ]
    pairs = {(at[0][one], at[1][other]) for one, other in parse_pharaoh(line)[0]}
    return " ".join(f"{one}-{other}" for one, other in sorted(pairs))


if __name__ == "__main__":
    main()
