"""A sentence that a translation memory knows: its unit is the translation, or is told as a suggestion."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from nmt.memory.unit import MemoryMatch
from nmt.pipeline.flags import FlagKind
from nmt.pipeline.losses import applied_terms
from nmt.pipeline.prepare import PreparedSentence, ProtectedSpan
from nmt.pipeline.quality import Found
from nmt.pipeline.requests import Flow
from nmt.pipeline.result import Candidate, MemoryUse, Recalled
from nmt.spans import Span
from nmt.text.numbers import compare_numbers
from nmt.text.words import words
from nmt.tokenizer import Piece

MOST_WORDS = 5
"""In which two texts may differ for one to be repaired after the other."""


def match_of(sentence: PreparedSentence) -> MemoryMatch | None:
    """Matches of the memory for a sentence."""
    return next((match for match in sentence.options.memory if match.text == sentence.text), None)


def as_used(match: MemoryMatch, use: MemoryUse) -> Recalled:
    """A match as the answer tells it; of which sentence is filled in later."""
    return Recalled(0, match.source, match.target, match.score, match.unit, use)


def recalled(
    sentence: PreparedSentence,
    match: MemoryMatch,
    encode: Callable[[str], Sequence[Piece]],
    most_pieces: int | None,
    *,
    is_repaired: bool = False,
) -> Found | None:
    """The candidate of a match; None: it lacks what is to be kept, or is too long to be aligned.

    Args:
        sentence: whose text the match is for.
        match: an exact one, or a fuzzy one with its target repaired.
        encode: a text as pieces of what the model writes.
        most_pieces: of a target that is aligned; None: any number.
        is_repaired: all that is copied and all numbers must be there, as no person has seen this target.
    """
    pieces = tuple(encode(match.target))
    if most_pieces is not None and len(pieces) > most_pieces and sentence.options.alignment != "none":
        return None
    kept = _places(sentence.copied, match.target)
    if not {(span.start, span.end) for span in sentence.keep} <= {(span.start, span.end) for span, _ in kept}:
        return None
    if is_repaired and (len(kept) < len(sentence.copied) or not _has_numbers(sentence, match.target, kept)):
        return None
    best = Candidate(match.target, pieces, 0.0, 0.0, finished=True, kept=tuple(kept), recalled=True)
    terms = applied_terms(sentence, best)
    flags: tuple[FlagKind, ...] = ("term_missed",) if len(terms) < len(sentence.terms) else ()
    return (replace(best, terms=tuple(terms)),), flags


def _has_numbers(sentence: PreparedSentence, target: str, kept: Sequence[tuple[Span, Span]]) -> bool:
    return compare_numbers(
        sentence.text,
        target,
        ignore_source=[source for source, _ in kept],
        ignore_target=[there for _, there in kept],
        source_language=sentence.source_language,
        target_language=sentence.target_language,
    ).ok


def repaired(
    sentence: PreparedSentence,
    match: MemoryMatch,
    best: Candidate,
    translate: Callable[[str], Flow[Candidate]],
) -> Flow[str | None]:
    """A fuzzy match's target with the words put in by which the texts differ; None: that is not certain.

    Fuzzy-match repair (Ortega, Sánchez-Martínez and Forcada 2016) with the model as the black box: it
    translates both sources. Where its translations differ in one place too, and what stands there for the
    unit's source is once in the unit's target, what stands there for the sentence takes its place.

    Args:
        sentence: to be translated.
        match: a fuzzy one.
        best: the model's translation of the sentence.
        translate: a text by the model.
    """
    if best.copied or _difference(match.source, sentence.text) is None:
        return None
    other = yield from translate(match.source)
    if other.copied:
        return None
    changed = _difference(other.text, best.text)
    if changed is None:
        return None
    before, after = changed
    places = [found.span() for found in re.finditer(rf"(?<!\w){re.escape(before)}(?!\w)", match.target)]
    if len(places) != 1:
        return None
    [(start, end)] = places
    return f"{match.target[:start]}{after}{match.target[end:]}"


def _difference(one: str, other: str) -> tuple[str, str] | None:
    """Difference of two texts that are the same but for one place.

    None: there are more places, or it is more than ``MOST_WORDS`` or half a text.
    """
    words_of = words(one), words(other)
    texts = [[token.text for token in tokens] for tokens in words_of]
    shortest = min(map(len, texts))
    start = next((index for index in range(shortest) if texts[0][index] != texts[1][index]), shortest)
    left = shortest - start
    end = next((index for index in range(left) if texts[0][-1 - index] != texts[1][-1 - index]), left)
    parts = [tokens[start : len(tokens) - end] for tokens in words_of]
    if not all(
        1 <= len(part) <= min(MOST_WORDS, len(tokens) // 2)
        for part, tokens in zip(parts, words_of, strict=True)
    ):
        return None
    first, second = (
        text[part[0].start : part[-1].end] for text, part in zip((one, other), parts, strict=True)
    )
    return first, second


def _places(copied: Sequence[ProtectedSpan], target: str) -> list[tuple[Span, Span]]:
    """Where what is copied stands in a target, each in a place of its own."""
    blank = target
    found: list[tuple[Span, Span]] = []
    for entry in copied:
        start = blank.find(entry.text) if entry.text else -1
        if start >= 0:
            end = start + len(entry.text)
            found.append((entry.span, Span(start, end)))
            blank = f"{blank[:start]}{chr(0) * (end - start)}{blank[end:]}"
    return found
