"""Look up a short text, whatever its capitals and its final mark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from nmt.text.known_words import LEAST_LETTERS, is_written
from nmt.text.languages import rules

MOST_WORDS = 4
"""Of an English text in the lexicon."""
LONGEST = 6
"""Words of a text that is looked up."""
FOLDER = Path(__file__).parent
LABELS = ("label", "phrase")

NOUNS = ("noun", "word")
"""Kinds of entries that may have a plural."""

Known: TypeAlias = tuple[str, str, str]
"""Source and target without final marks, and the kind; a label is written with a capital by itself."""

_PLURALS = {
    "en": (("y", "ies"), ("fe", "ves"), ("f", "ves"), ("", "s"), ("", "es")),
    "fr": (("al", "aux"), ("ail", "aux"), ("s", "s"), ("x", "x"), ("z", "z"), ("", "s"), ("", "x")),
}
"""Endings of singulars, and of their plurals; of those that fit, the first that is a word."""

_CAPTION = re.compile(r"([\[(]\s*)([^\W\d_][^\[\]()]*?)(\s*[\])])")
_END = re.compile(r"[\s\u00a0\u202f]*([.!?…:,]*)$")


@dataclass(frozen=True)
class Entry:
    """Translations of a short text, the best first, in the case of the text."""

    translations: tuple[str, ...]

    def has(self, translation: str) -> bool:
        """Whether ``translation`` is one of them, apart from capitals, final marks and spaces."""
        return _folded(translation) in {_folded(known) for known in self.translations}


def look_up(text: str, source_language: str, target_language: str) -> Entry | None:
    """The entry of a text; None if there is none, or no lexicon of these languages.

    What is known in the very capitals of the text comes first: home is *maison*, Home is *Accueil*.

    Args:
        text: a sentence, without white space around it.
        source_language: ISO 639-1 code of it.
        target_language: of what is wanted.
    """
    if text.count(" ") >= LONGEST:
        return None
    known = _table(source_language, target_language).get(_folded(text))
    if known is None:
        return None
    bare = _END.sub("", text)
    best_first = sorted(known, key=lambda one: one[0] != bare)
    return Entry(tuple(dict.fromkeys(_shaped(one, text, target_language) for one in best_first)))


def look_up_plural(word: str, source_language: str, target_language: str) -> Entry | None:
    """The entry of a plural whose singular alone is in the lexicon.

    Args:
        word: one word, and a final mark perhaps.
        source_language: ISO 639-1 code of it.
        target_language: of what is wanted.
    """
    table, folded = _table(source_language, target_language), _folded(word)
    if " " in folded or len(folded) < LEAST_LETTERS:
        return None
    translations = (
        _shaped((source, plural, kind), word, target_language)
        for singular in _singulars(folded, source_language)
        for source, target, kind in table.get(singular, ())
        if kind in NOUNS and source == singular and target.isalpha()
        for plural in _plural(target, target_language)
    )
    found = tuple(dict.fromkeys(translations))
    return Entry(found) if found else None


def _singulars(word: str, language: str) -> list[str]:
    """What a word may be the plural of."""
    return [
        word.removesuffix(ending) + singular
        for singular, ending in _PLURALS.get(language, ())
        if word.endswith(ending)
    ]


def _plural(word: str, language: str) -> Iterator[str]:
    """The plural of a word, if it is one."""
    plurals = (
        word.removesuffix(singular) + ending
        for singular, ending in _PLURALS.get(language, ())
        if word.endswith(singular)
    )
    yield from islice((plural for plural in plurals if is_written(plural, language)), 1)


def is_common(word: str, source_language: str, target_language: str) -> bool:
    """Whether a word, or what it may be the plural of, is written small in the lexicon: no name.

    Args:
        word: one word, with any capitals.
        source_language: ISO 639-1 code of it.
        target_language: of the lexicon's other side.
    """
    table, word = _table(source_language, target_language), word.lower()
    forms = [word, *_singulars(word, source_language)]
    return any(known[0] == form for form in forms for known in table.get(form, ()))


def look_up_caption(text: str, source_language: str, target_language: str) -> Entry | None:
    """The entry of a caption of subtitles: [DOOR OPENS], (laughs). Brackets are around all of it.

    Args:
        text: a line, without white space around it.
        source_language: ISO 639-1 code of it.
        target_language: of what is wanted.
    """
    match = _CAPTION.fullmatch(text)
    if match is None:
        return None
    words = match[2].strip()
    known = _captions(source_language, target_language).get(words.lower())
    if known is None:
        return None
    shaped = _shaped(("", known, LABELS[0]), words, target_language)
    return Entry((f"{match[1]}{shaped}{match[3]}",))


def _folded(text: str) -> str:
    """Without capitals, curly apostrophes, & for "and", and final marks, but a question stays one."""
    bare = _END.sub("", text).replace(" & ", " and ")
    question = "?" if "?" in text[len(bare) :] else ""
    return " ".join(bare.replace("’", "'").lower().split()) + question


@cache
def _table(source_language: str, target_language: str) -> dict[str, tuple[Known, ...]]:
    """Folded text -> what is known of it, in the order of the file: the first is the best."""
    names = f"{source_language}-{target_language}.tsv", f"{target_language}-{source_language}.tsv"
    found: dict[str, list[Known]] = {}
    for name, reverse in zip(names, (False, True), strict=True):
        for source, target, kind in _lines(FOLDER / name, reverse=reverse):
            known = (_END.sub("", source), _END.sub("", target), kind)
            found.setdefault(_folded(source), []).append(known)
    return {folded: tuple(entries) for folded, entries in found.items()}


@cache
def _captions(source_language: str, target_language: str) -> dict[str, str]:
    """What stands in brackets in subtitles, in lower case -> its translation; from English alone."""
    path = FOLDER / f"captions.{source_language}-{target_language}.tsv"
    return {source: target for source, target, _ in _lines(path)}


def _lines(path: Path, *, reverse: bool = False) -> Iterator[tuple[str, str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        *sides, kind = line.split("\t")
        source, target = reversed(sides) if reverse else sides
        yield source, target, kind


def _shaped(known: Known, text: str, language: str) -> str:
    """A translation with the capitals and the final mark of a text."""
    _, translation, kind = known
    bare = _END.sub("", text)
    marks = text[len(bare) :].strip()
    if bare.isupper() and len(bare) > 1:
        translation = translation.upper()
    elif bare[:1].isupper():
        translation = translation[:1].upper() + translation[1:]
    elif kind in LABELS and bare.islower():
        translation = translation[:1].lower() + translation[1:]
    space = " " if marks and marks[0] in rules(language).spaced_marks else ""
    return f"{translation}{space}{marks}"
