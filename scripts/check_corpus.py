"""Check the project's own corpus: form, repetitions, and words shared with any set that is ever scored.

    python -m scripts.check_corpus [--data DATA] [--corpus training/corpora/passerelle]

A pair is refused if either side shares seven words in a row with a sentence of a development or test set of
DATA, or with the sentences in ``training/sample`` that are read after each training. The exit status is 1
if any is.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from training.data.clean import overlap_key

CORPUS = Path("training/corpora/passerelle")
SAMPLES = Path("training/sample")
HELD_OUT = (
    *(
        "news/newstest2013",
        "news/newstest2014",
        "flores/dev",
        "flores/devtest",
        "software/dev",
        "tatoeba/dev",
    ),
    *("tatoeba/test", "europarl/dev", "europarl/test", "multi30k/val", "multi30k/test_2016_flickr"),
    *(
        "multi30k/test_2017_flickr",
        "multi30k/test_2017_mscoco",
        "alignment/hansards/trial",
        "alignment/hansards/test",
    ),
    "alignment/pud/test",
)
READ = tuple(
    f"{name}.{language}"
    for name in ("everyday50", "everyday_more", "everyday_dev", "taught_words_dev")
    for language in ("en", "fr")
)
SHARED_WORDS = 7
SHORT_WORDS = 4
LANGUAGES = ("en", "fr")


@dataclass(frozen=True)
class Pair:
    """One line of the corpus."""

    file: str
    line: int
    english: str
    french: str


def main() -> None:
    """Print what is wrong, a line each, and how many pairs there are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the development and test sets")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    arguments = parser.parse_args()
    pairs: list[Pair] = []
    problems: list[str] = []
    for file in sorted(arguments.corpus.rglob("*.tsv")):
        found, wrong = read(file)
        pairs += found
        problems += wrong
    problems += repeated(pairs)
    problems += overlapping(pairs, held_out_runs(arguments.data))
    print("\n".join(problems))
    print(f"{len(pairs)} pairs, {len(problems)} problems")
    raise SystemExit(bool(problems))


def read(file: Path) -> tuple[list[Pair], list[str]]:
    """The pairs of a file, and what is wrong with its form."""
    pairs, problems = [], []
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n")[:-1], start=1):
        cells = line.split("\t")
        if len(cells) != 2:
            problems.append(f"{file.name}:{number}: {len(cells)} columns instead of 2")
            continue
        pair = Pair(file.name, number, *cells)
        pairs.append(pair)
        problems += [f"{file.name}:{number}: {problem}: {line}" for problem in faults(pair)]
    return pairs, problems


def faults(pair: Pair) -> Iterator[str]:
    """What is wrong with the spelling of a pair, as far as a rule can tell."""
    for side in (pair.english, pair.french):
        if not side or side != " ".join(side.split(" ")).strip() or "  " in side:
            yield "empty, or spaces too many"
        if re.search(r"[\u2019\u00a0\u202f\u200b\u2026]", side):
            yield "a curly apostrophe, an ellipsis character or a no-break space"
    if re.search(r"[^\s«(\"'.!?:0-9/][!?;](?!\w)", pair.french):
        yield "no space before ! ? or ; in French"
    if re.search(r"\s[!?;:,.](\s|$)", pair.english):
        yield "a space before a mark in English"
    if ends(pair.english) != ends(pair.french):
        yield "the sides end with different marks"


def ends(text: str) -> str:
    """The kind of mark that ends a text: a question's, an exclamation's or another."""
    bare = text.rstrip(" »\")'")
    return bare[-1] if bare[-1:] in ("?", "!") else "."


def repeated(pairs: Iterable[Pair]) -> Iterator[str]:
    """Pairs that came before, whatever their case and punctuation; of short texts only the very same."""
    seen: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        key = (pair.english, pair.french)
        if pair.english.count(" ") >= SHORT_WORDS:
            key = (overlap_key(pair.english), overlap_key(pair.french))
        if key in seen:
            yield f"{pair.file}:{pair.line}: as {seen[key].file}:{seen[key].line}: {pair.english}"
        seen.setdefault(key, pair)


def held_out_runs(data: Path | None) -> set[tuple[str, ...]]:
    """Every run of seven words in the sets that are scored or read."""
    files = [SAMPLES / name for name in READ]
    if data is not None:
        files += [data / f"{name}.{language}" for name in HELD_OUT for language in LANGUAGES]
    return {
        run
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        for run in runs_of(line)
    }


def overlapping(pairs: Iterable[Pair], held_out: set[tuple[str, ...]]) -> Iterator[str]:
    """Pairs of which a side shares seven words in a row with a held-out sentence."""
    for pair in pairs:
        for side in (pair.english, pair.french):
            for run in runs_of(side):
                if run in held_out:
                    yield f"{pair.file}:{pair.line}: shares '{' '.join(run)}' with a held-out set: {side}"
                    break


def runs_of(text: str) -> Iterator[tuple[str, ...]]:
    """Runs of seven words, without case and punctuation."""
    words = re.findall(r"\w+", text.lower())
    return (tuple(words[start : start + SHARED_WORDS]) for start in range(len(words) - SHARED_WORDS + 1))


if __name__ == "__main__":
    main()
