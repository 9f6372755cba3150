"""Write a lexicon of single words as training lines: OUT/train.en, OUT/train.fr and OUT/lexicon.tsv.

    python scripts/make_lexicon.py OUT FOLDER/tatoeba/train FOLDER/europarl/train:450000 ...

Each source is the name that comes before ``.en`` and ``.fr``, perhaps with the most pairs to read of it; the
first sources decide in what order entries stand, nothing else. Use training corpora alone. What an entry is:
``training/lexicon.py``. The table gives each entry's count and Dice's coefficient.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from training.lexicon import Entry, lexicon, lines

Pair = tuple[str, str]


def main() -> None:
    """Read the arguments and write the three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("sources", nargs="+", metavar="PREFIX[:PAIRS]")
    parser.add_argument("--least", type=int, default=5, help="occurrences of a word, and links of an entry")
    parser.add_argument("--max-words", type=int, default=16, help="longest sentence that is read")
    parser.add_argument("--min-dice", type=float, default=0.3, help="least coefficient of an entry, 0 to 1")
    arguments = parser.parse_args()
    pairs = (pair for source in arguments.sources for pair in read(source, arguments.max_words))
    entries = list(
        lexicon(pairs, least=arguments.least, max_words=arguments.max_words, min_dice=arguments.min_dice)
    )
    write(arguments.out, entries)


def read(source: str, max_words: int) -> Iterator[Pair]:
    """The pairs of ``PREFIX[:PAIRS]`` whose sides have at most ``max_words`` words."""
    prefix, colon, most = source.rpartition(":")
    path, limit = (prefix, int(most)) if colon else (source, None)
    english_file, french_file = Path(f"{path}.en"), Path(f"{path}.fr")
    with english_file.open(encoding="utf-8") as english, french_file.open(encoding="utf-8") as french:
        sides = ((one.strip(), other.strip()) for one, other in zip(english, french, strict=True))
        short = (pair for pair in sides if max(len(side.split()) for side in pair) <= max_words)
        yield from islice(short, limit)


def write(folder: Path, entries: Iterable[Entry]) -> None:
    """Write the table and the training lines of ``entries``; say how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = list(entries)
    table = "".join(f"{e.source}\t{e.target}\t{e.count}\t{e.dice:.3f}\n" for e in entries)
    (folder / "lexicon.tsv").write_text(table, encoding="utf-8")
    pairs = list(lines(entries))
    for side, language in enumerate(("en", "fr")):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (folder / f"train.{language}").write_text(text, encoding="utf-8")
    json.dump({"entries": len(entries), "lines": len(pairs)}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
