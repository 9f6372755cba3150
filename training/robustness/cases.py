"""Behaviours for texts that people send and no test set holds: their cases, their checks.

Half of the cases are sentences of a development set, disturbed as ``training.noise.augment`` does but each of
them and with draws of their own; the rest, with neither reference nor clean form, is in
sample/robustness.toml.
"""

from __future__ import annotations

import random
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nmt.text.segment import split
from training.noise import copying, writing
from training.noise.augment import join

Pair = tuple[str, str]
Disturb = Callable[[str, str, random.Random], Pair | None]

LANGUAGES = "en", "fr"
"""Source and target: what the phrases and names are written in, and what the checks know."""
PHRASES = Path(__file__).parents[1] / "sample" / "robustness.toml"
MAX_FRAGMENT_GROWTH = 3
"""Words that the translation of a fragment may have beyond twice those of the fragment."""

_FINAL = re.compile(r"[\s.!?…]+$")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Case:
    """One text to translate and what to compare the result with."""

    source: str
    reference: str | None = None
    clean: Pair | None = None
    """Source and reference before they were disturbed; ``kept`` sees the source's translation."""
    literal: str = ""
    """Strings that must stand in the translation unchanged."""
    accepted: tuple[str, ...] = ()
    """The right answers, of a single word."""


@dataclass(frozen=True)
class Behaviour:
    """One row of the table."""

    name: str
    keeps: str
    """Question of ``kept``, in words."""
    cases: tuple[Case, ...]
    kept: Callable[[Case, str, str], bool]
    """(case, its translation, that of the clean source or "") -> whether it survived."""


def behaviours(pairs: Sequence[Pair], *, limit: int, seed: int = 1) -> list[Behaviour]:
    """All behaviours, each with at most ``limit`` cases drawn from ``pairs`` and from sample/robustness.toml.

    Args:
        pairs: a development set: sentences and their references.
        limit: cases of a behaviour.
        seed: of the choice and of the disturbance.
    """
    phrases = tomllib.loads(PHRASES.read_text(encoding="utf-8"))
    rows = [
        *_disturbed(pairs, phrases["names"], limit, seed),
        *_written(phrases, limit, seed),
        _joined(pairs, limit, seed),
    ]
    return [row for row in rows if row.cases]


def _disturbed(pairs: Sequence[Pair], names: Sequence[str], limit: int, seed: int) -> Iterator[Behaviour]:
    """Behaviours whose cases are sentences of the development set."""
    same = "same translation as undisturbed, but for case and final punctuation"
    number = "same digits"
    rows: list[tuple[str, str, Disturb, Callable[[Case, str, str], bool]]] = [
        ("all capitals", "all capitals", writing.upper, is_upper),
        ("lower case", same, writing.lower, is_same),
        ("title case", same, writing.title, is_same),
        ("no final punctuation", "ends without it", writing.bare, is_bare),
        ("typos", same, writing.typo, is_same),
        ("spaces after commas", same, writing.spaces, is_same),
        ("numbers in sentences", number, copying.replace_number, has_same_digits),
        ("names in sentences", "name copied once", partial(_rename, names), has_literal),
        ("emoji", "emoji copied", writing.emoji, has_same_symbols),
        ("list marks, quotes, parentheses", "mark kept", writing.marks, has_same_marks),
    ]
    for name, keeps, disturb, kept in rows:
        rng = random.Random(f"{seed} {name}")
        cases = []
        for source, target in rng.sample(pairs, len(pairs)):
            disturbed = disturb(source, target, rng)
            if disturbed is not None and disturbed[0] != source:
                literal = _literal_of(disturbed[0], names) if kept is has_literal else ""
                cases.append(Case(*disturbed, (source, target), literal))
            if len(cases) == limit:
                break
        yield Behaviour(name, keeps, tuple(cases), kept)


def _written(phrases: dict[str, Any], limit: int, seed: int) -> Iterator[Behaviour]:
    """Behaviours whose cases are in sample/robustness.toml."""
    for name, kind, values in (
        ("names", "name", "names"),
        ("URLs, addresses, paths", "address", "addresses"),
        ("variables and placeholders", "variable", "variables"),
    ):
        filled = [
            Case(frame.replace("{}", value), literal=value)
            for value in phrases[values]
            for frame in phrases[f"{kind}_frames"]
        ]
        chosen = random.Random(f"{seed} {name}").sample(filled, min(limit, len(filled)))
        yield Behaviour(name, f"{kind} copied once", tuple(chosen), has_literal)
    dates = tuple(Case(text) for text in phrases["date_frames"][:limit])
    yield Behaviour("dates, times, quantities", "same digits", dates, has_same_digits)
    fragments = tuple(Case(text) for text in phrases["fragments"][:limit])
    yield Behaviour("fragments", "stays a fragment of like length", fragments, is_fragment)
    words = [Case(word, accepted=tuple(accepted)) for word, accepted in phrases["words"].items()]
    yield Behaviour("one word", "a right word", tuple(words[:limit]), is_accepted)
    empty = tuple(Case(text) for text in phrases["empty"][:limit])
    yield Behaviour("blank, no words", "comes back as it is", empty, is_unchanged)


def _joined(pairs: Sequence[Pair], limit: int, seed: int) -> Behaviour:
    """Two or three neighbours of the development set on one line."""
    rng = random.Random(f"{seed} joined")
    cases: list[Case] = []
    for start in rng.sample(range(len(pairs)), len(pairs)):
        joined = join(pairs[start], pairs[start + 1 : start + rng.randint(2, 3)])
        if joined is not None and len(cases) < limit:
            cases.append(Case(*joined))
    return Behaviour("several sentences", "as many sentences", tuple(cases), has_as_many_sentences)


def is_upper(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """No letter of the translation is small."""
    return translation.isupper()


def is_same(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """The translation is that of the clean source, but for case, final punctuation and spaces."""
    return _bare_form(translation) == _bare_form(clean) != ""


def is_bare(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """The translation does not end in a full stop, question or exclamation mark."""
    return bool(translation.strip()) and not _FINAL.search(translation)


def has_same_digits(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """Each digit occurs as often; separators are the language's."""
    return Counter(_DIGIT.findall(translation)) == Counter(_DIGIT.findall(case.source))


def has_literal(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """The literal occurs as often as in the source, character for character."""
    return translation.count(case.literal) == case.source.count(case.literal)


def has_same_symbols(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """The same emoji as in the source, each as often."""
    return _symbols(translation) == _symbols(case.source)


def has_same_marks(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """Begins with the same list mark; or stands, like the source, in quotes or parentheses."""
    source, target = case.source, translation.strip()
    if source[0] in '"“':
        return target[:1] in {*'"“«'} and target[-1:] in {*'"”»'}
    if source[0] == "(":
        return target[:1] == "(" and target[-1:] == ")"
    return target.startswith(f"{source.partition(' ')[0]} ")


def is_fragment(case: Case, translation: str, clean: str) -> bool:
    """Something was written, not much longer, and no sentence was made of it by a full stop."""
    n_words = len(translation.split())
    return is_bare(case, translation, clean) and n_words <= 2 * len(case.source.split()) + MAX_FRAGMENT_GROWTH


def is_accepted(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """One of the accepted words, with or without article."""
    answer = re.sub(r"^(?:(?:les?|la|une?|des|du) |l')", "", _bare_form(translation).replace("’", "'"))
    return answer in case.accepted


def is_unchanged(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """The same characters but for white space and compatibility forms; blank text is the same altogether."""
    if not case.source.strip():
        return translation == case.source
    return _plain(translation) == _plain(case.source)


def has_as_many_sentences(case: Case, translation: str, clean: str) -> bool:  # noqa: ARG001
    """The translation has as many sentences as the source."""
    source_language, target_language = LANGUAGES
    return len(split(translation, target_language)) == len(split(case.source, source_language))


def _rename(names: Sequence[str], source: str, target: str, rng: random.Random) -> Pair | None:
    """Put another name where both sides share one."""
    shared = [spans for spans in copying.shared_names(source, target) if " " not in source[slice(*spans[0])]]
    if not shared or any(name in source for name in names):
        return None
    return copying.replace_shared(source, target, [rng.choice(shared)], [rng.choice(names)])


def _literal_of(source: str, names: Sequence[str]) -> str:
    return max((name for name in names if name in source), key=len)


def _bare_form(text: str) -> str:
    return " ".join(_FINAL.sub("", text.strip()).casefold().split())


def _plain(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def _symbols(text: str) -> Counter[str]:
    return Counter(character for character in text if unicodedata.category(character) == "So")
