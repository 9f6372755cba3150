"""A sentence that a translation memory knows: its unit is the translation, or is told as a suggestion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nmt.memory.unit import MemoryMatch
from nmt.pipeline.constraints import applied_terms
from nmt.pipeline.flags import FlagKind
from nmt.pipeline.prepare import Protected, Sentence
from nmt.pipeline.quality import Found
from nmt.pipeline.result import Candidate, MemoryUse, Recalled
from nmt.spans import Span
from nmt.tokenizer import Piece


def match_of(sentence: Sentence) -> MemoryMatch | None:
    """What the memory has for a sentence."""
    return next((match for match in sentence.options.memory if match.text == sentence.text), None)


def as_used(match: MemoryMatch, use: MemoryUse) -> Recalled:
    """A match as the answer tells it; of which sentence is filled in later."""
    return Recalled(0, match.source, match.target, match.score, match.unit, use)


def recalled(
    sentence: Sentence, match: MemoryMatch, encode: Callable[[str], Sequence[Piece]], most_pieces: int | None
) -> Found | None:
    """The candidate of an exact match; None: it lacks what is to be kept, or is too long to be aligned.

    Args:
        sentence: whose text the match is for.
        match: an exact one.
        encode: a text as pieces of what the model writes.
        most_pieces: of a target that is aligned; None: any number.
    """
    pieces = tuple(encode(match.target))
    if most_pieces is not None and len(pieces) > most_pieces and sentence.options.alignment != "none":
        return None
    kept = _places(sentence.copied, match.target)
    if not {(span.start, span.end) for span in sentence.keep} <= {(span.start, span.end) for span, _ in kept}:
        return None
    best = Candidate(match.target, pieces, 0.0, 0.0, finished=True, kept=tuple(kept), recalled=True)
    terms = applied_terms(sentence, best)
    flags: tuple[FlagKind, ...] = ("term_missed",) if len(terms) < len(sentence.terms) else ()
    return (
        Candidate(
            best.text, pieces, 0.0, 0.0, finished=True, kept=best.kept, terms=tuple(terms), recalled=True
        ),
    ), flags


def _places(copied: Sequence[Protected], target: str) -> list[tuple[Span, Span]]:
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
