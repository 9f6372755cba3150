"""Make nmt/text/word_lists: ordinary words of each language that the other does not have.

    python -m scripts.make_word_lists DATA

A word is ordinary if it has four letters or more and stands often in lower case within sentences of the
training corpora; it is of one language alone if less than a thirtieth as often on the other side. The
``SIZE`` most frequent of each language are kept, in alphabetical order.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from itertools import islice
from pathlib import Path

CORPORA = (
    *("europarl/train", "tatoeba/train", "multi30k/train", "news/train", "laws/train"),
    *("software/help", "software/webdocs", "stories/train"),
)
LANGUAGES = ("en", "fr")
LINES = 250_000
"""Of each corpus."""
SIZE = 7000
LEAST = 20
LEAST_LETTERS = 4
OUT = Path("nmt/text/word_lists")
_WORD = re.compile(r"[^\W\d_]+")


def main() -> None:
    """Write one file for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    counts = {language: count(data, language) for language in LANGUAGES}
    OUT.mkdir(exist_ok=True)
    for language, other in zip(LANGUAGES, reversed(LANGUAGES), strict=True):
        words = of_one_language(counts[language], counts[other])
        (OUT / f"{language}.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        print(f"{language}: {len(words)} words")


def count(data: Path, language: str) -> tuple[Counter[str], Counter[str]]:
    """Words in lower case and capitalised, without the first of each sentence."""
    lower: Counter[str] = Counter()
    capitalised: Counter[str] = Counter()
    for corpus in CORPORA:
        with (data / f"{corpus}.{language}").open(encoding="utf-8") as lines:
            for line in islice(lines, LINES):
                for word in _WORD.findall(line)[1:]:
                    (capitalised if word[0].isupper() else lower)[word.lower()] += 1
    return lower, capitalised


def of_one_language(
    own: tuple[Counter[str], Counter[str]], other: tuple[Counter[str], Counter[str]]
) -> list[str]:
    """The most frequent words of one side, in alphabetical order."""
    lower, capitalised = own
    kept = [
        word
        for word, n in lower.most_common()
        if n >= LEAST
        and len(word) >= LEAST_LETTERS
        and n > 5 * capitalised[word]
        and 30 * (other[0][word] + other[1][word]) < n
    ]
    return sorted(kept[:SIZE])


if __name__ == "__main__":
    main()
