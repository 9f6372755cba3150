"""Words in brackets or quotes, and whether a translation has them: The house (big and red) is old.

Only what has an ordinary word in it counts: names, abbreviations and numbers may stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.spans import Span

_ROUND = re.compile(r"\(([^()\n]*)\)")
_SQUARE = re.compile(r"\[([^\[\]\n]*)\]")
_QUOTED = re.compile(r"\"([^\"\n]*)\"|“([^“”\n]*)”|«([^«»\n]*)»")
_ORDINARY = re.compile(r"(?<![\w'’-])(?=[^\W\d_]*[aeiouyà-ÿ])[^\W\d_A-ZÀ-Þ][^\W\d_]{2,}(?![\w-])")
"""A word has a vowel: png is none."""
_CODE = re.compile(r"[=_<>{}\\|:;@#/]|[a-zà-ÿ][A-ZÀ-Þ]|\d[A-Za-z]|[A-Za-z]\d")
"""What is between the marks is rather code: year == 2015, user:, elemA."""
OPENING = frozenset('([“"«')
"""The marks that begin an aside."""
LEAST_WORDS_OUTSIDE = 2
"""Fewer beside the brackets are no sentence: item(s)."""


@dataclass(frozen=True)
class Aside:
    """What is in brackets or quotes; spans of a sentence."""

    span: Span
    """With the marks."""
    inner: Span
    """Between them, without white space at the ends."""
    is_quoted: bool


@dataclass(frozen=True)
class Compared:
    """An aside of a source and what its translation has for it."""

    source: Aside
    target: Aside | None
    """None: dropped."""
    copied: tuple[str, ...] = ()
    """Words in lower case that both sides have."""


def find_asides(text: str, *, any_words: bool = False) -> list[Aside]:
    """Words in brackets and in quotes inside a sentence, in order, none within another.

    Args:
        text: the sentence.
        any_words: those without an ordinary word too.
    """
    found: list[Aside] = []
    for pattern in (_ROUND, _SQUARE, _QUOTED):
        for match in pattern.finditer(text):
            group = match.lastindex or 1
            inner = match[group]
            start = match.start(group) + len(inner) - len(inner.lstrip())
            aside = Aside(
                Span(*match.span()),
                Span(start, max(start, match.start(group) + len(inner.rstrip()))),
                is_quoted=pattern is _QUOTED,
            )
            is_within_word = match.start() > 0 and text[match.start() - 1].isalnum()
            if not is_within_word and (any_words or _has_words(inner)):
                found.append(aside)
    outer = [
        one
        for one in found
        if not any(
            other is not one and other.span.start <= one.span.start and one.span.end <= other.span.end
            for other in found
        )
    ]
    return sorted(outer, key=lambda aside: aside.span.start)


def compare_asides(source: str, target: str, ignore: Sequence[Span] = ()) -> list[Compared]:
    """The asides of ``source`` that ``target`` drops or has with words of the source.

    Brackets of a source are compared with those of its translation in order. Quotes count only where the
    translation has as many.

    Args:
        source: a sentence.
        target: its translation.
        ignore: spans of the source; asides that meet them are left out.
    """
    if OPENING.isdisjoint(source):
        return []
    wrong = []
    for is_quoted in (False, True):
        read = [one for one in find_asides(source, any_words=True) if one.is_quoted == is_quoted]
        written = [one for one in find_asides(target, any_words=True) if one.is_quoted == is_quoted]
        for index, aside in enumerate(read):
            inner = source[aside.inner.start : aside.inner.end]
            if not _has_words(inner) or not _is_inside(source, aside):
                continue
            if any(span.start < aside.span.end and aside.span.start < span.end for span in ignore):
                continue
            if len(read) == len(written):
                other = written[index]
                copied = _shared(inner, target[other.inner.start : other.inner.end])
                if copied:
                    wrong.append(Compared(aside, other, copied))
            elif len(written) < len(read) and not is_quoted:
                wrong.append(Compared(aside, None))
    return wrong


def _has_words(inner: str) -> bool:
    return _ORDINARY.search(inner) is not None and _CODE.search(inner) is None


def _is_inside(text: str, aside: Aside) -> bool:
    """Whether words stand beside the aside: it is not the whole sentence."""
    outside = text[: aside.span.start] + " " + text[aside.span.end :]
    return len(re.findall(r"[^\W\d_]+", outside)) >= LEAST_WORDS_OUTSIDE


def _shared(source: str, target: str) -> tuple[str, ...]:
    written = set(_ORDINARY.findall(target))
    return tuple(word for word in dict.fromkeys(_ORDINARY.findall(source)) if word in written)
