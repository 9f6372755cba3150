"""Files of units in any languages, and the units of one direction among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nmt.errors import InputError
from nmt.memory.unit import MOST_CHARACTERS, TranslationUnit

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
"""Characters that XML cannot hold, so that no export could."""


@dataclass(frozen=True)
class SegmentPair:
    """A unit as a file has it: a text in each of several languages."""

    source_language: str
    """As the file says, in lower case; empty: it does not."""
    variants: tuple[tuple[str, str], ...]
    """Language and text. A file without languages (TSV) has the source first, each language empty."""


@dataclass
class Reading:
    """Counts of a file's units: taken, and left out by reason."""

    languages: tuple[str, str] | None = None
    """Languages of source and target; None: not known yet, the first unit tells."""
    n_units: int = 0
    n_other_languages: int = 0
    """Units without a text in both languages."""
    n_unfit: int = 0
    """Units with a side that is blank, too long or has characters that XML cannot hold."""
    found_languages: set[str] = field(default_factory=set)

    @property
    def n_skipped(self) -> int:
        """Units that were left out."""
        return self.n_other_languages + self.n_unfit


def primary(language: str) -> str:
    """En of en-GB."""
    return language.replace("_", "-").partition("-")[0].lower()


def units_of(pairs: Iterable[SegmentPair], reading: Reading) -> Iterator[TranslationUnit]:
    """The units of one direction; ``reading`` counts them.

    Regions do not matter: a text in en-GB is one in en. Where ``reading.languages`` is None, it becomes the
    source language of the first unit and the first other one that it has.

    Raises:
        InputError: the file does not name its languages, and the caller has not; or no unit has both.
    """
    for pair in pairs:
        if reading.languages is None:
            reading.languages = _languages_of(pair)
        source, target = (_text_in(language, pair) for language in reading.languages)
        if len(reading.found_languages) < 20:
            reading.found_languages |= {primary(language) for language, _ in pair.variants if language}
        if pair.variants and not pair.variants[0][0]:  # a table: source, target
            source, target = (text for _, text in pair.variants)
        if source is None or target is None:
            reading.n_other_languages += 1
        elif not (is_fit(source) and is_fit(target)):
            reading.n_unfit += 1
        else:
            reading.n_units += 1
            yield TranslationUnit(source.strip(), target.strip())
    if reading.n_units == 0:
        raise InputError(_nothing(reading))


def _nothing(reading: Reading) -> str:
    if reading.languages is not None and reading.n_other_languages:
        found = ", ".join(sorted(reading.found_languages)) or "none"
        return (
            f"the file has no unit from {reading.languages[0]} to {reading.languages[1]}: its languages are "
            f"{found}; name two of them as source and target"
        )
    return "the file has no translation unit: each needs a source and a target text"


def _languages_of(pair: SegmentPair) -> tuple[str, str]:
    names = [primary(language) for language, _ in pair.variants if language]
    source = primary(pair.source_language) or (names[0] if names else "")
    target = next((name for name in names if name != source), "")
    if not source or not target:
        raise InputError(
            "the file does not name its languages; name them as source and target (--from and --to)"
        )
    return source, target


def _text_in(language: str, pair: SegmentPair) -> str | None:
    return next((text for name, text in pair.variants if primary(name) == primary(language)), None)


def is_fit(text: str) -> bool:
    """Whether a unit may have this side: it is not blank, not too long, and XML can hold it."""
    return bool(text.strip()) and len(text) <= MOST_CHARACTERS and not _ILLEGAL.search(text)
