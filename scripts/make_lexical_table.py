"""Make nmt/text/lexical_table/SOURCE-TARGET.tsv: how often each word is linked to which translations.

    python -m scripts.make_lexical_table DATA

DATA holds the corpora; the project's own is counted too. eflomal (Östling and Tiedemann 2016) links their
words, in about half an hour of one core. A link counts where both of its directions have it.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from nmt.alignment.pharaoh import parse_pharaoh
from nmt.text.lexical_table.table import FOLDER
from nmt.text.words import words
from training.align.links import choose_pairs, counted_lines, eflomal

CORPORA: dict[str, int | None] = {
    "europarl/train": 480_000,
    "tatoeba/train": None,
    "multi30k/train": 20_000,
    "news/train": None,
    "docs/train": None,
    "laws/train": 40_000,
    "software/help": None,
    "software/ui": None,
    "software/webdocs": None,
    "stories/train": None,
}
"""Pairs of each that are taken at most."""
OWN = Path("training/corpora/passerelle")
LANGUAGES = ("en", "fr")
LONGEST, SEED = 32, 7
LEAST_LINKS = 3
"""Of a word in the table."""
FEW_LINKS, LEAST_FORM_LINKS, LEAST_SHARE, MOST_FORMS = 10, 2, 0.003, 30
"""All forms of a word of few links are kept; of others those of two and a share, and so many at most."""

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def main() -> None:
    """Write one file for each direction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    pairs = own_pairs()
    for name, most in CORPORA.items():
        source, target = (data / f"{name}.{language}" for language in LANGUAGES)
        pairs += choose_pairs(source, target, most, LONGEST, SEED)
    lines = [counted_lines(pair, LANGUAGES, words) for pair in pairs]
    links = count_links(lines, *eflomal(lines))
    reverse = Counter({(target, source): count for (source, target), count in links.items()})
    for own, languages in ((links, LANGUAGES), (reverse, LANGUAGES[::-1])):
        table = table_lines(own)
        path = FOLDER / f"{'-'.join(languages)}.tsv"
        path.write_text("".join(f"{line}\n" for line in table), encoding="utf-8")
        print(f"{path.name}: {len(table)} words")


def own_pairs() -> list[tuple[str, str]]:
    """The project's own corpus."""
    sides = (
        line.split("\t")[:2]
        for path in sorted(OWN.rglob("*.tsv"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [(source, target) for source, target in sides]


def count_links(
    lines: Sequence[tuple[str, str]], forward: Iterable[str], backward: Iterable[str]
) -> Counter[tuple[str, str]]:
    """How often a word of a source is linked, in both directions, to one of its target."""
    counts: Counter[tuple[str, str]] = Counter()
    for (source, target), one, other in zip(lines, forward, backward, strict=True):
        read, written = source.split(), target.split()
        both = set(parse_pharaoh(one)[0]) & set(parse_pharaoh(other)[0])
        counts.update((read[place], written[linked]) for place, linked in both)
    return counts


def table_lines(links: Counter[tuple[str, str]]) -> list[str]:
    """The lines of a table: a word, its links, and its forms with theirs; sorted by their bytes."""
    by_word: dict[str, list[tuple[str, int]]] = {}
    for (word, form), count in links.items():
        if _WORD.fullmatch(word) and _WORD.fullmatch(form):
            by_word.setdefault(word, []).append((form, count))
    lines = []
    for word, forms in by_word.items():
        total = sum(count for _, count in forms)
        least = 1 if total <= FEW_LINKS else max(LEAST_FORM_LINKS, LEAST_SHARE * total)
        kept = [one for one in sorted(forms, key=lambda one: (-one[1], one[0])) if one[1] >= least]
        if total >= LEAST_LINKS and kept:
            text = " ".join(f"{form}:{count}" for form, count in kept[:MOST_FORMS])
            lines.append(f"{word}\t{total}\t{text}")
    return sorted(lines, key=str.encode)


if __name__ == "__main__":
    main()
