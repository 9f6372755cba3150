"""Words that a translation drops and repeats: the two errors that coverage is against (Tu et al. 2016).

    dropped    source words of three letters or more to which no link leads (a forced pass) and that do not
               stand in the translation as they are. Words that the other language has no word for count
               too, so the number means something beside another one only, of the same set and aligner
    repeated   words that stand twice in a row, and words that end three-word sequences written already, where
               the source repeats nothing of that length. Grammar that says a word twice ("nous nous levons",
               "he had had") counts too

Both are proxies; neither needs a reference. They ask nothing of the languages but that words stand between
spaces, so they serve every direction; the aligner that gives the links must be of the same one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nmt.text.words import words

LEAST_LETTERS = 3
LONGEST = 3
"""Words of the sequences whose repetition counts."""


@dataclass(frozen=True)
class Omissions:
    """Sums over a set of sentences."""

    n_sentences: int
    source_words: int
    """Those that could be dropped: of three letters or more."""
    target_words: int
    dropped: int
    repeated: int
    sentences_with_drops: int
    sentences_with_repeats: int


def count_omissions(
    sources: Sequence[str], translations: Sequence[str], linked: Sequence[Collection[int]]
) -> Omissions:
    """Count over sentence pairs.

    Args:
        sources: sentences.
        translations: of each.
        linked: for each the indices of source words (of ``nmt.text.words.words``) that have a link.
    """
    dropped = [n_dropped(*triple) for triple in zip(sources, translations, linked, strict=True)]
    repeated = [n_repeated(source, text) for source, text in zip(sources, translations, strict=True)]
    return Omissions(
        n_sentences=len(sources),
        source_words=sum(_counts(token.text) for source in sources for token in words(source)),
        target_words=sum(len(_words(text)) for text in translations),
        dropped=sum(dropped),
        repeated=sum(repeated),
        sentences_with_drops=sum(map(bool, dropped)),
        sentences_with_repeats=sum(map(bool, repeated)),
    )


def n_dropped(source: str, translation: str, linked: Collection[int]) -> int:
    """Source words without a link that are not copied either."""
    written = set(_words(translation))
    return sum(
        _counts(token.text) and index not in linked and token.text.lower() not in written
        for index, token in enumerate(words(source))
    )


def n_repeated(source: str, translation: str) -> int:
    """Words that end a repetition: of one word in a row, or of three words anywhere."""
    read, written = _words(source), _words(translation)
    double_read = any(one == other for one, other in pairwise(read))
    doubled = {
        index for index in range(1, len(written)) if written[index] == written[index - 1] and not double_read
    }
    sequences = _sequences(written) if not _has_repeats(_sequences(read)) else []
    seen: set[tuple[str, ...]] = set()
    for index, sequence in enumerate(sequences):
        if sequence in seen:
            doubled.add(index + LONGEST - 1)
        seen.add(sequence)
    return len(doubled)


def _counts(word: str) -> bool:
    return len(word) >= LEAST_LETTERS and word.isalpha()


def _words(text: str) -> list[str]:
    return [token.text.lower() for token in words(text) if token.text.isalpha()]


def _sequences(items: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(items[start : start + LONGEST]) for start in range(len(items) - LONGEST + 1)]


def _has_repeats(sequences: Sequence[tuple[str, ...]]) -> bool:
    return len(set(sequences)) < len(sequences)
