"""Words of a translation that its language does not have: a model builds them from pieces of others.

The words are those of the training corpora, as a Bloom filter for each language (Bloom 1970, "Space/Time
Trade-offs in Hash Coding with Allowable Errors"). ``scripts/make_known_words.py`` makes it. A form that
was never seen counts as known if another form of the same stem was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path

from nmt.spans import Span
from nmt.text.languages import rules

FOLDER = Path(__file__).parent / "word_lists"
N_HASHES, BITS_A_WORD = 13, 20
"""One in ten thousand of the words that are not there is taken for one that is."""
LEAST_LETTERS = 4
"""Of a word, and of a stem."""
MOST_REMEMBERED = 50_000
"""Words whose answer is kept: few words make up most of a text."""
_WORD = re.compile(r"[^\W\d_]+")


def unknown_words(source: str, target: str, language: str, ignore: Sequence[Span] = ()) -> list[str]:
    """Words of ``target`` that are neither known in its language nor copied from ``source``.

    Words with a capital inside the sentence are names, and are left out. There are none in a language
    without a list.

    Args:
        source: a sentence.
        target: its translation.
        language: ISO 639-1 code of the translation.
        ignore: spans of the translation.
    """
    if _filter_of(language) is None:
        return []
    read = set(_WORD.findall(source.lower()))
    found = []
    for index, match in enumerate(_WORD.finditer(target)):
        word = match.group()
        if len(word) < LEAST_LETTERS or not (word.islower() or (index == 0 and word[1:].islower())):
            continue
        word = word.lower()
        if word in read or any(span.start < match.end() and match.start() < span.end for span in ignore):
            continue
        if not is_known(word, language):
            found.append(match.group())
    return found


@lru_cache(maxsize=MOST_REMEMBERED)
def is_known(word: str, language: str) -> bool:
    """Whether a word in lower case, or another form of it, is one of ``language``; not without a list."""
    filter_ = _filter_of(language)
    return filter_ is not None and any(_is_in(form, filter_) for form in _forms(word, language))


def is_written(word: str, language: str) -> bool:
    """Whether a word in lower case is in the list of ``language`` in this very form."""
    filter_ = _filter_of(language)
    return filter_ is not None and _is_in(word, filter_)


@cache
def ordinary_words(language: str) -> frozenset[str]:
    """Frequent words that are no names and that other languages lack, by ``scripts/make_word_lists.py``.

    There are none in a language without a list.
    """
    path = FOLDER / f"{language}.txt"
    return frozenset(path.read_text(encoding="utf-8").split()) if path.exists() else frozenset()


def packed(words: Iterable[str]) -> bytes:
    """The Bloom filter of words."""
    known = {word for word in words if len(word) >= LEAST_LETTERS}
    bits = bytearray(len(known) * BITS_A_WORD // 8 + 1)
    for word in known:
        for place in _places(word, 8 * len(bits)):
            bits[place >> 3] |= 1 << (place & 7)
    return bytes(bits)


def _forms(word: str, language: str) -> Iterator[str]:
    """The word, then all that it may be a form of."""
    yield word
    endings = rules(language).endings
    for ending in endings:
        stem = word[: len(word) - len(ending)]
        if word.endswith(ending) and len(stem) >= LEAST_LETTERS:
            yield from (stem + other for other in endings)


def _is_in(word: str, bits: bytes) -> bool:
    return all(bits[place >> 3] >> (place & 7) & 1 for place in _places(word, 8 * len(bits)))


def _places(word: str, n_bits: int) -> Iterator[int]:
    """Kirsch and Mitzenmacher 2006: two hashes give all."""
    digest = blake2b(word.encode(), digest_size=16).digest()
    place, step = (int.from_bytes(half, "big") % n_bits for half in (digest[:8], digest[8:]))
    for _ in range(N_HASHES):
        yield place
        place = (place + step) % n_bits


@cache
def _filter_of(language: str) -> bytes | None:
    """None: there is no list of the language."""
    path = FOLDER / f"{language}.bloom"
    return path.read_bytes() if path.exists() else None
