"""Make the lexicon of short texts: nmt/text/lexicon/en-fr.tsv.

    python -m scripts.make_lexicon --names DATA/names/train

Its lines are the pairs of the project's own corpus with at most ``MOST_WORDS`` English words, then the names
of countries, cities, languages and currencies that the two languages write differently. The third column says
what a text is. Of several translations the first is the best.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from nmt.text.lexicon.lookup import FOLDER, LONGEST, MOST_WORDS

CORPUS = Path("training/corpora/passerelle")
KINDS = {
    "interface": "label",
    "short-phrases": "phrase",
    "nouns": "noun",
    "verbs": "verb",
    "adjectives": "adjective",
    "small-words": "word",
    "greetings": "phrase",
    "words": "word",
}
"""Files whose short pairs stand alone, the best first; of the others only sentences are taken."""
WHOLE = (".", "!", "?")
_PLAIN = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+)*")


def main() -> None:
    """Write the lexicon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--names", type=Path, required=True, help="path without .en and .fr")
    arguments = parser.parse_args()
    kinds: dict[tuple[str, str], str] = {}
    for kind, english, french in (*own_pairs(), *names(arguments.names)):
        kinds.setdefault((english, french), kind)
    n_before = Counter[str]()
    ranked: dict[tuple[str, str], int] = {}
    for english, french in kinds:
        ranked[english, french] = n_before[english.lower()]
        n_before[english.lower()] += 1
    best_first = sorted(kinds, key=lambda pair: ranked[pair])
    text = "".join(f"{english}\t{french}\t{kinds[english, french]}\n" for english, french in best_first)
    (FOLDER / "en-fr.tsv").write_text(text, encoding="utf-8")
    print(f"{len(kinds)} pairs")


def own_pairs() -> Iterator[tuple[str, str, str]]:
    """Kind, English and French of the short pairs of the project's own corpus."""
    files = {path.stem: path for path in CORPUS.rglob("*.tsv")}
    others = sorted(files.keys() - {*KINDS, "salutations"})
    for stem in (*KINDS, *others):
        for line in files[stem].read_text(encoding="utf-8").splitlines():
            english, french = line.split("\t")
            is_whole = stem in KINDS or english.endswith(WHOLE)
            if is_whole and is_short(english, french):
                yield KINDS.get(stem, "phrase"), english, french


def is_short(english: str, french: str) -> bool:
    """Whether a pair is looked up at all, from both sides."""
    return len(english.split()) <= MOST_WORDS and len(french.split()) <= LONGEST


def names(stem: Path) -> Iterator[tuple[str, str, str]]:
    """Names that differ."""
    sides = (Path(f"{stem}.{code}").read_text(encoding="utf-8").splitlines() for code in ("en", "fr"))
    for english, french in zip(*sides, strict=True):
        differ = english.lower() != french.lower()
        if differ and is_short(english, french) and all(map(_PLAIN.fullmatch, (english, french))):
            yield "name", english, french


if __name__ == "__main__":
    main()
