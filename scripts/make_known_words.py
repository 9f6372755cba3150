"""Make nmt/text/word_lists/LANGUAGE.bloom: every word of the training corpora, in lower case.

    python -m scripts.make_known_words DATA

The corpora are those of ``scripts.train_on`` and the project's own. A word seen once counts: what models make
up is in none of them.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from nmt.text.known_words import FOLDER, LEAST_LETTERS, packed

CORPORA = (
    *("europarl/train", "tatoeba/train", "multi30k/train", "news/train", "laws/train"),
    *("software/help", "software/webdocs", "software/ui", "stories/train", "names/train", "docs/train"),
)
OWN = Path("training/corpora/passerelle")
LANGUAGES = ("en", "fr")
_WORD = re.compile(rf"[^\W\d_]{{{LEAST_LETTERS},}}")
_BYTES_AT_ONCE = 1 << 22


def main() -> None:
    """Write one file for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    for column, language in enumerate(LANGUAGES):
        words = words_of(data, language) | own_words(column)
        (FOLDER / f"{language}.bloom").write_bytes(packed(words))
        print(f"{language}: {len(words)} words")


def words_of(data: Path, language: str) -> set[str]:
    """The words of one side of the corpora."""
    words: set[str] = set()
    for corpus in CORPORA:
        with (data / f"{corpus}.{language}").open(encoding="utf-8") as file:
            while lines := file.readlines(_BYTES_AT_ONCE):
                words.update(_WORD.findall("".join(lines).lower()))
    return words


def own_words(column: int) -> set[str]:
    """The words of one side of the project's own corpus."""
    return {
        word
        for path in OWN.rglob("*.tsv")
        for line in path.read_text(encoding="utf-8").splitlines()
        for word in _WORD.findall(line.split("\t")[column].lower())
    }


if __name__ == "__main__":
    main()
