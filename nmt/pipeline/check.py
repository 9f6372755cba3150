"""Checks of a translation that anybody made, as translators' tools do them: no model is asked.

Each check compares a source with its translation and names what is wrong. They are what the flags of a
translation are made of, and more: marks, doubled words, terms. What several translations do not agree in is
found in ``nmt.pipeline.consistency``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from nmt.errors import UnsupportedLanguageError
from nmt.pipeline.flags import (
    copied_words,
    doubled_words,
    is_already_in,
    is_copy,
    is_in_other_language,
    is_too_short,
    wrong_marks,
)
from nmt.spans import Span
from nmt.text.edits import Edit, Rewriting
from nmt.text.glossary import Glossary, find_form
from nmt.text.known_words import unknown_words
from nmt.text.literals import find_literals
from nmt.text.negation import compare_negations
from nmt.text.numbers import compare_numbers, compare_spelled_numbers
from nmt.text.times import find_times

CheckKind = Literal[
    "number",
    "literal",
    "punctuation",
    "untranslated",
    "wrong_language",
    "doubled_word",
    "unknown_word",
    "negation",
    "term",
    "length",
    "empty",
    "inconsistent_term",
]
CHECK_KINDS: tuple[CheckKind, ...] = get_args(CheckKind)
LANGUAGES = ("en", "fr")
"""Checks, in either direction."""
LONGEST_SHARE = 3.0
"""A translation with more times the characters of a source of ``LEAST_CHARACTERS`` has too much."""
LEAST_CHARACTERS = 20
_FINAL = re.compile(r"[.!?…:]+(?=[\"'»”’)\]\s]*$)")


@dataclass(frozen=True)
class Problem:
    """One thing that seems wrong."""

    kind: CheckKind
    detail: str
    """Subject of it: the number, the word."""


def check_languages(languages: tuple[str, str]) -> None:
    """Raises ``UnsupportedLanguageError`` unless these are two languages that the checks know."""
    if not set(languages) <= set(LANGUAGES) or languages[0] == languages[1]:
        raise UnsupportedLanguageError(
            f"the checks know {' and '.join(LANGUAGES)} only; name one for the source and the other for the "
            "translation"
        )


def check_translation(
    source: str, target: str, languages: tuple[str, str] = ("en", "fr"), glossary: Glossary | None = None
) -> list[Problem]:
    """Problems of ``target`` as the translation of ``source``.

    Args:
        source: a text.
        target: its translation.
        languages: of both, as ISO 639-1 codes.
        glossary: terms that the translation must have.

    Raises:
        UnsupportedLanguageError: see ``check_languages``.
    """
    check_languages(languages)
    if not source.strip() or not target.strip():
        return [Problem("empty", "one side is blank")] if source.strip() or target.strip() else []
    return [
        *_literals(source, target),
        *_numbers(source, target, languages),
        *_marks(source, target),
        *_words(source, target, languages),
        *_terms(source, target, glossary),
    ]


def _literals(source: str, target: str) -> Iterator[Problem]:
    read, written = (
        Counter(text[one.span.start : one.span.end] for one in find_literals(text))
        for text in (source, target)
    )
    for literal in (read - written).elements():
        if target.count(literal) < source.count(literal):
            yield Problem("literal", f"{literal} is missing")
    for literal in (written - read).elements():
        if source.count(literal) < target.count(literal):
            yield Problem("literal", f"{literal} is not in the source")


def _numbers(source: str, target: str, languages: tuple[str, str]) -> Iterator[Problem]:
    blanked = source
    for span, written in reversed(find_times(source, *languages)):
        if written in target:  # a time that is as it should be
            blanked = blanked[: span.start] + "_" * (span.end - span.start) + blanked[span.end :]
            target = target.replace(written, "_" * len(written), 1)
    literals = [[one.span for one in find_literals(text)] for text in (blanked, target)]
    check = compare_numbers(
        blanked,
        target,
        ignore_source=literals[0],
        ignore_target=literals[1],
        source_language=languages[0],
        target_language=languages[1],
    )
    spelled = compare_spelled_numbers(
        _without(blanked, literals[0]),
        _without(target, literals[1]),
        source_language=languages[0],
        target_language=languages[1],
    )
    for number in (*check.missing, *spelled.missing):
        yield Problem("number", f"{number} is missing")
    for number in (*check.invented, *spelled.invented):
        yield Problem("number", f"{number} is not in the source")


def _without(text: str, spans: list[Span]) -> str:
    return Rewriting.of(text, [Edit(span, " ") for span in spans]).new


def _marks(source: str, target: str) -> Iterator[Problem]:
    read, written = (match.group() if (match := _FINAL.search(text)) else "" for text in (source, target))
    if read.replace("...", "…")[-1:] != written.replace("...", "…")[-1:]:
        yield Problem("punctuation", f"ends with {written or 'no mark'}, the source with {read or 'none'}")
    for marks in wrong_marks(source, target):
        yield Problem("punctuation", f"{marks}: missing, or without a counterpart")


def _words(source: str, target: str, languages: tuple[str, str]) -> Iterator[Problem]:
    if is_copy(source, target):
        yield Problem("untranslated", "most words are those of the source")
    else:
        for word in dict.fromkeys(copied_words(source, target, languages[0])):
            yield Problem("untranslated", word)
    if is_in_other_language(target, languages[1]):
        yield Problem("wrong_language", f"does not read like {languages[1]}")
    if is_already_in(source, languages[1], languages[0]):
        yield Problem("wrong_language", f"the source reads like {languages[1]}")
    for doubled in doubled_words(source, target):
        yield Problem("doubled_word", doubled)
    literals = [one.span for one in find_literals(target)]
    for word in unknown_words(source, target, languages[1], literals):
        yield Problem("unknown_word", word)
    lost, invented = compare_negations(source, target, languages)
    if lost or invented:
        yield Problem("negation", "is missing" if lost else "is not in the source")
    if is_too_short(source, target, languages[1]) or (
        len(source) >= LEAST_CHARACTERS and len(target) > LONGEST_SHARE * len(source)
    ):
        yield Problem("length", f"{len(target)} characters for {len(source)}")


def _terms(source: str, target: str, glossary: Glossary | None) -> Iterator[Problem]:
    for match in glossary.matches(source) if glossary is not None else ():
        if find_form(match.term.target, target) is None:
            yield Problem("term", f"{match.term.source}: {match.term.target} is missing")
