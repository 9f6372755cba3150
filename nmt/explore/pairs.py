"""Words that belong together for certain, found in plain English text: grammar that needs no parser.

    bracket       ( and the next )
    quotation     an opening mark and its closing one
    correlative   both ... and, either ... or, neither ... nor, whether ... or, between ... and, only ... but
    comparison    more, less, rather, other ... than; as ... as; such ... as
    auxiliary     will, would, can ... and be or have; has, have, had and been

A closed list finds few of the ties of a sentence, but hardly a doubtful one: both words in one clause, near
each other, and at least one word between them, for neighbours are found by position alone. It stands in where
no parsed sentences are at hand (``nmt.explore.dependencies`` measures both in the same way).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, takewhile

from nmt.explore.dependencies import Parse
from nmt.text.words import Token, words

MODALS = ("will", "would", "can", "could", "may", "might", "must", "shall", "should")
FOLLOWERS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], int], ...] = (
    ("correlative", ("both", "between"), ("and",), 10),
    ("correlative", ("either", "whether"), ("or",), 10),
    ("correlative", ("neither",), ("nor",), 10),
    ("correlative", ("not only",), ("but",), 10),
    ("comparison", ("more", "less", "rather", "other"), ("than",), 6),
    ("comparison", ("as", "such"), ("as",), 5),
    ("auxiliary", MODALS, ("be", "have"), 4),
    ("auxiliary", ("has", "have", "had"), ("been",), 4),
)
"""Kind, first words, second words, and how far these may be."""
CLAUSE_ENDS = frozenset('.;:?!()\u201c\u201d"')
ENCLOSING = (("bracket", "(", ")"), ("quotation", "\u201c", "\u201d"), ("quotation", '"', '"'))


def certain_pairs(sentences: Sequence[str], most: int) -> list[Parse]:
    """The first ``most`` sentences that hold a pair, each pair an arc from its first word to its second."""
    found: list[Parse] = []
    for sentence in sentences:
        tokens = words(sentence)
        arcs = tuple(sorted({*_enclosing(tokens), *_following(tokens)}))
        if arcs and len(found) < most:
            found.append(Parse(sentence, tuple((token.start, token.end) for token in tokens), arcs))
    return found


def _enclosing(tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
    """Marks that open and close, the nearest ones; nothing of a kind whose marks do not come in turns."""
    found: list[tuple[int, int, str]] = []
    for kind, opening, closing in ENCLOSING:
        places = [index for index, token in enumerate(tokens) if token.text in (opening, closing)]
        starts, ends = places[::2], places[1::2]
        in_turns = all(tokens[index].text == opening for index in starts) and all(
            tokens[index].text == closing for index in ends
        )
        if len(starts) == len(ends) and in_turns:
            found += [(start, end, kind) for start, end in zip(starts, ends, strict=True) if end > start + 1]
    return found


def _following(tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
    lowered = [token.text.lower() for token in tokens]
    found: list[tuple[int, int, str]] = []
    for index, word in enumerate(lowered):
        before = lowered[index - 1] if index else ""
        for kind, firsts, seconds, farthest in FOLLOWERS:
            if word in firsts or f"{before} {word}" in firsts:
                clause = takewhile(
                    lambda place: lowered[place] not in CLAUSE_ENDS, range(index + 1, len(tokens))
                )
                near = (place for place in islice(clause, farthest) if lowered[place] in seconds)
                place = next(near, index)
                if place > index + 1:
                    found.append((index, place, kind))
    return found
